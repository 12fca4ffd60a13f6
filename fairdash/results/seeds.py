"""How far seeds of a model differ, where a page shows one of them."""

from collections.abc import Sequence

import numpy as np

from fairdash._wording import listing, plural
from fairdash.methods import CATALOG
from fairdash.results.models import Setting

SHOWN = {
    "test_accuracy": "accuracy",
    "test_demographic_parity_difference": "demographic parity difference",
    "test_worst_1_di": "Worst-1-DI",
}


def between_seeds(models: Sequence[Setting]) -> dict[str, float]:
    """Return by how much seeds differ at one setting, by metric on test rows.

    Parameters
    ----------
    models : sequence of Setting
        A seed is a split and a start of its own, so that both are in the figure; of
        several starts on a split a setting has the first.

    Returns
    -------
    dict of str to float
        Standard deviation over seeds, n - 1 in the denominator; of several settings
        their root mean square. Metrics that no setting has on two seeds are not there.
    """
    found = {}
    for metric in SHOWN:
        variances = []
        for model in models:
            rows = [trial.row or {} for trial in model.trials]
            values = np.array([row.get(metric, np.nan) for row in rows], dtype=float)
            values = values[np.isfinite(values)]
            if len(values) > 1:
                variances.append(values.var(ddof=1))
        if variances:
            found[metric] = float(np.sqrt(np.mean(variances)))
    return found


def one_of_seeds(model: Setting, models: Sequence[Setting]) -> str:
    """Say how far other seeds differ from the one that is shown.

    Parameters
    ----------
    model : Setting
        Of which one seed is shown.
    models : sequence of Setting
        All of the data set: of those of the same method, trained alike, it is known
        when the model has one seed alone.
    """
    own = between_seeds([model])
    if own:
        whose = f"The {plural(len(model.trials), 'seed')} of this model differ by"
    else:
        alike = [
            other
            for other in models
            if (other.method, other.trained) == (model.method, model.trained)
        ]
        own = between_seeds(alike)
        label = CATALOG[model.method].label
        if not own:
            return f"One seed: how far others of {label} differ is not known."
        whose = f"One seed: at other settings of {label} seeds differ by"
    spreads = listing([f"{value:.3f} in {SHOWN[name]}" for name, value in own.items()])
    return f"{whose} {spreads} (± 1 sd over splits and starts together, test rows)."
