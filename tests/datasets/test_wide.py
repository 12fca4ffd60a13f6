"""Of a wide table a bounded number of columns is looked at, and that is said."""

import numpy as np
import pandas as pd
import pytest

from fairdash.datasets import check_table, column_kinds, guessing
from fairdash.datasets.checks import features as feature_checks
from fairdash.datasets.column_kinds import SCREEN_COLUMNS
from fairdash.datasets.guessing import column_facts, counts

N_COLUMNS = 3 * SCREEN_COLUMNS
N_ROWS = 60
SEX, HIRED = 2 * SCREEN_COLUMNS, 2 * SCREEN_COLUMNS + 7  # places of named columns


@pytest.fixture(scope="module")
def wide():
    """A table whose outcome and groups stand far behind its first columns."""
    rng = np.random.default_rng(0)
    names = [f"x{place}" for place in range(N_COLUMNS)]
    names[SEX], names[HIRED] = "sex", "hired"
    return pd.DataFrame({name: rng.integers(0, 9, N_ROWS) for name in names}).assign(
        sex=rng.choice(["f", "m"], N_ROWS), hired=rng.integers(0, 2, N_ROWS)
    )


@pytest.fixture
def looked_at(monkeypatch):
    """Names of the columns whose values are counted, as they are counted."""
    names = set()
    count_values = column_kinds.count_values

    def count(column, most):
        names.add(str(column.name))
        return count_values(column, most)

    monkeypatch.setattr(column_kinds, "count_values", count)
    return names


def test_a_guess_looks_at_a_bounded_number_of_columns(wide, looked_at):
    guess = guessing.rank_roles(wide)
    assert (guess.roles.target, guess.roles.sensitive_feature) == ("hired", "sex")
    assert 2 < len(looked_at) <= SCREEN_COLUMNS
    assert {"x0", "x1", f"x{N_COLUMNS - 1}"} <= looked_at


def test_a_column_that_is_not_looked_at_is_no_feature_and_says_why(wide):
    features, reasons = guessing.guess_features(wide, "hired", "1", "sex")
    assert len(features) <= SCREEN_COLUMNS
    assert {*features, *reasons, "hired", "sex"} == {*wide}
    last_but_one = f"x{N_COLUMNS - 2}"
    assert str(SCREEN_COLUMNS) in reasons[last_but_one]
    assert guessing.rank_roles(wide).roles.features == tuple(features)


def test_a_chosen_column_is_looked_at_wherever_it_stands(wide):
    chosen = f"x{N_COLUMNS - 3}"
    roles = guessing.guess_rest(wide, chosen, "sex")
    assert roles.target == chosen
    assert chosen not in roles.features


def test_further_roles_are_sought_among_a_bounded_number_of_columns(wide, monkeypatch):
    roles = guessing.rank_roles(wide).roles.model_copy(update={"unit": None})
    seen = []
    monkeypatch.setattr(
        "fairdash.datasets.guessing.units._tells_people",
        lambda column, group: seen.append(column.name),
    )
    guessing.more_roles(wide, roles)
    assert 0 < len(seen) <= SCREEN_COLUMNS


def test_values_are_counted_once_for_each_column_of_a_table_of_counts(monkeypatch):
    """And not once for each column that may count people."""
    rng = np.random.default_rng(0)
    cells = {f"x{place}": rng.integers(0, 2, N_ROWS) for place in range(40)}
    frame = pd.DataFrame(cells)
    counted = []
    nunique = pd.Series.nunique

    def count(column, *arguments, **options):
        counted.append(column.name)
        return nunique(column, *arguments, **options)

    monkeypatch.setattr(pd.Series, "nunique", count)
    assert counts.guess_count(frame, list(frame)) is None
    assert counted == list(frame)
    counted.clear()
    numbers = frame.assign(y=rng.normal(size=N_ROWS), z=rng.normal(size=N_ROWS))
    assert counts.guess_count(numbers[["y", "z", *frame]], list(numbers)) is None
    assert counted == ["y", "z"]


def test_all_columns_of_a_table_that_is_not_wide_are_looked_at(wide):
    narrow = wide.iloc[:, -SCREEN_COLUMNS:].assign(sex=wide["sex"])
    narrow = narrow[["sex", *narrow.columns[1:-1]]]
    names = {column.name for column in column_facts.candidate_columns(narrow)}
    assert names == {*narrow}


def test_checks_say_when_the_guess_did_not_look_at_all_columns(wide):
    roles = guessing.rank_roles(wide).roles
    (note,) = _notes(wide, roles)
    assert f"{N_COLUMNS:,} columns" in note["message"]
    assert not _notes(wide, roles.model_copy(update={"guessed": False}))


def test_checks_of_many_features_are_cut_and_say_so(wide, monkeypatch):
    roles = guessing.rank_roles(wide).roles
    features = tuple(name for name in wide if name not in ("hired", "sex"))
    roles = roles.model_copy(update={"features": features, "subgroup_columns": ()})
    seen = []
    monkeypatch.setattr(
        feature_checks,
        "_number_codes",
        lambda column, *_: seen.append(column.name) or (),
    )
    (note,) = _notes(wide, roles)
    assert f"{N_COLUMNS:,} columns have a role" in note["message"]
    assert 0 < len(seen) <= SCREEN_COLUMNS


def test_an_error_is_found_in_the_last_of_many_features(wide):
    roles = guessing.rank_roles(wide).roles
    last = f"x{N_COLUMNS - 1}"
    features = tuple(name for name in wide if name not in ("hired", "sex"))
    spoiled = wide.astype({last: float})
    spoiled.loc[3, last] = np.inf
    findings = check_table(spoiled, roles.model_copy(update={"features": features}))
    errors = findings[findings["severity"] == "error"]
    assert errors[["check", "column"]].to_numpy().tolist() == [
        ["infinite values", last]
    ]


def _notes(frame, roles):
    findings = check_table(frame, roles)
    return findings[findings["check"] == "wide table"].to_dict("records")
