"""A sample says so wherever its rows go, and nothing is drawn unless asked."""

import json
from contextlib import closing

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet
from toys import ROLES, people
from typer.testing import CliRunner

import fairdash
from fairdash.audits import tables
from fairdash.cli import app
from fairdash.datasets import DrawnRows, TableNotes, make_dataset, notes_of, read_table
from fairdash.datasets.table_notes import METADATA, notes_in
from fairdash.store import open_store

WORDS = "A sample: 200 of 600 rows, in proportion to hired and sex, drawn at random."


def decisions(n=600, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "sex": rng.choice(["f", "m"], n),
            "age": rng.integers(18, 80, n),
            "hired": rng.choice(["no", "yes"], n, p=[0.7, 0.3]),
        }
    )


@pytest.fixture
def folder(tmp_path):
    """A folder of two Parquet files: 600 rows."""
    place = tmp_path / "decisions"
    place.mkdir()
    rows = decisions()
    rows.head(250).to_parquet(place / "a.parquet")
    rows.tail(350).to_parquet(place / "b.parquet")
    return place


@pytest.fixture
def sampled(folder, monkeypatch):
    """Of these 200 rows, in proportion to outcome and group."""
    from fairdash.datasets.sources import draw

    monkeypatch.setattr(draw, "_guessed", lambda rows, columns: ("hired", "sex"))
    return read_table(folder, sample_rows=200)


def test_nothing_is_drawn_unless_asked(tmp_path):
    n = 1_000_003
    table = pa.table({"x": np.arange(n) % 100})
    (tmp_path / "large").mkdir()
    parquet.write_table(table, tmp_path / "large" / "x.parquet")
    frame = read_table(tmp_path / "large")
    assert len(frame) == n
    assert notes_of(frame) == TableNotes()


def test_a_file_is_sampled_as_a_source_is(folder, sampled, tmp_path):
    decisions().to_csv(tmp_path / "decisions.csv", index=False)
    of_file = read_table(tmp_path / "decisions.csv", sample_rows=200)
    pd.testing.assert_frame_equal(of_file, sampled, check_dtype=False)
    assert notes_of(of_file) == notes_of(sampled)
    assert notes_of(read_table(folder, sample_rows=600)).drawn is None
    with pytest.raises(ValueError, match="at least 2 rows"):
        read_table(folder, sample_rows=1)


def test_what_is_too_large_to_read_says_how_to_draw_rows(folder, monkeypatch):
    from fairdash.datasets.sources import draw

    monkeypatch.setattr(draw, "LARGEST_TABLE", 500)
    with pytest.raises(ValueError, match=r"at most 500 .*`sample_rows=1_000_000`"):
        read_table(folder)
    assert len(read_table(folder, sample_rows=400)) == 400


def test_notes_outlast_pandas_a_file_a_data_set_and_a_store(sampled, tmp_path):
    drawn = DrawnRows(n_rows=200, n_total=600, by=("hired", "sex"))
    assert notes_of(sampled).drawn == drawn
    changed = sampled[sampled["age"] > 20].assign(x=1).reset_index(drop=True)
    assert notes_of(changed).drawn == drawn
    file = tmp_path / "sample.parquet"
    sampled.to_parquet(file)
    assert notes_of(read_table(file)).drawn == drawn
    assert notes_of(pd.read_parquet(file)).drawn == drawn
    assert notes_of(read_table(file, sample_rows=50)).drawn == DrawnRows(
        n_rows=50, n_total=600, by=("hired", "sex")
    )
    store = open_store(tmp_path / "home")
    for content in (file, file.read_bytes()):  # of this machine, and out of the box
        digest = store.add_table(content, "sample.parquet")
        assert notes_of(store.table(digest)).drawn == drawn
        assert store.table_notes(digest).drawn == drawn
        store.delete_table(digest)
    store.close()
    roles = ROLES.model_copy(
        update={
            "target": "hired",
            "positive": "yes",
            "sensitive_feature": "sex",
            "features": ("age",),
            "subgroup_columns": (),
        }
    )
    dataset = make_dataset(sampled, roles, name="Sample")
    assert dataset.drawn == drawn
    assert make_dataset(decisions(), roles, name="All").drawn is None


def test_a_store_reads_the_notes_on_a_table_once(sampled, tmp_path, monkeypatch):
    """A page asks at every rerun, and a wide table has a large footer."""
    file = tmp_path / "sample.parquet"
    sampled.to_parquet(file)
    with closing(open_store(tmp_path / "home")) as store:
        digest = store.add_table(file, "sample.parquet")
        drawn = store.table_notes(digest).drawn
        monkeypatch.setattr("fairdash.store._tables.reading.table_notes", None)
        assert store.table_notes(digest).drawn == drawn is not None


def test_audits_of_a_sample_say_so(sampled):
    whole = fairdash.audit(
        None, decisions()["hired"] == "yes", sensitive_features=decisions()["sex"]
    )
    assert "sample" not in str(whole)
    audited = fairdash.audit(
        None, sampled["hired"] == "yes", sensitive_features="sex", frame=sampled
    )
    assert WORDS in str(audited)
    assert WORDS in audited._repr_html_()
    noted = {"n_rows": 200, "n_total": 600, "by": ("hired", "sex")}
    assert audited.to_dict()["sample"] == noted
    ages = tables.audit_outcomes(
        None, "age", kind="numbers", sensitive_features="sex", frame=sampled
    )
    assert WORDS in str(ages)
    assert ages.to_dict()["sample"] == noted


@pytest.mark.parametrize("command", ["audit", "check", "numbers"])
def test_the_shell_says_that_a_file_holds_a_sample(sampled, tmp_path, command):
    file, out, page = (
        tmp_path / f"sample.{end}" for end in ("parquet", "json", "html")
    )
    sampled.to_parquet(file)
    policy = tmp_path / "policy.yaml"
    limit = {"measure": "selection_rate", "at_most": 0.5}
    policy.write_text(
        json.dumps({"decision": "hired=yes", "groups": ["sex"], "limits": [limit]})
    )
    words = {
        "audit": ["audit", "--decision", "hired=yes", "--group", "sex"],
        "check": ["check", "--policy", policy],
        "numbers": ["audit", "--kind", "numbers", "--score", "age", "--group", "sex"],
    }[command]
    words += ["--out", out] + ([] if command == "check" else ["--report", page])
    done = CliRunner().invoke(app, [str(w) for w in (words[0], file, *words[1:])])
    assert done.exit_code == 0, done.output
    assert WORDS in done.stdout
    sample = json.loads(out.read_text())["source"]["sample"]
    assert sample == {"n_rows": 200, "n_total": 600, "by": ["hired", "sex"]}
    if command != "check":
        assert "A sample: 200 of 600 rows" in page.read_text()


def test_data_add_draws_only_with_its_option(home, folder):
    def add(*more):
        done = CliRunner().invoke(app, ["data", "add", str(folder), *more])
        assert done.exit_code == 0, done.output
        return done.stdout

    assert "decisions: 600 rows" in add()
    drawn = add("--sample-rows", "300")
    assert "decisions (300 of 600 rows" in drawn
    assert ": 300 rows" in drawn
    records = {record.name: record for record in open_store().datasets()}
    (sample,) = (r for name, r in records.items() if "300 of 600" in name)
    assert open_store().dataset(sample.id).drawn.n_total == 600


@given(
    st.one_of(
        st.none(),
        st.text(max_size=20),
        st.dictionaries(
            st.sampled_from(["drawn", "renamed", "more"]),
            st.one_of(
                st.integers(),
                st.text(max_size=5),
                st.dictionaries(
                    st.sampled_from(["n_rows", "n_total", "by", "x"]),
                    st.one_of(st.integers(-5, 5), st.lists(st.text(max_size=3))),
                ),
            ),
        ),
    )
)
def test_notes_of_anybody_are_notes_or_none(noted):
    """A file may hold any metadata; a wrong note is none, and no error."""
    text = json.dumps({"fairdash": noted}).encode()
    notes = notes_in({METADATA: text})
    assert isinstance(notes, TableNotes)
    if notes.drawn is not None:
        assert 0 < notes.drawn.n_rows < notes.drawn.n_total
    assert notes_in({METADATA: text[:-1]}) == TableNotes()
    assert notes_in(None) == TableNotes()


def test_a_table_without_notes_is_the_file_that_it_was(tmp_path):
    store = open_store(tmp_path / "home")
    digest = store.add_table(people().to_csv(index=False).encode(), "people.csv")
    assert METADATA not in (
        parquet.read_schema(store.table_path(digest)).metadata or {}
    )
    store.close()
