"""One sentence on a model: what it changes, who is worse off by it, how surely."""

from collections.abc import Mapping
from math import isfinite
from typing import Any

import pandas as pd

from fairdash._wording import alike_words, moved_words, plural
from fairdash.datasets import Subgroups
from fairdash.metrics import gap_ends, gap_words
from fairdash.results.evaluation import (
    MOST_SEEDS,
    metrics_by_setting,
    paired_changes,
)
from fairdash.results.measured import widest_gap
from fairdash.results.models import Setting, on_shared_seeds
from fairdash.store import Store


def model_verdict(
    store: Store,
    model: Setting,
    reference: Setting | None,
    dataset_id: str,
    subgroups: Subgroups,
) -> str:
    """Return `verdict_words` of a model on the seeds that it shares with a reference.

    Parameters
    ----------
    store : Store
    model : Setting
    reference : Setting or None
        The plain model, if one was trained on a seed of it.
    dataset_id : str
    subgroups : Subgroups
    """
    changes = None
    if reference is not None:
        reference, model = on_shared_seeds([reference, model]).models
        changes = paired_changes(store, model, reference, dataset_id, subgroups)
    table = metrics_by_setting(store, [model], dataset_id, subgroups)
    gap = widest_gap(store, model, dataset_id, weighted=False)
    return verdict_words(table.to_dict("records")[0], changes, gap)


def verdict_words(
    row: Mapping[Any, Any], changes: pd.DataFrame | None, gap: Mapping[Any, Any]
) -> str:
    """Say what a model changes beside the plain one, and who is worse off by it.

    A gap narrows or widens, accuracy rises or falls, and a group is worse off, only
    where a 95% interval excludes 0; else the interval is told.

    Parameters
    ----------
    row : mapping
        Of `metrics_by_setting`.
    changes : DataFrame or None
        Of `paired_changes`.
    gap : mapping
        Of `widest_gap`, of the selection rate.
    """
    label, rows = row["label"], plural(round(row["n"]), "test row")
    if row.get("constant", 0) > MOST_SEEDS:
        return alike_words(label)
    if row["n_seeds"] > 1:
        rows = f"mean of {row['n_seeds']:.0f} seeds of {rows}"
    rows = f"95% intervals, {rows}"
    if changes is None:
        return f"By {label}, {gap_clause(gap)}; {rows}."
    paired = changes.set_index("metric").to_dict("index")
    apart, accuracy = paired["demographic_parity_difference"], paired["accuracy"]
    return (
        f"Beside the plain model {label} "
        f"{moved_words(apart, 'narrows', 'widens', 'the gap between groups')} and "
        f"{moved_words(accuracy, 'loses', 'gains', 'accuracy')}. "
        f"With it {gap_clause(gap)}; {rows}."
    )


def gap_clause(gap: Mapping[Any, Any]) -> str:
    """Say who has less than whom with the interval, or that no gap is clear."""
    if not isfinite(gap["gap"]):
        return "the gap between groups is undefined"
    clause = gap_words(
        "selection_rate", gap["group"], gap["other"], gap["gap"], decided=gap["decided"]
    )
    ends = gap_ends("selection_rate", gap["gap"], gap["ci_low"], gap["ci_high"])
    if not (gap["ci_low"] > 0 or gap["ci_high"] < 0):
        return f"no gap between groups is clear: {clause} ({ends})"
    return f"{clause} ({ends})"
