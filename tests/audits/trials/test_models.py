"""How models that would share a label are told apart."""

import pytest

from fairdash.audits import Setting
from fairdash.audits.trials.models import told_apart
from fairdash.methods import CATALOG
from fairdash.scored import ScoredModel, Trained


def road(effort, **params):
    settings = CATALOG["road"].settings(params, effort)
    trial = ScoredModel(Trained(repr(settings), "road", settings), split=0)
    return Setting("road", "ROAD λ 1 τ 0.3", (trial,))


@pytest.mark.parametrize(
    "models, labels",
    [
        ([road("fast")], [""]),
        ([road("fast"), road("paper")], [", fast", ", paper"]),
        (
            [road("fast", n_epochs=7), road("fast", n_epochs=9)],
            [", epochs 7", ", epochs 9"],
        ),
    ],
    ids=["alone", "two efforts", "two lengths"],
)
def test_models_of_one_label_are_told_apart_by_effort_or_by_what_differs(
    models, labels
):
    result = [model.label for model in told_apart(models)]
    assert result == [f"ROAD λ 1 τ 0.3{words}" for words in labels]
