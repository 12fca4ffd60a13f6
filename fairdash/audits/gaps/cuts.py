"""Whether the largest local gap hangs on how subgroups are cut, for two models."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import pandas as pd

from fairdash._validation import CROSS
from fairdash._wording import gap_size, number, plural
from fairdash.audits.answer import Answer, Drawing
from fairdash.audits.gaps.by_subgroup import local_by_measure
from fairdash.audits.trials.models import Setting
from fairdash.audits.trials.own_settings import beside_trained
from fairdash.datasets import Dataset, Subgroups, default_width, has_bins
from fairdash.metrics import catalog
from fairdash.store import Store

FACTORS = (0.5, 1.0, 1.5, 2.0)  # of the width of bins, as in the ROAD paper's figure 5
MOST_CUTS = 16
_CROSSED = 2  # columns with which numbers are crossed, if the subgroups have fewer
_HOW = """
Each row cuts the subgroups in another way: bins of other widths, columns alone and
crossed. A mark is the **largest gap** of a model among them. The stroke is what a fair
model stays below in 95% of cases: more and smaller subgroups reach more by chance. A
finding that hangs on one way of cutting is a weak one.
"""


@dataclass(frozen=True)
class Cut:
    """One way to cut subgroups, in words and as a definition."""

    words: str
    subgroups: Subgroups


def cuts_of(dataset: Dataset, subgroups: Subgroups) -> list[Cut]:
    """Return ways to cut the columns of some subgroups, at most 16.

    Each number in bins of four sizes; each set of other columns alone and crossed with
    it. Further columns that describe subgroups of the data set are crossed as well, up
    to two. The subgroups themselves come first.
    """
    numbers = [
        name
        for name in subgroups.columns
        if has_bins(dataset.frame[name]) or name in _binned(subgroups)
    ]
    categories = [name for name in subgroups.columns if name not in numbers]
    further = [
        name
        for name in dataset.roles.subgroup_columns
        if name not in subgroups.columns and not has_bins(dataset.frame[name])
    ]
    categories += further[: max(0, _CROSSED - len(categories))]
    crossings = [
        crossing
        for size in range(len(categories) + 1)
        for crossing in combinations(categories, size)
    ]
    ways = [Cut("as chosen", subgroups)]
    for crossing in crossings:
        if crossing:
            ways.append(_cut(subgroups, crossing, {}))
        for name in numbers:
            ways += _bins_of(dataset, subgroups, crossing, name)
    return _distinct(dataset, ways)[:MOST_CUTS]


def over_cuts(
    store: Store,
    models: Sequence[Setting],
    dataset_id: str,
    subgroups: Subgroups,
    measure: str = "selection_rate",
) -> pd.DataFrame:
    """Return the largest gap of the first and the last model by every way to cut.

    Returns
    -------
    DataFrame
        One row per cut and model: cut, model, colour_role, gap, low, high, chance (the
        95th percentile of a fair model) and n_subgroups that are estimable. Cuts by
        which nothing is estimable are left out.
    """
    ends = [models[0], models[-1]] if len(models) > 1 else list(models)
    rows = []
    for cut in cuts_of(store.dataset(dataset_id), subgroups):
        for model in ends:
            local = local_by_measure(store, [model], dataset_id, cut.subgroups, measure)
            rows.append(
                {
                    "cut": cut.words,
                    "model": local.label,
                    "colour_role": model.colour_role,
                    "gap": float(local.row["worst_1"]),
                    "low": float(local.row["worst_1_low"]),
                    "high": float(local.row["worst_1_high"]),
                    "chance": local.chance,
                    "n_subgroups": int(local.model_gaps["estimable"].sum()),
                }
            )
    table = pd.DataFrame(rows)
    return table[table["gap"].notna()].reset_index(drop=True)


def cuts_answer(
    store: Store,
    models: Sequence[Setting],
    dataset_id: str,
    subgroups: Subgroups,
    measure: str = "selection_rate",
) -> Answer:
    """Return whether the largest gap hangs on how subgroups are cut."""
    table = over_cuts(store, beside_trained(models), dataset_id, subgroups, measure)
    in_points = catalog.measure_of(measure).in_points
    style = gap_size if in_points else number
    return Answer(
        cuts_brief(table),
        figure=Drawing("plot_cuts", table, {"points": in_points}),
        caption="; ".join(
            f"{name}: {style(gaps.min())} to {style(gaps.max())}"
            for name, gaps in table.groupby("model", sort=False)["gap"]
        ),
        how=_HOW,
    )


def cuts_brief(table: pd.DataFrame) -> str:
    """Say in how many cuts the gap is beyond chance, and the last model below."""
    if table.empty:
        return "No subgroup is estimable by any of these cuts."
    names = list(dict.fromkeys(table["model"]))
    last = table[table["model"] == names[-1]]
    n_beyond = int((last["gap"] > last["chance"]).sum())
    beyond_chance = (
        f"The largest gap of {names[-1]} is beyond chance by {n_beyond} of "
        f"{plural(len(last), 'cut')}."
    )
    if len(names) < 2:
        return beyond_chance
    before = table[table["model"] == names[0]].set_index("cut")["gap"]
    pairs = last.set_index("cut")["gap"].to_frame("after").join(before, how="inner")
    n_below = int((pairs["after"] < pairs["gap"]).sum())
    return (
        f"{beyond_chance} It is below that of {names[0]} by {n_below} of {len(pairs)}."
    )


def _binned(subgroups: Subgroups) -> set[str]:
    return {*subgroups.widths, *subgroups.quantiles, *subgroups.cuts}


def _bins_of(
    dataset: Dataset, subgroups: Subgroups, crossing: tuple[str, ...], name: str
) -> Iterator[Cut]:
    usual = default_width(dataset.frame[name], dataset.people)
    width = subgroups.widths.get(name, usual)
    for factor in FACTORS:
        words = f"{name} by {factor * width:g}"
        yield _cut(subgroups, (name, *crossing), {name: factor * width}, words)


def _cut(
    subgroups: Subgroups,
    columns: tuple[str, ...],
    widths: dict[str, float],
    words: str = "",
) -> Cut:
    plain = [name for name in columns if name not in widths]
    cut = replace(subgroups, columns=columns, widths=widths, quantiles={}, cuts={})
    return Cut(CROSS.join(filter(None, [words, *plain])), cut)


def _distinct(dataset: Dataset, ways: Sequence[Cut]) -> list[Cut]:
    """Leave out cuts that put the same rows together as an earlier one."""
    seen: set[bytes] = set()
    result = []
    for way in ways:
        codes = dataset.label_subgroups(way.subgroups).cat.codes.to_numpy()
        key = np.unique(codes, return_inverse=True)[1].tobytes()
        if key not in seen:
            seen.add(key)
            result.append(way)
    return result
