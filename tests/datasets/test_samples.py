import importlib.util
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

from fairdash.datasets import SAMPLES, check_table, load_sample

SCRIPT = Path(__file__).parents[2] / "sample_data" / "make_samples.py"
MODELS = {
    "logistic": LogisticRegression(max_iter=1000),
    "boosting": HistGradientBoostingClassifier(
        max_iter=100, max_leaf_nodes=12, learning_rate=0.06, random_state=0
    ),
}
# groups that the mechanism works against
WRONGED = {
    "loans": ("sex", ["Female"]),
    "hiring": ("ethnicity", ["Asian", "Black"]),
    "readmission": ("ethnicity_true", ["Asian", "Black"]),
}


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("make_samples", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def gap(outcome, groups, rows):
    rates = pd.Series(outcome[rows]).groupby(groups[rows]).mean()
    return rates.max() - rates.min()


@pytest.mark.parametrize("name", SAMPLES)
def test_the_shipped_file_is_what_the_script_writes(name, script):
    frame, _ = script.make(name)
    dataset = load_sample(name)
    pd.testing.assert_frame_equal(dataset.frame, frame, check_dtype=False)
    assert dataset.n_rows == SAMPLES[name].n_rows
    assert SAMPLES[name].path.stat().st_size < 1_500_000


@pytest.mark.parametrize("name", SAMPLES)
def test_the_mechanism_works_in_the_planted_region_alone(name, script):
    frame, probabilities = script.make(name)
    fair, actual = probabilities.T
    column, values = WRONGED[name]
    wronged = SAMPLES[name].planted_rows(frame) & frame[column].isin(values)
    np.testing.assert_array_equal(fair[~wronged], actual[~wronged])
    for rate in (fair[wronged].mean(), actual[wronged].mean()):
        assert f"{rate:.0%}" in SAMPLES[name].planted


@pytest.mark.parametrize("name", SAMPLES)
def test_the_truth_is_that_of_the_generator(name, script):
    truth = SAMPLES[name].truth()
    frame, _ = script.make(name)
    dataset = load_sample(name)
    planted = SAMPLES[name].planted_rows(frame)
    recorded = gap(dataset.y, dataset.sensitive_features, planted)
    assert truth.planted == pytest.approx(recorded, abs=0.05)  # chance of the file
    assert truth.fair < 0.02
    rates = script.true_rates(name, 40_000)
    assert set(rates["subgroup"]) <= set(truth.subgroups["subgroup"])
    labels = SAMPLES[name].subgroups.label(frame).astype(str)
    assert set(truth.subgroups["subgroup"]) == set(labels)
    worst = truth.subgroups.sort_values("decided").iloc[-1]
    assert worst["planted"]
    outside = truth.subgroups[~truth.subgroups["planted"]]
    assert outside["decided"].max() < worst["decided"] / 3
    np.testing.assert_allclose(outside["decided"], outside["fair"])


@pytest.mark.parametrize("name", SAMPLES)
def test_samples_have_no_errors_or_warnings(name):
    dataset = load_sample(name)
    findings = check_table(dataset.frame, dataset.roles)
    assert set(findings["severity"]) <= {"note"}
