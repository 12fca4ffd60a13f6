"""A change of what any method finds must raise `RESULTS_VERSION`.

Scores of a pinned tiny case are compared with committed ones to five digits: exact
bytes depend on the processor, whose kernels add in another order, while a change of a
method moves scores by far more. After a change that is meant, raise the version and
write the scores anew:

    python tests/methods/test_results_version.py
"""

import json
from pathlib import Path

import numpy as np
import pytest
from cases import sampled
from safetensors import numpy as safetensors

from fairdash.methods import CATALOG, scorer_of

COMMITTED = Path(__file__).with_name("results.json")
SHORT = {
    "n_epochs": 6, "batch_size": 32, "learning_rate": 0.01, "fairness_weight": 4.0,
    "max_iter": 50, "n_estimators": 10, "n_rounds": 3, "n_responses": 2, "grid_size": 5,
}  # fmt: skip
SHORTER = {
    "road": {"n_epochs": 1},  # its opponents soon carry a last bit to the front
    "rule_list": {"tolerance": 0.9},  # so that it has a rule
}
ROWS = 160


def trained(method):
    """Return a method trained for a moment on made-up rows, a dozen rows, scores."""
    rng = np.random.default_rng(0)
    group = rng.integers(2, size=ROWS)
    X = rng.normal(size=(ROWS, 4)).astype(np.float32)
    X[:, 0] += group
    y = (X[:, 0] + X[:, 1] + rng.logistic(size=ROWS) > 0.5).astype(int)
    names = {param.name for param in method.params}
    short = SHORT | SHORTER.get(method.key, {})
    params = {name: value for name, value in short.items() if name in names}
    model = method.estimator(params, random_state=0)
    model.fit(X, y, sensitive_features=group)
    groups = {"sensitive_features": group[:12]} if method.needs_groups else {}
    return model, X[:12], group[:12], model.predict_proba(X[:12], **groups)[:, 1]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("key", sampled(CATALOG, 2))
def test_a_method_finds_what_it_found_at_this_version(key):
    from fairdash.sweep import RESULTS_VERSION

    committed = json.loads(COMMITTED.read_text())
    assert committed["version"] == RESULTS_VERSION, "write the scores of this version"
    message = f"`{key}` finds other scores: raise RESULTS_VERSION in fairdash/sweep"
    model, X, group, scores = trained(CATALOG[key])
    np.testing.assert_allclose(
        scores, committed["scores"][key], atol=1e-5, err_msg=message
    )
    # what a trial keeps scores rows as the estimator did
    arrays = {n: np.ascontiguousarray(a) for n, a in model.network_.arrays().items()}
    stored = scorer_of(safetensors.load(safetensors.save(arrays)))
    np.testing.assert_allclose(stored.positive(X, group), scores, atol=1e-6)


def test_scores_alone_are_refused_with_the_way_out():
    with pytest.raises(ValueError, match="Train it with logistic regression"):
        scorer_of({})


if __name__ == "__main__":
    from fairdash.sweep import RESULTS_VERSION

    lines = [
        f'"{key}": {np.round(trained(method)[-1], 6).tolist()}'
        for key, method in CATALOG.items()
    ]
    inner = ",\n ".join(lines)
    COMMITTED.write_text(
        f'{{"version": {RESULTS_VERSION}, "scores": {{\n {inner}\n}}}}\n'
    )
