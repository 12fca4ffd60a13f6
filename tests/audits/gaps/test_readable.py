import pandas as pd

from fairdash.audits import gaps
from fairdash.metrics import evaluate, summarise_seeds


def rows(seeds, constant=0.0):
    """Rows of a model on several seeds, as pages average them."""
    evaluated = evaluate(
        [0, 1, 1, 0], [0.2, 0.8, 0.4, 0.1], sensitive_features=list("abab")
    )
    evaluated["constant"] = constant
    return summarise_seeds(
        pd.concat([evaluated.assign(label="ROAD", seed=seed) for seed in range(seeds)]),
        "label",
    )


def test_every_metric_has_its_name_and_interval_and_one_seed_no_spread():
    table = gaps.readable(rows(1))
    first = ["Model", "Seeds", "Test rows", "Accuracy", "Accuracy, low"]
    assert list(table)[:6] == [*first, "Accuracy, high"]
    assert table.loc[0, "Accuracy"] == 0.75
    assert not [name for name in table if name.endswith("sd")]


def test_a_model_that_does_not_decide_has_a_status():
    guessing = gaps.readable(rows(1, constant=1.0))
    assert guessing.loc[0, "Decides"] == "no better than guessing"
    constant_rows = rows(1, constant=1.0).assign(alike=1.0, accepted=0.004)
    assert gaps.readable(constant_rows).loc[0, "Decides"] == "accepts under 1%"
    assert "Decides" not in gaps.readable(rows(1))
