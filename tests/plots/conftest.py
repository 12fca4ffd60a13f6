"""Tables such as fairdash.metrics gives, small and with estimable numbers."""

import numpy as np
import pandas as pd
import pytest

GROUPS = ("Caucasian", "Other")


@pytest.fixture
def groups():
    return GROUPS


@pytest.fixture
def local_table():
    """Two models, five subgroups, one of them not estimable."""
    names = ["Men 18–24", "Men 25–34", "Men 65+", "Women 18–24", "Women 25–34"]
    rows = []
    for label, gaps in {
        "Unconstrained": [0.3, 0.2, None, 0.1, 0.05],
        "ROAD λ 2": [0.1, 0.15, None, 0.12, 0.04],
    }.items():
        for name, gap in zip(names, gaps, strict=True):
            estimable = gap is not None
            rows.append(
                {
                    "label": label,
                    "subgroup": name,
                    "n": 100 if estimable else 29,
                    "gap": gap,
                    "ci_low": max(gap - 0.1, 0) if estimable else None,
                    "ci_high": gap + 0.1 if estimable else None,
                    "estimable": estimable,
                    "reason": "" if estimable else "29 rows",
                }
            )
    floats = dict.fromkeys(["gap", "ci_low", "ci_high"], "float64")
    return pd.DataFrame(rows).astype(floats)


@pytest.fixture
def local_values(local_table):
    """Rows and rates of two groups in these subgroups."""
    parts = [
        local_table[["label", "subgroup"]].assign(
            group=group, n=np.where(local_table["estimable"], n, few), value=value
        )
        for group, n, few, value in (("Caucasian", 40, 9, 0.3), ("Other", 60, 20, 0.4))
    ]
    return pd.concat(parts, ignore_index=True)


@pytest.fixture
def models():
    return pd.DataFrame(
        {
            "label": ["Unconstrained", "ROAD λ 2"],
            "colour_role": ["unconstrained", "road"],
            "accuracy": [0.67, 0.651],
            "accuracy_low": [0.65, 0.63],
            "accuracy_high": [0.69, 0.67],
            "overall": [0.114, 0.037],
            "demographic_parity_difference": [0.114, 0.037],
            "demographic_parity_difference_low": [0.08, 0.0],
            "demographic_parity_difference_high": [0.15, 0.07],
            "worst_1_di": [0.3, 0.15],
            "worst_1_di_low": [0.2, 0.05],
            "worst_1_di_high": [0.4, 0.25],
        }
    )


@pytest.fixture
def shown(local_table, local_values, models):
    """What a figure of local gaps draws."""
    return {"table": local_table, "values": local_values, "models": models}


@pytest.fixture
def base_table():
    rows = [
        (name, group, n, rate, rate - 0.1, rate + 0.1, n > 40)
        for name, n, rates in [
            ("Men", 100, (0.39, 0.49)),
            ("Women", 80, (0.2, 0.45)),
            ("Unknown", 15, (0.1, 0.9)),
        ]
        for group, rate in zip(GROUPS, rates, strict=True)
    ]
    names = ["subgroup", "group", "n", "rate", "ci_low", "ci_high", "estimable"]
    table = pd.DataFrame(rows, columns=names)
    return table.assign(reason=["", "", "", "", "30 rows", "30 rows"])


@pytest.fixture
def overall():
    return pd.DataFrame({"group": GROUPS, "n": [195, 195], "rate": [0.3, 0.5]})


@pytest.fixture
def curves():
    epoch = range(1, 61)
    loss = [0.7 - 0.002 * t for t in epoch]
    return pd.DataFrame(
        {
            "epoch": epoch,
            "loss": loss,
            "validation_loss": [value + 0.01 for value in loss],
            "adversary_loss": [0.6 + 0.001 * t for t in epoch],
        }
    )


@pytest.fixture
def ratio_table(local_table):
    table = local_table[local_table["label"] == "Unconstrained"]
    table = table.rename(columns={"gap": "local_di"})
    mean = [1.4, 1.2, 0.9, 1.0, 0.8]
    low = [m - 0.1 for m in mean]
    high = [m + 0.1 for m in mean]
    return table.assign(mean_ratio=mean, ratio_low=low, ratio_high=high)
