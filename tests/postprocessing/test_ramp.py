from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from fairdash.postprocessing import RampPreview, RampThreshold, ScoredRows, Thresholds
from fairdash.postprocessing.kernels import SortedScores


def rows_of(n=2000, *, seed=0, n_groups=3, decimals=1):
    rng = np.random.default_rng(seed)
    groups = rng.integers(0, n_groups, n)
    margins = np.clip(rng.normal(-0.3 + 0.3 * groups, 0.5), -1, 1).round(decimals)
    y = (rng.uniform(-1, 1, n) < margins).astype(int)
    return ScoredRows.read(margins, sensitive_features=groups, y=y)


def test_what_it_does_on_rows_is_what_its_file_does():
    learned = rows_of(seed=3)
    fresh = rows_of(700, seed=4)
    ramp = RampThreshold(0.2, "balanced").fit_rows(learned)
    file = Thresholds.from_json(ramp.thresholds().to_json())
    names = np.array(fresh.names)[fresh.codes]
    h = file.predict_proba(fresh.scores, sensitive_features=names)
    assert ramp.chance(fresh) == pytest.approx(h, abs=1e-12)
    decided = ramp.decisions(fresh, 7)
    drawn = file.predict(fresh.scores, sensitive_features=names, random_state=7)
    assert (decided["decision"] == drawn).all()
    assert decided["before"].tolist() == (fresh.margins > 0).astype(int).tolist()
    report = ramp.report(fresh)
    assert (report.h == ramp.chance(fresh)).all()
    changed = report.changed.set_index("group")
    frame = pd.DataFrame({"group": names, "h": h, "before": fresh.before})
    for name, part in frame.groupby("group"):
        assert changed.loc[name, "up"] == pytest.approx(
            part["h"][part["before"] == 0].sum()
        )
        down = (1 - part["h"])[part["before"] == 1].sum()
        assert changed.loc[name, "down"] == pytest.approx(down)
        assert changed.loc[name, "rate"] == pytest.approx(part["h"].mean())
    gap = report.outcome.set_index("metric")
    gap_value = gap.loc["demographic_parity_difference", "value"]
    assert gap_value == pytest.approx(np.ptp(frame.groupby("group")["h"].mean()))
    rates = ramp.expected_rates_
    assert file.expected_rates == pytest.approx(
        {str(k): rate for k, rate in rates.items()}
    )


def shown_while_moving(preview, gamma, rate):
    """What the browser draws: linear between the tabulated widths and rates."""
    middles = [np.interp(rate, preview.rates, row) for row in preview.middles]
    return np.interp(gamma, preview.gammas, middles) - gamma / 2


@pytest.mark.parametrize("gamma, rate", [(0.02, 0.07), (0.13, 0.42), (1.9, 0.9)])
def test_a_preview_is_close_to_the_exact_ramp(gamma, rate):
    margins = np.clip(np.random.default_rng(0).normal(-0.2, 0.4, 20_000), -1, 1)
    scores = SortedScores(margins)
    preview = RampPreview.of(scores)
    assert sum(preview.histogram) == pytest.approx(1, abs=1e-4)
    start = shown_while_moving(preview, gamma, rate)
    assert scores.mean_h(start, gamma) == pytest.approx(rate, abs=0.01)
    rest = np.interp(gamma, preview.gammas, preview.at_rest)
    assert rest == pytest.approx(float(scores.mean_h(0.0, gamma)), abs=0.01)


def test_a_preview_of_few_values_is_finite_and_falls_with_the_rate():
    preview = RampPreview.of(SortedScores([-0.5, -0.5, 0.2, 0.2, 0.2]))
    middles = np.array(preview.middles)
    assert np.isfinite(middles).all()
    assert (np.diff(middles, axis=1) <= 1e-9).all()


@pytest.mark.parametrize("gamma", [0.01, 0.3, 2.0])
def test_its_effect_counts_who_is_on_the_ramp_and_the_accuracy_it_costs(gamma):
    rows = rows_of(seed=1, decimals=3)
    weight = np.random.default_rng(0).integers(1, 4, len(rows.margins)).astype(float)
    rows = replace(rows, weight=weight)
    ramp = RampThreshold(gamma, 0.5).fit_rows(rows)
    effect = ramp.effect(rows)
    h = ramp.chance(rows)
    for k, share in enumerate(effect.randomised):
        of_group = rows.codes == k
        on_ramp = of_group & (h > 0) & (h < 1)
        assert share == pytest.approx(weight[on_ramp].sum() / weight[of_group].sum())
    after = ramp.score(
        rows.margins, rows.y, sensitive_features=rows.codes, sample_weight=weight
    )
    assert rows.accuracy_before + effect.accuracy_change == pytest.approx(after)
    assert ramp.effect(replace(rows, y=None)).accuracy_change is None


def test_a_wider_ramp_leaves_more_people_to_chance():
    rows = rows_of(seed=2, decimals=3)
    shares = [
        sum(RampThreshold(gamma, 0.5).fit_rows(rows).effect(rows).randomised)
        for gamma in (0.01, 0.1, 0.5, 1.0, 2.0)
    ]
    assert shares == sorted(shares)
    assert shares[0] < 0.1 < 2.5 < shares[-1]


def test_previews_of_rows_count_outcomes_by_score():
    rows = rows_of(seed=3, decimals=3)
    weight = np.linspace(1, 2, len(rows.margins))
    previews = RampPreview.of_rows(replace(rows, weight=weight))
    for k, preview in enumerate(previews):
        of_group = rows.codes == k
        assert preview.n == pytest.approx(weight[of_group].sum())
        positive = weight[of_group & (rows.y == 1)].sum() / preview.n
        assert sum(preview.positives) == pytest.approx(positive, abs=1e-4)
        assert (np.array(preview.positives) <= np.array(preview.histogram) + 1e-6).all()
    unknown = RampPreview.of_rows(replace(rows, y=None))
    assert [preview.positives for preview in unknown] == [None] * 3


def test_rates_after_the_ramp_are_means_over_its_draws():
    learned = rows_of(seed=5)
    fresh = rows_of(900, seed=6)
    report = RampThreshold(0.4, 0.5).fit_rows(learned).report(fresh)
    y = fresh.y
    for measure, of in (
        ("true_positive_rate", y == 1),
        ("false_positive_rate", y == 0),
        ("selection_rate", y >= 0),
    ):
        table = report.by_measure(measure)
        for place, row in enumerate(table.to_dict("records")):
            inside = of & (fresh.codes == place)
            assert row["before"] == pytest.approx(fresh.before[inside].mean())
            assert row["after"] == pytest.approx(report.h[inside].mean())
    right = np.where(y == 1, report.h, 1 - report.h)
    accuracy = pd.Series(right).groupby(fresh.codes).mean()
    assert report.by_measure("accuracy")["after"].tolist() == pytest.approx(
        accuracy.tolist()
    )
    with pytest.raises(ValueError, match="AUC is of scores"):
        report.by_measure("auc")
