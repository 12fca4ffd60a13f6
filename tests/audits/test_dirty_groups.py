"""Dirty groups are said with the remedy, or refused: on Data, in the shell, in Python.

Tables are made up, clean ones and ones with one kind of dirt.
"""

import json

import numpy as np
import pandas as pd
import pytest
from cases import examples
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import fairdash
from fairdash.audits import tables
from fairdash.cli import app
from fairdash.cli._commands import COMMANDS
from fairdash.datasets import Roles, check_table, make_dataset, read_table, remedies

SOURCE = tables.Source("t.csv", "0" * 64, 0, "2026-01-01T00:00:00Z")
WORDS = st.text("abcdefghij", min_size=3, max_size=8)


def clean(rng, n, names):
    return pd.DataFrame(
        {
            "group": rng.choice(names, n),
            "hired": rng.choice(["no", "yes"], n),
            "score": rng.random(n),
            "place": rng.integers(0, 5, n),
        }
    )


def spelt_twice(frame, rng, names):
    odd = str(rng.choice([names[0].upper(), f"{names[0]} ", f" {names[0].title()}"]))
    rows = frame.index[frame["group"] == names[0]]
    changed = frame["group"].astype(object)
    changed[rng.choice(rows, max(1, len(rows) // 5), replace=False)] = odd
    return frame.assign(group=changed), repr(odd)


def decided_twice(frame, rng, names):
    rows = frame.index[frame["hired"] == "yes"]
    changed = frame["hired"].astype(object)
    changed[rows[: len(rows) // 4]] = "Yes "
    return frame.assign(hired=changed), repr("Yes ")


def dates(frame, rng, names):
    days = pd.to_datetime("2020-01-01") + pd.to_timedelta(
        rng.integers(0, 4, len(frame)), "D"
    )
    text = days.strftime("%Y-%m-%d") if rng.random() < 0.5 else days
    return frame.assign(group=text), "holds dates"


def one_row_each(frame, rng, names):
    return frame.assign(group=[f"p{i}" for i in rng.permutation(len(frame))]), (
        "it names rows, not groups"
    )


def many(frame, rng, names):
    return frame.assign(group=rng.integers(18, 60, len(frame))), "groups, "


def thrice(frame, rng, names):
    times = int(rng.integers(2, 5))
    written = pd.concat([frame] * times).sample(frac=1, random_state=1)
    return written.reset_index(drop=True), f"written {times} times"


def some_twice(frame, rng, names):
    numbered = frame.assign(number=np.arange(len(frame)) * 7 % 5003)
    part = numbered.sample(frac=0.2, random_state=0)
    return pd.concat([numbered, part], ignore_index=True), "repeat an earlier row"


REFUSED = {one_row_each}
DIRT = [spelt_twice, decided_twice, dates, one_row_each, many, thrice, some_twice]


@st.composite
def dirty(draw, kinds=tuple(DIRT)):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    names = draw(st.lists(WORDS, min_size=2, max_size=4, unique=True))
    frame = clean(rng, draw(st.integers(150, 400)), names)
    make = draw(st.sampled_from(kinds))
    changed, words = make(frame, rng, names)
    return make, frame, changed, words


QUESTION = tables.TableQuestion(groups=("group",), decision="hired=yes")


@examples(60)
@given(dirty())
def test_an_audit_says_what_is_dirty_with_the_remedy_or_refuses(made):
    make, frame, changed, words = made

    def audits(table):
        decided = (table["hired"] == "yes").astype(int)
        by_name = fairdash.audit(None, decided, sensitive_features="group", frame=table)
        of_table = tables.audit_table(table, QUESTION, SOURCE)
        return by_name, of_table

    for audited in audits(frame):
        remarks = audited.to_dict()["remarks"]
        assert remarks == []
    if make in REFUSED:
        decided = (changed["hired"] == "yes").astype(int)
        for groups in ("group", changed["group"]):
            with pytest.raises(ValueError, match=f"{words}. Choose another column"):
                fairdash.audit(None, decided, sensitive_features=groups, frame=changed)
        with pytest.raises(ValueError, match=f"{words}. Choose another column"):
            tables.audit_table(changed, QUESTION, SOURCE)
        return
    by_name, of_table = audits(changed)
    (remark,) = of_table.rows.remarks
    assert words in remark
    assert remark.endswith(".")
    assert len(remark.split(". ")) >= 2  # what is wrong, and what to do
    if make is not decided_twice:  # decisions came as numbers
        assert list(by_name.remarks) == [remark]
        assert remark in str(by_name)
        assert len(by_name.to_dict()["remarks"]) == 1
    json.dumps(by_name.to_dict())


@pytest.mark.parametrize(
    "make", [*DIRT, None], ids=lambda m: getattr(m, "__name__", "-")
)
@pytest.mark.parametrize("command", ["audit", "check"])
def test_the_shell_says_it_too(tmp_path, make, command):
    rng = np.random.default_rng(3)
    names = ["ann", "bob"]
    frame = clean(rng, 300, names)
    words = "nothing"
    if make is not None:
        frame, words = make(frame, rng, names)
    file = tmp_path / "t.csv"
    out = tmp_path / "t.json"
    frame.to_csv(file, index=False)
    limit = {"measure": "selection_rate", "of": "value", "at_most": 1}
    policy = {"decision": "hired=yes", "groups": ["group"], "limits": [limit]}
    (tmp_path / "p.yaml").write_text(json.dumps(policy))
    arguments = {
        "audit": ["--decision", "hired=yes", "--group", "group"],
        "check": ["--policy", tmp_path / "p.yaml"],
    }[command]
    done = CliRunner().invoke(
        app, list(map(str, [command, file, *arguments, "--out", out]))
    )
    if make in REFUSED:
        assert done.exit_code == COMMANDS[command].unusable
        assert words in done.stderr
        assert done.stderr.count("\n") == 1
        return
    remarks = json.loads(out.read_text())["remarks"]
    assert [words in remark for remark in remarks] == [True] * (make is not None)
    assert all(remark in done.stdout for remark in remarks)


@examples(30)
@given(dirty(kinds=(spelt_twice, dates, thrice, some_twice, one_row_each, many)))
def test_data_lists_it_among_its_checks(made):
    make, frame, changed, _ = made
    roles = Roles(
        target="hired", positive="yes", sensitive_feature="group", features=("place",)
    )
    assert not {"spellings", "dates as groups", "repeated rows"} & {
        *check_table(frame, roles)["check"]
    }
    problems = check_table(changed, roles).set_index("check")
    check = {
        spelt_twice: "spellings",
        dates: "dates as groups",
        thrice: "repeated rows",
        some_twice: "repeated rows",
        one_row_each: "too many groups",
        many: "too many groups",
    }[make]
    row = problems.loc[check]
    assert row["remedy"]
    if make is thrice:
        assert row["severity"] == "warning"
    if check == "too many groups":
        with pytest.raises(ValueError, match="groups"):
            make_dataset(changed, roles, name="t")
    elif row["action"] is not None:
        mended = remedies.apply_remedy(roles, row["action"])
        assert check not in set(check_table(changed, mended)["check"])


def test_a_name_that_stands_twice_in_the_header_is_said(tmp_path):
    rng = np.random.default_rng(0)
    frame = clean(rng, 200, ["a", "b"])
    rows = frame.assign(
        again=rng.choice(["c", "d"], 200), note="x", other=frame["group"]
    )
    rows.columns = ["group", "hired", "score", "place", "group", "note", "note"]
    rows.to_csv(tmp_path / "t.csv", index=False)
    read_frame = read_table(tmp_path / "t.csv")
    (remark,) = tables.count_rows(read_frame, QUESTION).remarks
    assert "The header has 'group' more than once" in remark
    assert "'group.1' a later one" in remark
    audited = fairdash.audit(
        None,
        (read_frame["hired"] == "yes") * 1,
        sensitive_features="group.1",
        frame=read_frame,
    )
    assert list(audited.remarks) == [remark]
    roles = Roles(
        target="hired", positive="yes", sensitive_feature="group", features=("place",)
    )
    assert "duplicate header" in set(check_table(read_frame, roles)["check"])
    place = roles.model_copy(update={"sensitive_feature": "note.1"})
    (row,) = (
        check_table(read_frame, place).query("check == 'duplicate header'").itertuples()
    )
    assert "'note'" in row.message
    with pytest.raises(ValueError, match="more than one column named 'group'"):
        fairdash.audit(None, [0, 1] * 100, sensitive_features="group", frame=rows)
    with pytest.raises(ValueError, match="more than one column named 'group'"):
        tables.count_rows(rows, QUESTION)


def test_columns_that_cross_into_many_groups_are_said():
    rng = np.random.default_rng(0)
    frame = clean(rng, 300, list("abcdefgh")).assign(
        place=rng.choice(list("vwxyz"), 300)
    )
    question = QUESTION.model_copy(update={"groups": ("group", "place")})
    (remark,) = tables.count_rows(frame, question).remarks
    assert "'group × place' makes 40 groups, " in remark
    assert "cross fewer columns" in remark


SINGLE = [
    (command, option)
    for command, option in (
        ("audit", "--outcome"),
        ("audit", "--decision"),
        ("audit", "--out"),
        ("check", "--policy"),
        ("run", "--name"),
        ("report", "--out"),
        ("monitor add", "--source"),
        ("data add", "--sample-rows"),
        ("model export", "--out"),
    )
]


@pytest.mark.parametrize(("command", "option"), SINGLE)
def test_an_option_of_one_value_is_refused_twice(tmp_path, command, option):
    file = tmp_path / "t.csv"
    file.write_text("group,hired\na,yes\n")
    value = str(file) if option == "--policy" else "7"
    words = [*command.split(), str(file), option, value, option, value]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == COMMANDS[command.split()[0]].unusable
    assert f"{option} is given 2 times" in done.stderr
