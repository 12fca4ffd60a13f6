"""The metrics of `fairdash.metrics.evaluate`: their names in code and on the screen.

A metric of a model is one number of its rows. Measures by group, such as the selection
rate, have their names in `fairdash.metrics.group.catalog`.
"""

ACCURACY = "accuracy"
PARITY = "demographic_parity_difference"
ODDS = "equalized_odds_difference"
OPPORTUNITY = "equal_opportunity_difference"
WORST = "worst_1_di"
MAIN = (ACCURACY, PARITY, WORST)  # what a model is judged by at first sight
METRIC_NAMES = {  # inside a sentence
    ACCURACY: "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "auc": "AUC",
    "log_loss": "log loss",
    PARITY: "gap",
    "demographic_parity_ratio": "demographic parity ratio",
    ODDS: "odds gap",
    OPPORTUNITY: "opportunity gap",
    WORST: "largest local gap",
    "worst_2_di": "mean of the 2 largest local gaps",
    "worst_3_di": "mean of the 3 largest local gaps",
}


def metric_title(metric: str) -> str:
    """Return the name of a metric as a label: "Largest local gap"."""
    name = METRIC_NAMES[metric]
    return f"{name[0].upper()}{name[1:]}"
