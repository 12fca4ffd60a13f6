"""Rows that repeat are measured once, and everything is said as of all of them."""

import json

import numpy as np
import pandas as pd
import pytest
from cases import paired
from pandas.testing import assert_frame_equal

import fairdash
from fairdash.analysis import condensing
from fairdash.audits import tables
from fairdash.datasets import Subgroups


def rows(seed, n=1_500):
    rng = np.random.default_rng(seed)
    race = rng.choice(["a", "b", "other"], n, p=[0.7, 0.28, 0.02])
    decided = (rng.random(n) < np.where(race == "b", 0.25, 0.4)).astype(int)
    age = rng.integers(18, 40, n).astype(float)
    age[rng.random(n) < 0.05] = np.nan
    frame = pd.DataFrame({"race": race, "age": age, "sex": rng.choice(["f", "m"], n)})
    return rng.integers(0, 2, n), decided, frame


@pytest.mark.parametrize(
    ("seed", "groups", "has_outcome"),
    paired(range(6), ["race", ["race", "sex"]], [True, False], together=1),
)
def test_cells_say_what_rows_say(seed, groups, has_outcome, monkeypatch):
    monkeypatch.setattr(condensing, "FEWEST_ROWS", 1)
    monkeypatch.setattr(condensing, "_LEAST_REPEATS", 1)
    y, decided, frame = rows(seed)
    y = y if has_outcome else None
    inside = ["age"] if seed % 2 else []
    columns = [frame[name] for name in ["race", "sex", *inside]]
    cells = condensing.cells_of(y, decided, *columns)
    assert len(cells.first) < len(decided)
    options = {
        "sensitive_features": groups,
        "subgroups": Subgroups(columns=tuple(inside)) if inside else None,
        "favourable": seed % 3 > 0,
        "checks": False,
    }
    of_rows = fairdash.audit(y, decided, frame=frame, **options)
    of_cells = fairdash.audit(
        cells.of(y),
        cells.of(decided),
        frame=cells.of(frame),
        counts=cells.counts,
        **options,
    )
    assert of_rows.verdict == of_cells.verdict
    assert of_rows.n == of_cells.n == len(decided)
    for name in ("by_group", "gaps", "local"):
        if getattr(of_rows, name) is not None:
            assert_frame_equal(
                getattr(of_rows, name), getattr(of_cells, name), rtol=1e-12
            )


def rounded(facts):
    """Return facts as JSON has them, to ten digits behind the point."""
    text = json.dumps(facts, sort_keys=True)
    return json.loads(text, parse_float=lambda digits: round(float(digits), 10))


@pytest.mark.parametrize("seed", range(4))
def test_an_audit_of_a_table_is_of_its_cells(seed, monkeypatch):
    y, decided, frame = rows(seed)
    frame = frame.assign(y=y, hired=np.where(decided, "yes", "no"), row=range(len(y)))
    question = tables.TableQuestion(
        groups=("race", "sex"),
        decision="hired=yes",
        outcome="y=1" if seed % 2 else None,
        subgroups=("age",) if seed > 1 else (),
    )
    source = tables.Source.of_frame("rows", "", frame)
    documents = []
    for fewest in (10**9, 1):
        monkeypatch.setattr(condensing, "FEWEST_ROWS", fewest)
        monkeypatch.setattr(condensing, "_LEAST_REPEATS", 1)
        documents.append(tables.audit_table(frame, question, source).to_dict())
    first, second = documents
    for part in ("verdict", "rows", "counts", "excluded"):
        assert first[part] == second[part]
    assert rounded(first["facts"]) == rounded(second["facts"])
    assert_frame_equal(
        pd.DataFrame(first["estimates"]), pd.DataFrame(second["estimates"]), rtol=1e-12
    )


def test_cells_are_the_combinations_with_their_rows():
    y, decided, _ = rows(0, n=12_000)
    cells = condensing.cells_of(y, decided, None)
    assert len(cells.first) == 4
    assert int(np.asarray(cells.counts).sum()) == 12_000
    pairs = set(zip(cells.of(y), cells.of(decided), strict=True))
    assert len(pairs) == 4
    assert cells.of(None) is None


@pytest.mark.parametrize("bad", [2, np.nan, -1])
def test_rows_that_are_not_0_and_1_are_left_for_the_reader(bad, monkeypatch):
    monkeypatch.setattr(condensing, "FEWEST_ROWS", 1)
    decided = np.array([0.0, 1.0, bad] * 50)
    assert condensing.cells_of(None, decided, np.tile(["a", "b", "a"], 50)) is None


def test_few_rows_and_rows_that_hardly_repeat_are_read_one_by_one(monkeypatch):
    y, decided, frame = rows(0)
    assert condensing.cells_of(y, decided, frame["race"]) is None
    monkeypatch.setattr(condensing, "FEWEST_ROWS", 1)
    assert condensing.cells_of(y, decided, frame["race"]) is not None
    assert condensing.cells_of(y, decided, np.arange(len(y))) is None
