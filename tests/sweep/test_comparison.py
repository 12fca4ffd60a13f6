"""Friedman, Nemenyi and paired intervals against published and recomputed values."""

from io import StringIO

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from typer.testing import CliRunner

from fairdash.cli import app
from fairdash.sweep import compare_methods

# AUC of C4.5 on 14 data sets: Demšar (2006), table 6. The last two of voting are both
# printed as .975 and ranked 2 and 3, before rounding.
DEMSAR = pd.read_csv(
    StringIO(
        """table,C4.5,C4.5+m,C4.5+cf,C4.5+m+cf
adult,.763,.768,.771,.798
breast cancer,.599,.591,.590,.569
breast cancer wisconsin,.954,.971,.968,.967
cmc,.628,.661,.654,.657
ionosphere,.882,.888,.886,.898
iris,.936,.931,.916,.931
liver disorders,.661,.668,.609,.685
lung cancer,.583,.583,.563,.625
lymphography,.775,.838,.866,.875
mushroom,1,1,1,1
primary tumor,.940,.962,.965,.962
rheum,.619,.666,.614,.669
voting,.972,.981,.975,.9749
wine,.957,.978,.946,.970
"""
    ),
    index_col="table",
)


def rows_of(wide, seeds=(0,)):
    long = wide.rename_axis(columns="method").stack().rename("test_auc").reset_index()  # noqa: PD013
    return pd.concat([long.assign(seed=seed) for seed in seeds], ignore_index=True)


def test_ranks_statistic_and_critical_difference_are_the_published_ones():
    comparison = compare_methods(rows_of(DEMSAR), "test_auc", larger_is_better=True)
    published = {"C4.5": 3.143, "C4.5+m": 2.0, "C4.5+cf": 2.893, "C4.5+m+cf": 1.964}
    for method, rank in published.items():
        assert comparison.ranks[method] == pytest.approx(rank, abs=5e-4)
    assert comparison.reference == "C4.5+m+cf"
    assert comparison.blocks == "tables"
    assert comparison.critical_difference == pytest.approx(1.25, abs=0.01)  # q is 2.569
    n, k = DEMSAR.shape
    plain = (
        12 * n / (k * (k + 1)) * ((comparison.ranks**2).sum() - k * (k + 1) ** 2 / 4)
    )
    assert plain == pytest.approx(9.28, abs=0.01)  # not corrected for ties
    theirs = stats.friedmanchisquare(*DEMSAR.to_numpy().T)
    assert comparison.statistic == pytest.approx(theirs.statistic)
    assert comparison.p_value == pytest.approx(theirs.pvalue)
    assert plain < comparison.statistic
    # Nemenyi's 5 % is reached where ranks are the critical difference apart
    beyond = comparison.pairs["ranks_apart"] > comparison.critical_difference
    np.testing.assert_array_equal(beyond, comparison.pairs["p_value"] < 0.05)
    pairs = comparison.pairs.set_index(["method", "other"])
    assert pairs.loc[("C4.5+m+cf", "C4.5"), "p_value"] == pytest.approx(0.075, abs=0.03)


def test_paired_intervals_are_students_at_once_for_all():
    comparison = compare_methods(
        rows_of(DEMSAR), "test_auc", larger_is_better=True, reference="C4.5"
    )
    for row in comparison.differences.itertuples():
        distance = DEMSAR[row.method] - DEMSAR["C4.5"]
        test = stats.ttest_1samp(distance, 0).confidence_interval(1 - 0.05 / 3)
        assert row.difference == pytest.approx(distance.mean())
        assert (row.low, row.high) == pytest.approx(tuple(test))


def test_splits_of_one_table_are_corrected_for_the_rows_they_share():
    rng = np.random.default_rng(0)
    wide = pd.DataFrame(rng.normal(size=(10, 3)), columns=["a", "b", "c"])
    rows = wide.rename_axis("seed").reset_index().melt("seed", var_name="method")
    rows = rows.assign(measure="test_gap")
    comparison = compare_methods(rows, "test_gap", larger_is_better=False)
    assert comparison.blocks == "splits"
    assert comparison.n_blocks == 10
    row = comparison.differences.iloc[0]
    distance = wide[row["method"]] - wide[comparison.reference]
    error = np.sqrt(distance.var(ddof=1) * (1 / 10 + 1 / 3))
    half = stats.t.ppf(1 - 0.05 / 4, 9) * error
    assert row["high"] - row["low"] == pytest.approx(2 * half)
    means = rows.groupby("method")["value"].mean()
    assert row["mean"] == pytest.approx(means[row["method"]])


def test_seeds_of_a_table_are_averaged_and_settings_are_methods():
    rows = pd.DataFrame(
        [
            {"table": table, "seed": seed, "method": "fair_log_loss", "alpha": alpha}
            | {"test_accuracy": value + seed / 10}
            for table in "xyz"
            for seed in (0, 1)
            for alpha, value in ((0.01, 0.5), (0.1, 0.6), (1.0, 0.7))
        ]
    )
    comparison = compare_methods(rows, "test_accuracy", larger_is_better=True)
    assert comparison.n_blocks == 3
    assert comparison.ranks.tolist() == [1, 2, 3]
    assert comparison.reference == "Fair log-loss α 1"
    np.testing.assert_allclose(comparison.differences["difference"], [-0.1, -0.2])
    unnamed = rows.assign(alpha=0.1)
    with pytest.raises(ValueError, match="stands twice on x, seed 0"):
        compare_methods(unnamed, "test_accuracy", larger_is_better=True)


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda rows: rows[rows["method"] != "C4.5+m"].iloc[:8], "needs at least 3"),
        (lambda rows: rows.iloc[:4], "1 blocks"),
        (lambda rows: rows.iloc[1:], "C4.5 has no value of 'test_auc' on adult"),
        (lambda rows: rows.drop(columns="seed"), "no column 'seed'"),
        (
            lambda rows: rows.rename(columns={"test_auc": "x"}),
            "`measure` must be one of",
        ),
    ],
)
def test_what_cannot_be_compared_is_refused(change, message):
    rows = rows_of(DEMSAR)
    if "3" in message:
        rows = rows[rows["method"].isin(["C4.5", "C4.5+cf", "C4.5+m"])]
    with pytest.raises(ValueError, match=message):
        compare_methods(change(rows), "test_auc", larger_is_better=True)


def test_the_command_prints_ranks_and_intervals(tmp_path):
    path = tmp_path / "rows.csv"
    out = tmp_path / "differences.csv"
    rows_of(DEMSAR).to_csv(path, index=False)
    command = ["compare", str(path), "--measure", "test_auc", "--out", str(out)]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    assert "4 methods on 14 tables" in done.output
    assert "from 1.25 on" in done.output
    assert len(pd.read_csv(out)) == 3
    refused = CliRunner().invoke(app, ["compare", str(path), "--measure", "nothing"])
    assert refused.exit_code == 2
    assert "`measure` must be one of" in refused.output
    unclear = CliRunner().invoke(app, [*command, "--better", "higher"])
    assert unclear.exit_code == 2
