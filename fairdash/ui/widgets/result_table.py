"""The numbers of models under the names the screen gives them."""

import pandas as pd

_INTERVAL = {"_low": ", low", "_high": ", high"}
_NAMES = {
    "label": "Model",
    "n_seeds": "Seeds",
    "n": "Test rows",
    "accuracy": "Accuracy",
    "balanced_accuracy": "Balanced accuracy",
    "auc": "AUC",
    "log_loss": "Log loss",
    "demographic_parity_difference": "DI",
    "demographic_parity_ratio": "DI as ratio",
    "equalized_odds_difference": "Equalized odds",
    "equal_opportunity_difference": "Equal opportunity",
    "worst_1_di": "Worst-1-DI",
    "worst_2_di": "Worst-2-DI",
    "worst_3_di": "Worst-3-DI",
}


def readable(table: pd.DataFrame) -> pd.DataFrame:
    """Return `metrics_by_setting` with readable names: each metric beside its interval.

    The spread over seeds is named "..., sd" and left out where there is one seed.
    """
    several = bool(table["n_seeds"].max() > 1)
    columns = {}
    for name, title in _NAMES.items():
        columns[name] = title
        for end, words in _INTERVAL.items():
            columns[name + end] = title + words
        if several and name != "n":
            columns[f"{name}_sd"] = f"{title}, sd"
    present = [name for name in columns if name in table]
    shown = table[present].rename(columns=columns)
    return shown.astype({"Seeds": int, "Test rows": int})
