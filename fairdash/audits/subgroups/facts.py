"""What a search of subgroups found of a stored model, in words and as a table."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from fairdash._validation import value_label
from fairdash._wording import count, number, plural
from fairdash.audits.subgroups.counts import Condition, describe
from fairdash.audits.subgroups.find import SEARCHED_MEASURES, find_subgroups
from fairdash.audits.trials.models import Setting
from fairdash.audits.trials.rows import ALL_ROWS, Tested, rows_of, split_seed, tested
from fairdash.datasets import Subgroups, split
from fairdash.metrics import (
    MEASURE_NAMES,
    MEASURES,
    Finding,
    Speech,
    error_costs,
    measure_by_group,
    sentence,
)
from fairdash.store import Store

ALPHA = 0.05
_LISTED = 8
_IN_TREE = 5  # of those listed


@dataclass(frozen=True, eq=False)
class FoundSubgroups:
    """The list of `find_subgroups` for one model, measure and seed.

    ``table`` has at most eight subgroups.

    Attributes
    ----------
    seed : int or None
        Whose split says which rows are searched; None for all rows.
    n_rows : int
        Rows searched.
    tree : DataFrame
        As of `refinements`, on the rows that confirm, else on those searched.
    n_confirming : int
        Test rows of the seed that confirm, which the search does not see; 0 where what
        is searched is tested on the same rows.
    """

    label: str
    measure: str
    seed: int | None
    n_rows: int
    table: pd.DataFrame
    tree: pd.DataFrame
    n_confirming: int = 0

    @property
    def beyond(self) -> pd.DataFrame:
        """The subgroups whose gap is beyond chance."""
        return self.table[self.table["p_adjusted"] <= ALPHA]

    def headline(self) -> str:
        """Return how many subgroups are beyond chance, in at most 70 characters."""
        n = len(self.beyond)
        if not n:
            return "No subgroup has a gap that is beyond chance"
        has = "has a gap" if n == 1 else "have a gap"
        where = "on test rows" if self.n_confirming else "among all searched"
        return f"{plural(n, 'subgroup')} {has} beyond chance, {where}"

    def verdict(self, speech: Speech) -> str:
        """Return who is worse off in the first subgroup, or what could be seen."""
        searched = count(self.table.attrs["n_searched"])
        rows, listed = self._rows(), plural(len(self.table), "subgroup")
        if self.beyond.empty:
            if self.n_confirming:
                return (
                    f"No gap beyond chance: a search of {searched} subgroups listed "
                    f"{len(self.table)}, and test rows confirm none ({rows})."
                )
            first = self.table.iloc[0]
            return (
                f"None of {searched} subgroups has a gap beyond chance: one as far "
                f"from 0 as the first listed, {first['subgroup']}, comes up in "
                f"{_p(first['p_adjusted'])} of tables without any gap ({rows})."
            )
        first = self.beyond.iloc[0]
        chance = f"as the first of {searched} subgroups searched"
        if self.n_confirming:
            chance = f"for {listed} of the {searched} searched"
        found = Finding(
            self.measure,
            str(first["subgroup"]),
            str(first["lower"]),
            str(first["higher"]),
            -float(first["gap"]),
            -float(first["ci_high"]),
            -float(first["ci_low"]),
            int(first["n"]),
        )
        return (
            f"{sentence(found, speech)} "
            f"Adjusted p = {_p(first['p_adjusted'])}, {chance} ({rows})."
        )

    def _rows(self) -> str:
        """Return which rows were searched, and which confirm."""
        if self.seed is None:
            return f"all {plural(self.n_rows, 'row')}"
        if not self.n_confirming:
            return f"{plural(self.n_rows, 'validation row')} of seed {self.seed}"
        return (
            f"{count(self.n_rows)} training and validation rows of seed {self.seed} "
            f"searched, {plural(self.n_confirming, 'test row')} confirm"
        )

    def caption(self) -> str:
        """Say what is drawn, and how chance was taken out."""
        skipped = self.table.attrs["skipped"]
        missing = f" Not searched: {', '.join(skipped)}." if skipped else ""
        adjusted = "the largest of all subgroups under permuted groups, step-down"
        if self.n_confirming:
            adjusted = "Holm's, for the list, on test rows, which were not searched"
        return (
            f"{MEASURE_NAMES[self.measure]} of the two groups farthest apart, "
            f"{self.label}, with 95% intervals; each row is a part of the one it is "
            "indented under. Gap with simultaneous 95% interval. Adjusted p: "
            f"{adjusted}. What another subgroup explains is not listed.{missing}"
        )

    def ranked(self) -> pd.DataFrame:
        """Return the list for a reader."""
        names = {
            "subgroup": "Subgroup",
            "n": "Rows",
            "lower": "Lower group",
            "rate_lower": "Its rate",
            "higher": "Higher group",
            "rate_higher": "Rate of that",
            "gap": "Gap",
            "ci_low": "Low",
            "ci_high": "High",
            "p_adjusted": "Adjusted p",
        }
        return self.table[list(names)].rename(columns=names)


def refinements(
    table: pd.DataFrame,
    y_pred: ArrayLike,
    *,
    sensitive_features: ArrayLike,
    frame: pd.DataFrame,
    y_true: ArrayLike | None,
    measure: str,
) -> pd.DataFrame:
    """Return what leads to found subgroups, condition by condition, as a tree.

    Every step takes the condition under which the two groups of the subgroup are
    farthest apart, or one that an earlier path has taken.

    Returns
    -------
    DataFrame, depth first: ``level`` (0 is all rows), ``subgroup`` (what is added),
    ``n``, ``lower``, ``higher``; of each of these ``rate_``, ``n_``, ``low_`` and
    ``high_`` (95% interval); ``gap``; ``ci_low``, ``ci_high`` and ``p_adjusted`` of
    ``table``, NaN where the node is not listed.
    """
    decided, groups = np.asarray(y_pred), np.asarray(sensitive_features)
    outcome = None if y_true is None else np.asarray(y_true)
    nodes: dict[tuple[Condition, ...], dict[str, Any]] = {}

    def node(path: tuple[Condition, ...], found: Any) -> dict[str, Any]:
        inside = np.ones(len(frame), bool)
        for one in path:
            inside &= one.holds(frame)
        y = None if outcome is None else outcome[inside]
        rates = measure_by_group(
            measure, y, decided[inside], sensitive_features=groups[inside]
        )
        rates.index = [value_label(group) for group in rates["group"]]
        told: dict[str, Any] = {
            "level": len(path),
            "subgroup": describe(path[-1:]),
            "n": int(rates["n"].sum()),
        }
        for side in ("lower", "higher"):
            own = rates.loc[found[side]]
            names = (
                ("value", "rate"),
                ("n", "n"),
                ("ci_low", "low"),
                ("ci_high", "high"),
            )
            told |= {f"{name}_{side}": own[column] for column, name in names}
            told[side] = found[side]
        told["gap"] = told["rate_higher"] - told["rate_lower"]
        return told | dict.fromkeys(("ci_low", "ci_high", "p_adjusted"), np.nan)

    for found in table.head(_IN_TREE).to_dict("records"):
        path: tuple[Condition, ...] = ()
        nodes.setdefault(path, node(path, found))
        while left := [one for one in found["conditions"] if one not in path]:
            steps = {(*path, one): nodes.get((*path, one)) for one in left}
            taken = {step for step, known in steps.items() if known}
            new = {step: known or node(step, found) for step, known in steps.items()}
            path = max(taken or new, key=lambda step: abs(new[step]["gap"]))
            nodes.setdefault(path, new[path])
        listed = ("ci_low", "ci_high", "p_adjusted")
        nodes[path] = node(path, found) | {name: found[name] for name in listed}
    rank = {path: i for i, path in enumerate(nodes)}
    deep = sorted(
        nodes, key=lambda path: [rank[path[: i + 1]] for i in range(len(path))]
    )
    return pd.DataFrame([nodes[path] for path in deep])


def search_model(
    store: Store, model: Setting, dataset_id: str, measure: str, *, min_size: int = 50
) -> FoundSubgroups:
    """Search a model's decisions for subgroups with a gap.

    All features are searched and the columns that describe subgroups, the sensitive
    one excepted. Searched are the training and validation rows of the model's first
    seed, and its test rows confirm: no test row goes into the list, so a guarantee that
    is tested on them may name what the search lists. Scores of the user's own that no
    model stands beside have no split: all rows are searched, and tested.

    Raises ValueError if the measure is none of a rate, no column can be searched, or
    nothing that is listed can be tested.
    """
    if measure not in SEARCHED_MEASURES:
        known = measure in MEASURES or error_costs(measure)
        name = MEASURE_NAMES[measure] if known else measure
        names = ", ".join(MEASURE_NAMES[one].lower() for one in SEARCHED_MEASURES)
        raise ValueError(f"{name} is not searched; choose a rate: {names}.")
    first = tested(store, model, dataset_id, Subgroups())[0]
    return searched(first, model.label, split_seed(model), measure, min_size)


@lru_cache(maxsize=64)
def searched(
    trial: Tested,
    label: str,
    seed: int | None,
    measure: str,
    min_size: int,
    part: Literal["all", "validation"] = "all",
) -> FoundSubgroups:
    """Search what a trial decides.

    Of ``part`` "all" the test rows of ``seed`` confirm; without a seed, and of
    validation rows, none do.
    """
    everyone = rows_of(trial.store, trial.dataset_id, ALL_ROWS, trial.subgroups)
    dataset, roles = everyone.dataset, everyone.dataset.roles
    own = trial.store.dataset_record(trial.dataset_id).subgroups.columns
    names = dict.fromkeys([*roles.features, *own])
    columns = [n for n in names if n not in (roles.sensitive_feature, roles.target)]
    where, confirming = everyone.where, np.zeros(dataset.n_rows, bool)
    if part == "validation":
        where = split(dataset, trial.seed).validation
    elif seed is not None:
        confirming[split(dataset, seed).test] = True
    decided = everyone.predictions(trial.key)

    def audited(where: NDArray[np.int64]) -> dict[str, Any]:
        return {
            "y_pred": decided[where],
            "sensitive_features": everyone.groups["sensitive_features"][where],
            "frame": dataset.frame.iloc[where],
            "y_true": everyone.y[where],
            "measure": measure,
        }

    confirm = confirming[where]
    table = find_subgroups(
        **audited(where),
        columns=columns,
        min_size=min_size,
        alpha=ALPHA,
        confirm=confirm if confirm.any() else False,
        most=_LISTED,
        random_state=0,
    )
    table = table[(table["n_lower"] > 0) & (table["n_higher"] > 0)]
    if table.empty:
        raise ValueError(
            "What the search lists has no test rows of some group; choose a larger "
            "smallest size."
        )
    shown = where[confirm] if confirm.any() else where
    tree = refinements(table, **audited(shown))
    n = int(confirm.sum())
    return FoundSubgroups(label, measure, seed, len(where) - n, table, tree, n)


def _p(value: float) -> str:
    return number(value, 3)
