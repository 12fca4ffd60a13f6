"""Every measure on five real tables, held to fairlearn and scikit-learn."""

import os
from pathlib import Path

import fairlearn.metrics as fairlearn
import numpy as np
import pandas as pd
import pytest
from cases import paired, sampled
from peers import elsewhere
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fairdash.metrics import MEASURES, catalog, measure_by_group, measure_gaps

DATA = os.environ.get("FAIRDASH_DATA")
TABLES = {
    "adult": ("income", ">50K", ["sex", "race"]),
    "compas_two_years": ("two_year_recid", 1, ["race"]),
    "law_school": ("pass_bar", 1, ["race1"]),
    "german_credit": ("credit", 1, ["sex", "housing"]),
    "credit_default": ("default_payment_next_month", 1, ["sex", "education"]),
}
pytestmark = pytest.mark.skipif(not DATA, reason="FAIRDASH_DATA is not set")


@pytest.fixture(scope="module", params=sampled(TABLES, 2))
def scored(request):
    return rows_of(request.param)


def rows_of(name):
    """Outcomes, a logistic regression's probabilities, groups by size, a part."""
    target, positive, sensitive = TABLES[name]
    frame = pd.read_parquet(Path(DATA) / f"{name}.parquet")
    frame = frame.dropna(subset=[target, *sensitive])
    frame = frame.sample(min(2000, len(frame)), random_state=0).reset_index(drop=True)
    y = (frame[target] == positive).to_numpy(int)
    dropped = [name for name in frame if name == target or "recid" in name]
    numbers = frame.drop(columns=dropped).select_dtypes("number")
    numbers = numbers.loc[:, numbers.notna().all() & (numbers.std() > 0)]
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(numbers, y)
    group = frame[sensitive].astype(str).agg(" ".join, axis=1)
    by_size = group.value_counts().index
    return {
        "y": y,
        "scores": model.predict_proba(numbers)[:, 1].round(3),
        "rank": group.map({name: k for k, name in enumerate(by_size)}).to_numpy(),
        "group": group.to_numpy(str),
        "weight": np.random.default_rng(0).uniform(0.2, 3, len(y)),
    }


@pytest.mark.parametrize(
    ("groups", "weighted"), paired([2, 3, 4, 5], [False, True], together=1)
)
def test_figures_are_those_of_fairlearn_and_scikit_learn(scored, groups, weighted):
    selected = scored["rank"] < groups
    y, scores, group, weight = (
        scored[name][selected] for name in ("y", "scores", "group", "weight")
    )
    assert len(np.unique(group)) == groups
    pred = (scores > np.median(scores)).astype(int)
    arguments = {
        "sensitive_features": group,
        "sample_weight": weight if weighted else None,
    }
    rates = [measure for measure in MEASURES if measure not in catalog.SCORE_MEASURES]
    for measures, decided in ((rates, pred), (catalog.SCORE_MEASURES, scores)):
        theirs = fairlearn.MetricFrame(
            metrics={measure: elsewhere(measure) for measure in measures},
            y_true=y,
            y_pred=decided,
            sensitive_features=group,
            sample_params={m: {"sample_weight": weight} for m in measures}
            if weighted
            else None,
        )
        for measure in measures:
            ours = measure_by_group(measure, y, decided, **arguments).set_index("group")
            expected = theirs.by_group[measure]
            values = ours.loc[expected.index, "value"]
            np.testing.assert_allclose(values, expected, atol=1e-12)
        if not weighted:
            differences = theirs.difference()
            for measure in measures:
                gaps = measure_gaps(measure, y, decided, **arguments)[
                    "difference"
                ].abs()
                assert gaps.max() <= differences[measure] + 1e-12


def test_a_positive_label_is_any_of_two(scored):
    y = scored["y"]
    pred = (scored["scores"] > 0.4).astype(int)
    arguments = {"sensitive_features": scored["group"]}
    words = np.array(["good", "bad"])[[y, pred]]
    for measure in ("true_positive_rate", "precision", "accuracy"):
        plain = measure_by_group(measure, y, pred, **arguments)
        named = measure_by_group(measure, *words, pos_label="bad", **arguments)
        signed = measure_by_group(measure, 2 * y - 1, 2 * pred - 1, **arguments)
        pd.testing.assert_frame_equal(plain, named)
        pd.testing.assert_frame_equal(plain, signed)
    with pytest.raises(ValueError, match="must hold `pos_label` 'poor' and one"):
        measure_by_group("accuracy", *words, pos_label="poor", **arguments)
