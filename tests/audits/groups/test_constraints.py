"""What a constraint leaves of models: violations, and who decides nothing."""

from types import SimpleNamespace

import numpy as np
import pytest
from fairlearn.metrics import demographic_parity_difference
from hypothesis import given
from hypothesis import strategies as st
from toys import ROLES, people_csv

from fairdash import ui
from fairdash.audits import settings, violations
from fairdash.audits.groups.constraints import _says_nothing
from fairdash.datasets import Subgroups, split
from fairdash.metrics import decision_status
from fairdash.sweep import MethodGrid
from fairdash.ui import start_training

QUICK = {"n_epochs": 4, "batch_size": 128}


@given(st.integers(2, 60), st.integers(0, 10_000), st.floats(0, 1))
def test_of_plain_decisions_it_is_their_status(n_rows, seed, rate):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n_rows).astype(np.int8)
    decided = (rng.random(n_rows) < rate).astype(float)
    (status,) = decision_status(y, decided.astype(int))["status"]
    assert _says_nothing(y, decided) == (status != "")
    assert _says_nothing(y, np.full(n_rows, rate))


def test_violations_are_of_shared_seeds_and_mark_constant_models(inline, monkeypatch):
    store = ui.store()
    table = store.add_table(people_csv(), "people.csv")
    data = store.add_dataset(table, ROLES, "People", Subgroups(columns=("branch",)))
    run = start_training(data, MethodGrid(method="unconstrained", params=QUICK), 2)
    (plain,) = settings(store.snapshot(run).trials)
    alone = plain.on(frozenset({1}))
    found = violations(store, [plain, alone], data, "demographic_parity")
    assert found.table["splits"].tolist() == [1, 1]
    assert found.caption.startswith("Test rows, one split, no spread. Demographic")
    assert "Compared on seed 1" in found.caption
    dataset = store.dataset(data)
    where = split(dataset, 1).test
    scores = store.artifact(alone.trials[0].key).scores()[where]
    gap = demographic_parity_difference(
        dataset.y[where],
        scores > 0.5,
        sensitive_features=dataset.sensitive_features[where],
    )
    assert found.table["violation_rounded"].tolist() == pytest.approx([gap, gap])
    assert found.table["constant_rounded"].tolist() == [0, 0]
    flat = SimpleNamespace(scores=lambda: np.full(len(dataset.y), 0.3, np.float32))
    with monkeypatch.context() as patched:
        patched.setattr(store, "artifact", lambda key: flat)
        trial = SimpleNamespace(key="flat", seed=1, params={})
        constant = type(plain)(plain.method, "Flat", (trial,))
        found = violations(store, [constant], data, "demographic_parity").table
    assert found[["constant_expected", "constant_rounded"]].to_numpy().all()
    assert found["violation_expected"].tolist() == pytest.approx([0])
