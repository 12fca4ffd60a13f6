"""A monitor of an address counts where rows lie, and keeps cells instead of rows."""

import json
import sqlite3
from contextlib import closing

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from fairdash.audits import tables
from fairdash.audits.tables.kept_cells import KeptCells
from fairdash.cli import app
from fairdash.store import open_store

WEEKS = 4
LIMITS = {
    "decision": "hired=yes",
    "groups": ["sex"],
    "subgroups": ["age"],
    "limits": [
        {"measure": "selection_rate", "at_most": 0.1},
        {"measure": "selection_rate", "at_most": 0.3, "subgroup": "every"},
    ],
}


def decisions():
    """Return weeks of decisions with a gap, a name that nobody asks for."""
    rng = np.random.default_rng(5)
    n = 400 * WEEKS
    sex = rng.choice(["f", "m"], n)
    hired = rng.random(n) < np.where(sex == "m", 0.6, 0.3)
    week = np.arange(n) // 400
    days = pd.to_datetime("2026-01-05") + pd.to_timedelta(7 * week + n % 7, unit="D")
    return pd.DataFrame(
        {
            "day": days.strftime("%Y-%m-%d"),
            "sex": np.where(rng.random(n) < 0.01, None, sex),
            "age": rng.integers(20, 60, n),
            "hired": np.where(hired, "yes", "no"),
            "name": [f"person {i}" for i in range(n)],
        }
    )


@pytest.fixture
def bank(tmp_path):
    """A database of decisions, and its address."""
    file = tmp_path / "bank.db"
    with closing(sqlite3.connect(file)) as link:
        decisions().to_sql("decisions", link, index=False)
    return file, f"sqlite:///{file}?table=decisions"


def change(file, statement):
    with closing(sqlite3.connect(file)) as link:
        link.execute(statement)
        link.commit()


def monitor(source, **fields):
    return tables.Monitor("hires", source, LIMITS, **({"date": "day"} | fields))


def judged(watch):
    """Return everything that batches came to but the bets, which draw blocks."""
    return [
        (batch.label, batch.rows, batch.excluded, *map(repr, batch.judged))
        for batch in watch.batches
    ]


def test_batches_of_an_address_are_judged_as_their_rows_are(bank, tmp_path):
    _, address = bank
    decisions().to_csv(tmp_path / "decisions.csv", index=False)
    of_rows = tables.Watch(monitor(f"{tmp_path}/decisions.csv"), ()).run()
    of_counts = tables.Watch(monitor(address), ()).run()
    assert len(of_rows.batches) == WEEKS
    assert judged(of_counts) == judged(of_rows)
    assert {limit for limit, _ in of_counts.broken} == {
        limit for limit, _ in of_rows.broken
    }


def test_a_monitor_keeps_cells_and_nothing_of_a_row(bank):
    file, address = bank
    watch = tables.Watch(monitor(address), ()).run()
    text = watch.to_json()
    assert "person" not in text
    assert "2026-01-08" not in text  # a day of a week
    again = tables.Watch.of_json(text)
    assert again.to_json() == text
    cells = again.batches[0].cells
    assert set(cells.columns) == {"sex", "age", "hired"}
    assert cells.n_rows == 400
    # The rows go, their batch stays; the next look audits nothing anew.
    change(file, "DELETE FROM decisions WHERE day < '2026-01-12'")
    later = again.run()
    assert judged(later) == judged(watch)
    assert [b.claims for b in later.batches] == [b.claims for b in watch.batches]


def test_only_batches_with_new_rows_are_audited_again(bank, monkeypatch):
    file, address = bank
    watch = tables.Watch(monitor(address), ()).run()
    change(file, "UPDATE decisions SET hired = 'no' WHERE day >= '2026-01-26'")
    audited = []
    module = tables.Watch.__module__
    audit = f"{module}.audit_batch"

    def counted(frame, monitor, label, *rest):
        audited.append(label)
        return original(frame, monitor, label, *rest)

    original = __import__(module, fromlist=["audit_batch"]).audit_batch
    monkeypatch.setattr(audit, counted)
    later = watch.run()
    assert audited == ["2026-01-26"]
    # nobody is accepted in that week, and some are in others: a rate of 0
    assert later.batches[-1].judged != watch.batches[-1].judged
    assert later.batches[:-1] == watch.batches[:-1]


@pytest.mark.parametrize(
    ("fields", "policy", "words"),
    [
        ({"date": None}, {}, "--date COLUMN"),
        ({"join": "groups.csv", "by": ("name",)}, {}, "cannot join a file"),
        ({"outcomes": "later.csv", "key": "name"}, {}, "cannot join a file"),
        ({}, {"unit": "name"}, "units, weights and steps"),
        ({}, {"weight": "age"}, "units, weights and steps"),
        ({"date": "month"}, {}, "`--date` must be one of"),
        ({}, {"groups": ["gender"]}, "`--group` must be one of"),
        ({"date": "name"}, {}, "holds no date in 1,600 rows"),
    ],
)
def test_what_counts_cannot_say_is_refused(bank, fields, policy, words):
    _, address = bank
    fields = {"date": "day", **fields}
    asked = tables.Monitor("hires", address, {**LIMITS, **policy}, **fields)
    for look in (tables.Watch(asked, ()).run, tables.Watch(asked, ()).first_batch):
        with pytest.raises(ValueError, match=words):
            look()


def call(*arguments):
    done = CliRunner().invoke(app, ["monitor", *map(str, arguments)])
    return done.exit_code, done.output


def test_the_shell_watches_an_address_and_keeps_all_when_it_goes_away(
    bank, tmp_path, home
):
    file, address = bank
    policy = tmp_path / "policy.yaml"
    policy.write_text(json.dumps(LIMITS))
    status, text = call(
        *("add", "hires", "--source", address, "--date", "day", "--policy", policy)
    )
    assert (status, text.count("2026-01-05 has 400 rows")) == (0, 1), text
    status, text = call("run")
    assert status == 1  # an alarm
    with closing(open_store()) as store:
        kept = store.monitor("hires")
        file.rename(tmp_path / "away.db")
        status, text = call("run")
        assert status == 2
        assert "There is no database file" in text
        assert store.monitor("hires") == kept


def test_cells_are_read_back_with_the_types_of_the_source():
    frame = pd.DataFrame(
        {
            "day": pd.to_datetime(["2026-01-05 10:30:00.5", None]).as_unit("us"),
            "share": [1 / 3, None],
            "age": pd.array([3, None], dtype="Int64"),
            "good": pd.array([True, None], dtype="boolean"),
            "group": pd.Series(["a,=", None], dtype="str"),
            "kind": pd.Categorical(["x", None]),
            "number": [7, 9],
            "people": [5, 6],
        }
    )
    cells = KeptCells.of(frame, "people")
    stored = KeptCells(**json.loads(json.dumps(vars(cells))))
    assert stored == cells
    expected = frame.assign(kind=frame["kind"].astype("str"))
    pd.testing.assert_frame_equal(stored.frame, expected)
