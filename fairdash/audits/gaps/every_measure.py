"""Every measure of a model by group, as one table."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from fairdash import _wording as wording
from fairdash.audits.gaps.measured import (
    gaps_of,
    other_measures,
    recalibrated,
    speech_of,
    values_of,
    widest_gap,
)
from fairdash.audits.trials.memo import memoised
from fairdash.audits.trials.models import Setting
from fairdash.audits.trials.rows import Tested, tested
from fairdash.datasets import Subgroups
from fairdash.metrics import MEASURES, Finding, Speech, catalog, intervals, sentence
from fairdash.store import Store

_RATIO = ["ratio", "ratio_low", "ratio_high"]
_NAMED = ("Model", "Measure", "Gap of", "Gap", "Low", "High", "Ratio", "Four fifths")


def every_measure(
    store: Store,
    model: Setting,
    dataset_id: str,
    *,
    favourable: bool = True,
    reference: str | None = None,
    also: str = "selection_rate",
) -> pd.DataFrame:
    """Return every measure of a model by group, over all rows it is looked at.

    Over several seeds values and ends of intervals are means. Gaps are from the
    ``reference``, by default from the group that is best off. An error cost with its
    weights, ``also``, is one measure more.

    Returns
    -------
    DataFrame, one row per measure: measure, symbol, values (by group), group, other,
    gap (signed: the group furthest from the reference minus that one, the other, both
    as a sentence calls them), ci_low, ci_high, ratio,
    ratio_low, ratio_high (the value of that group over that of the other), four_fifths
    (where the ratio of favourable decisions is by the rule of thumb; of the selection
    rate only), sentence
    """
    speech = speech_of(store, dataset_id)
    rows = []
    measures = (*other_measures(store, model, dataset_id), *MEASURES, also)
    for measure in dict.fromkeys(measures):
        by_groups = _by_groups(
            store, model, dataset_id, measure, favourable, reference, speech
        )
        symbols = catalog.MEASURE_SYMBOLS[measure], recalibrated(model, measure)
        names = {
            "measure": catalog.MEASURE_NAMES[measure],
            "symbol": " · ".join(filter(None, symbols)),
        }
        rows.append(names | by_groups)
    return pd.DataFrame(rows)


@memoised(2000)
def _by_groups(
    store: Store,
    model: Setting,
    dataset_id: str,
    measure: str,
    favourable: bool,
    reference: str | None,
    speech: Speech,
) -> dict[str, Any]:
    gap = widest_gap(
        store, model, dataset_id, measure, favourable=favourable, reference=reference
    )
    trials = tested(store, model, dataset_id, Subgroups())
    ratio = _ratio_of(trials, gap)
    fifths = ""
    if measure == "selection_rate":  # the rule is of favourable decisions
        spared = ratio if favourable else _ratio_of(trials, gap, rejected=True)
        fifths = wording.four_fifths(spared["ratio"], spared["ratio_high"])
    return {
        "values": tuple(values_of(store, model, dataset_id, measure)["value"]),
        "group": wording.group_label(speech.feature, gap.group),
        "other": wording.group_label(speech.feature, gap.reference),
        "gap": gap.value,
        "ci_low": gap.low,
        "ci_high": gap.high,
        **ratio,
        "four_fifths": fifths,
        "sentence": sentence(gap, speech),
    }


def _ratio_of(
    trials: Sequence[Tested], gap: Finding, *, rejected: bool = False
) -> dict[str, float]:
    n_groups = len(trials[0].rows.dataset.group_names)
    level = intervals.for_all_pairs(0.95, n_groups)
    options = gap.measure, gap.reference, level, rejected
    rows = pd.concat([gaps_of(trial, *options) for trial in trials])
    mean = rows.loc[rows["group"] == gap.group, _RATIO].mean()
    return dict(zip(_RATIO, map(float, mean), strict=True))


def readable_measures(
    table: pd.DataFrame, groups: Sequence[str], feature: str
) -> pd.DataFrame:
    """Return the table of `every_measure` with readable names.

    Intervals are of gaps; each row says which groups its gap and ratio are of.
    """
    by_group = wording.headed(table, ("model", "measure"))
    labels = wording.distinct_labels(feature, groups, _NAMED)
    for index, label in enumerate(labels):
        by_group[label] = [values[index] for values in table["values"]]
    by_group["Gap of"] = [
        f"{row['group']} {wording.MINUS} {row['other']}"
        if np.isfinite(row["gap"])
        else wording.UNDEFINED
        for row in table.to_dict("records")
    ]
    columns = ("gap", "ci_low", "ci_high", "ratio", "four_fifths", "sentence", "symbol")
    headings = {"sentence": "In words", "symbol": "Definition"}
    return pd.concat([by_group, wording.headed(table, columns, **headings)], axis=1)
