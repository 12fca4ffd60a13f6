"""A row that stands for several people counts as so many rows, in every measure."""

import numpy as np
import pandas as pd
import pytest
from cases import examples
from hypothesis import given
from hypothesis import strategies as st

from fairdash._counts import RowCounts
from fairdash.metrics import (
    MEASURES,
    Drawn,
    LocalMeasure,
    calibration_curve,
    catalog,
    compare,
    gap_change,
    measure_by_group,
    measure_gaps,
)


@pytest.fixture
def cells():
    """60 rows of counts; their people as rows."""
    rng = np.random.default_rng(4)
    n = 60
    table = pd.DataFrame(
        {
            "y": rng.integers(0, 2, n),
            "pred": rng.integers(0, 2, n),
            "other": rng.integers(0, 2, n),
            "p": rng.choice([0.1, 0.3, 0.5, 0.8], n),
            "group": rng.choice(["a", "b", "c"], n),
            "place": rng.choice(["n", "s"], n),
            "count": rng.integers(0, 30, n),
        }
    )
    table["content"] = np.arange(n)
    people = table.loc[table.index.repeat(table["count"])].reset_index(drop=True)
    return table, people, RowCounts.of("count", table["count"])


def predicted(table, measure):
    return table["p" if measure in catalog.SCORE_MEASURES else "pred"]


def drawn(table, *, shared):
    content = table["content"].to_numpy() if shared else None
    return Drawn(table["p"].to_numpy(), content)


@pytest.mark.parametrize("measure", [*MEASURES, "error_cost 3:1"])
def test_measures_and_gaps_are_those_of_repeated_rows(cells, measure):
    table, people, counts = cells
    for function in (measure_by_group, measure_gaps):
        first, second = (
            function(
                measure,
                part["y"],
                predicted(part, measure),
                sensitive_features=part["group"],
                sample_weight=weight,
            )
            for part, weight in ((table, counts), (people, None))
        )
        pd.testing.assert_frame_equal(first, second)


@pytest.mark.parametrize("measure", ["selection_rate", "brier", "auc"])
def test_gaps_inside_subgroups_are_those_of_repeated_rows(cells, measure):
    table, people, counts = cells
    first, second = (
        LocalMeasure.of(
            measure,
            part["y"],
            predicted(part, measure),
            sensitive_features=part["group"],
            subgroups=part["place"],
            sample_weight=weight,
        )
        for part, weight in ((table, counts), (people, None))
    )
    pd.testing.assert_frame_equal(first.estimates(), second.estimates())
    np.testing.assert_allclose(
        first.noise_floor().samples, second.noise_floor().samples
    )


def test_changes_between_models_are_those_of_repeated_rows(cells):
    table, people, counts = cells
    first, second = (
        compare(
            part["y"],
            part["pred"],
            part["other"],
            sensitive_features=part["group"],
            subgroups=part["place"],
            sample_weight=weight,
        )
        for part, weight in ((table, counts), (people, None))
    )
    pd.testing.assert_frame_equal(first, second)
    changes = [
        gap_change(
            part["pred"],
            part["other"],
            sensitive_features=part["group"],
            y_true=part["y"],
            measure="true_positive_rate",
            sample_weight=weight,
        )
        for part, weight in ((table, counts), (people, None))
    ]
    np.testing.assert_allclose(*changes)


@pytest.mark.parametrize("shared", [False, True])
def test_drawn_decisions_are_those_of_repeated_rows(cells, shared):
    table, people, counts = cells
    for function in (measure_by_group, measure_gaps):
        first, second = (
            function(
                "selection_rate",
                None,
                Drawn(
                    part["p"].to_numpy(), part["content"].to_numpy() if shared else None
                ),
                sensitive_features=part["group"],
                sample_weight=weight,
            )
            for part, weight in ((table, counts), (people, None))
        )
        pd.testing.assert_frame_equal(first, second)
    pairs = [
        gap_change(
            part["other"],
            drawn(part, shared=shared),
            sensitive_features=part["group"],
            sample_weight=weight,
        )
        for part, weight in ((table, counts), (people, None))
    ]
    np.testing.assert_allclose(*pairs)


def test_a_calibration_curve_is_that_of_repeated_rows(cells):
    table, people, counts = cells
    first, second = (
        calibration_curve(
            part["y"], part["p"], sensitive_features=part["group"], sample_weight=weight
        )
        for part, weight in ((table, counts), (people, None))
    )
    pd.testing.assert_frame_equal(first, second)


def test_two_billion_people_in_eight_rows():
    counts = RowCounts.of("count", [6e8, 4e8, 5e8, 5e8, 7, 3, 2, 8])
    table = measure_by_group(
        "selection_rate",
        None,
        [1, 0] * 4,
        sensitive_features=["a", "a", "b", "b"] * 2,
        sample_weight=counts,
    )
    assert table["n"].tolist() == [1_000_000_010, 1_000_000_010]
    assert table["value"].tolist() == pytest.approx([0.6, 0.5], abs=1e-8)
    widths = table["ci_high"] - table["ci_low"]
    assert widths.tolist() == pytest.approx(
        [2 * 1.96 * np.sqrt(v / 1e9) for v in (0.24, 0.25)], rel=1e-3
    )


@pytest.mark.parametrize(
    "values, message",
    [
        ([1, -2, 3], "first row 2 with -2"),
        ([1, 2.5], "first row 2 with 2.5.*sampling weight"),
        ([1, None], "first row 2"),
        (["3", "many"], "first row 2 with 'many'"),
        ([0, 0], "0 in all 2 rows"),
        ([1e16, 2e16], "more than can be counted exactly"),
    ],
)
def test_broken_counts_are_refused_with_their_row(values, message):
    with pytest.raises(ValueError, match=message):
        RowCounts.of("count", values)


@examples(50)
@given(st.lists(st.integers(0, 5000), min_size=1, max_size=8).filter(any))
def test_lots_hold_all_people_of_each_row(counts):
    whole = RowCounts.of("count", counts)
    rows, lot, dealt = whole.lots(20)
    assert np.bincount(rows, dealt, len(counts)).tolist() == counts
    assert (np.asarray(dealt) > 0).all()
    assert lot.max() < 20
    assert dealt.people == whole.people
