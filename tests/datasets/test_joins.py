"""A second file: many rows to one, nobody doubled, and what does not match counted."""

import json

import numpy as np
import pandas as pd
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from fairdash.cli import app
from fairdash.datasets import (
    join_again,
    join_tables,
    make_dataset,
    notes_of,
    reading,
)
from fairdash.datasets.guessing.roles import rank_roles


@pytest.fixture
def loans():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "person": rng.integers(0, 300, 900).astype(float),
            "amount": rng.integers(1, 90, 900),
            "approved": rng.integers(0, 2, 900),
        }
    )


@pytest.fixture
def people():
    return pd.DataFrame(
        {
            "person": [f"{i}" for i in range(40, 340)],
            "race": np.where(np.arange(300) % 3 == 0, "Black", "White"),
            "amount": np.arange(300),
        }
    )


keys = st.one_of(st.none(), st.integers(0, 6))


@given(rows=st.lists(st.tuples(keys, keys), min_size=1), others=st.sets(keys))
def test_a_join_is_that_of_pandas_and_counts_what_does_not_match(rows, others):
    frame = pd.DataFrame(rows, columns=["a", "b"], dtype="Int64")
    second_table = pd.DataFrame({"a": [*others]}, dtype="Int64")
    second_table["value"] = [f"v{key}" for key in others]
    with_key = second_table.dropna(subset="a")
    matched = frame["a"].isin(with_key["a"].dropna()) & frame["a"].notna()
    if not matched.any():
        with pytest.raises(ValueError, match="No row has a match in other"):
            join_tables(frame, second_table, ["a"], name="other")
        return
    joined = join_tables(frame, second_table, ["a"], name="other")
    by_hand = frame.merge(with_key, on="a", how="left")["value"]
    assert joined["value"].fillna("-").tolist() == by_hand.fillna("-").tolist()
    (note,) = notes_of(joined).joined
    assert (note.n_rows, note.n_unmatched) == (len(frame), (~matched).sum())
    assert note.n_unused == len(second_table) - frame.loc[matched, "a"].nunique()


def test_keys_match_by_their_labels_and_taken_names_get_the_name_of_the_file(
    loans, people
):
    joined = join_tables(loans, people, ["person"], name="people.csv")
    assert len(joined) == len(loans)
    assert list(joined) == [
        "person",
        "amount",
        "approved",
        "race",
        "amount (people.csv)",
    ]
    assert joined["race"].isna().sum() == (loans["person"] < 40).sum()
    pd.testing.assert_frame_equal(joined[list(loans)], loans)


def test_several_keys_of_other_names_are_one_key(loans, people):
    loans = loans.assign(year=2023, person=loans["person"] % 3)
    second_table = pd.DataFrame(
        {"who": [0, 0, 1], "year": [2023, 2022, 2023], "race": ["a", "b", "c"]}
    )
    joined = join_tables(loans, second_table, ["person=who", "year"], name="o")
    expected = loans["person"].map({0: "a", 1: "c"})
    assert joined["race"].fillna("-").tolist() == expected.fillna("-").tolist()
    assert notes_of(joined).sentences == [
        f"Joined with o by person and year: {(loans['person'] == 2).sum()} of 900 rows "
        "have no match; not used of it: 1."
    ]


@pytest.mark.parametrize(
    "change, by, message",
    [
        (
            {"person": ["41"] * 300},
            ["person"],
            r"1 key of people in more.*person = 41 in the",
        ),
        ({"person": ["x"] + ["y"] * 299}, ["nobody"], "`by` must be one of"),
        ({}, ["person=who"], "people has no column 'who'.*write person=COLUMN"),
        ({"person": [f"p{i}" for i in range(300)]}, ["person"], "No row has a match"),
        ({}, [], "Name the columns that people is joined by"),
    ],
)
def test_a_join_that_cannot_be_done_says_what_to_change(
    loans, people, change, by, message
):
    with pytest.raises(ValueError, match=message):
        join_tables(loans, people.assign(**change), by, name="people")


def test_notes_of_a_join_outlast_a_file_and_are_counted_in_a_data_set(
    loans, people, tmp_path
):
    joined = join_tables(loans, people, ["person"], name="people.csv")
    joined.to_parquet(tmp_path / "joined.parquet")
    reading.convert_table(tmp_path / "joined.parquet", tmp_path / "kept.parquet")
    stored = reading.load_table(tmp_path / "kept.parquet")
    assert notes_of(stored) == notes_of(joined)
    roles = rank_roles(stored, "loans.csv").roles
    assert (roles.target, roles.sensitive_feature) == ("approved", "race")
    dataset = make_dataset(stored, roles, name="loans")
    assert dataset.joined == notes_of(joined).joined
    (left_out,) = dataset.left_out()
    assert left_out.rows == dataset.joined[0].n_unmatched
    assert dataset.n_rows + left_out.rows == len(loans)


@pytest.mark.parametrize("way", ["options", "recipe"])
def test_the_command_line_joins_as_python_does(loans, people, tmp_path, way):
    loans.to_csv(tmp_path / "loans.csv", index=False)
    people.to_csv(tmp_path / "people.csv", index=False)
    out = tmp_path / "audit.json"
    arguments = ["--join", str(tmp_path / "people.csv"), "--by", "person"]
    if way == "recipe":
        recipe = tmp_path / "recipe.yaml"
        recipe.write_text(
            yaml.safe_dump({"join": {"table": "people.csv", "by": ["person"]}})
        )
        arguments = ["--recipe", str(recipe)]
    done = CliRunner().invoke(
        app,
        ["audit", str(tmp_path / "loans.csv"), "--decision", "approved=1", "--group",
         "race", "--out", str(out), *arguments],
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    written = json.loads(out.read_text())
    merged = loans.assign(person=loans["person"].map("{:.0f}".format))
    merged = merged.merge(people.drop(columns="amount"), on="person")
    rates = pd.DataFrame(written["estimates"])
    rates = rates[rates["measure"] == "selection_rate"].set_index("group")["value"]
    by_hand = merged.groupby("race")["approved"].mean()
    assert rates.to_dict() == pytest.approx(by_hand.to_dict())
    n_left = (loans["person"] < 40).sum()
    assert [part["rows"] for part in written["excluded"]] == [n_left]
    assert f"{n_left} of 900 rows have no match" in done.output
    assert f"{n_left} of 900 rows have no match" in written["remarks"][0]


def test_a_file_without_keys_is_refused(loans, people, tmp_path):
    loans.to_csv(tmp_path / "loans.csv", index=False)
    path = str(tmp_path / "loans.csv")
    done = CliRunner().invoke(
        app,
        [
            "audit",
            path,
            "--decision",
            "approved=1",
            "--group",
            "amount",
            "--join",
            path,
        ],
    )
    assert done.exit_code == 2
    assert "together, or neither" in done.output


@pytest.fixture
def joined_before(loans, people):
    """The notes of loans joined by a renamed key, with a column of a taken name."""
    renamed = people.rename(columns={"person": "who"})
    joined = join_tables(loans, renamed, ["person=who"], name="people.csv", table="d1")
    return notes_of(joined).joined, {"d1": renamed}.__getitem__


def test_new_rows_are_joined_as_the_rows_before_them(loans, joined_before):
    notes, load = joined_before
    new = loans.iloc[:90].reset_index(drop=True)
    needed = {"race", "amount (people.csv)"}
    again = join_again(new, notes, needed, load, name="May")
    renamed = load("d1").rename(columns={"who": "person"})
    expected = join_tables(new, renamed, ["person"], name="people.csv")
    pd.testing.assert_frame_equal(again, expected)
    (note,) = notes_of(again).joined
    assert (note.n_rows, note.table) == (90, "d1")
    # without a column of a taken name it is called as before
    short = join_again(new[["person"]], notes, needed, load, name="May")
    assert list(short) == ["person", "race", "amount (people.csv)"]


def test_rows_that_have_what_is_needed_are_not_joined(loans, joined_before):
    notes, _ = joined_before
    new = loans.assign(race="White")
    assert join_again(new, notes, {"race"}, {}.__getitem__, name="May") is new
    assert join_again(loans, notes, {"sex"}, {}.__getitem__, name="May") is loans


def _not_kept(digest):
    raise ValueError(f"No file {digest} was uploaded.")


def test_rows_that_cannot_be_joined_again_say_what_to_change(loans, joined_before):
    notes, load = joined_before
    address = (
        "May has no column 'race'. Before, it came from people.csv, joined by person"
    )
    with pytest.raises(
        ValueError, match=f"{address}, and 'person' is missing as well."
    ):
        join_again(loans.drop(columns="person"), notes, {"race"}, load, name="May")
    with pytest.raises(
        ValueError, match=f"{address}, and that table is not kept here."
    ):
        join_again(loans, notes, {"race"}, _not_kept, name="May")
    unkept = [note.model_copy(update={"table": ""}) for note in notes]
    with pytest.raises(ValueError, match="“Join a second file” on Data"):
        join_again(loans, unkept, {"race"}, load, name="May")


def test_a_note_of_an_earlier_version_is_read():
    earlier = {"name": "p", "by": ["id"], "n_rows": 3, "n_unmatched": 1, "n_unused": 0}
    frame = pd.DataFrame({"id": [1]})
    frame.attrs["fairdash"] = {"joined": [earlier]}
    (note,) = notes_of(frame).joined
    assert (note.columns, note.table) == ((), "")
