"""Methods that are not networks in sweeps: scores, arrays, the copied script."""

import pytest
from toys import ROLES, people_csv

from fairdash.methods import CATALOG
from fairdash.sweep import SweepSpec, run_sweep

CLASSIC = [
    "fair_log_loss", "reductions", "grid_reductions", "reweighing", "covariance",
    "hardt",
]  # fmt: skip


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    file = tmp_path_factory.mktemp("data") / "people.csv"
    file.write_bytes(people_csv())
    return file


def spec(path, methods):
    return SweepSpec.model_validate(
        {
            "data": {"path": str(path), "roles": ROLES.model_dump()},
            "methods": methods,
        }
    )


def test_every_classical_method_runs_in_a_sweep(path):
    table = run_sweep(spec(path, [{"method": method} for method in CLASSIC]))
    assert table["method"].tolist() == CLASSIC
    assert table["test_accuracy"].between(0.4, 1).all()
    assert {key for key in CLASSIC if CATALOG[key].needs_groups} == {
        "fair_log_loss",
        "hardt",
    }
