"""What a search of subgroups found of a stored model, in words and as a table."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from fairdash._validation import value_label
from fairdash._wording import count, number, plural
from fairdash.audits.subgroups.counts import Condition, describe
from fairdash.audits.subgroups.find import SEARCHED_MEASURES, find_subgroups
from fairdash.datasets import Subgroups
from fairdash.metrics import (
    MEASURE_NAMES,
    MEASURES,
    Finding,
    Speech,
    error_costs,
    measure_by_group,
    sentence,
)
from fairdash.results import (
    Setting,
    Tested,
    on_all_rows,
    remember_search,
    rows_of,
    tested,
)
from fairdash.store import Store

ALPHA = 0.05
Part = Literal["test", "validation"]
SEARCH_WARNING = (
    "A guarantee that is tested on the rows searched here holds only for subgroups "
    "chosen before the search, not for those it finds."
)
_LISTED = 8
_IN_TREE = 5  # of those listed


@dataclass(frozen=True, eq=False)
class FoundSubgroups:
    """The list of `find_subgroups` for one model, measure and seed.

    The rows searched are the test or validation rows of ``seed``, or all where it is
    None; ``table`` has at most eight.
    """

    label: str
    measure: str
    seed: int | None
    n_rows: int
    table: pd.DataFrame
    tree: pd.DataFrame
    part: Part = "test"
    columns: Sequence[str] = ()  # that were searched

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
        return f"{plural(n, 'subgroup')} {has} beyond chance, among all searched"

    def verdict(self, speech: Speech) -> str:
        """Return who is worse off in the first subgroup, or what could be seen."""
        searched = count(self.table.attrs["n_searched"])
        rows = f"all {plural(self.n_rows, 'row')}"
        if self.seed is not None:
            rows = f"{plural(self.n_rows, f'{self.part} row')} of seed {self.seed}"
        first = self.table.iloc[0]
        if first["p_adjusted"] > ALPHA:
            return (
                f"None of {searched} subgroups has a gap beyond chance: one as far "
                f"from 0 as the first listed, {first['subgroup']}, comes up in "
                f"{_p(first['p_adjusted'])} of tables without any gap ({rows})."
            )
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
            f"Adjusted p = {_p(first['p_adjusted'])}, as the first of {searched} "
            f"subgroups searched ({rows})."
        )

    def caption(self) -> str:
        """Say what is drawn, and how chance was taken out."""
        skipped = self.table.attrs["skipped"]
        missing = f" Not searched: {', '.join(skipped)}." if skipped else ""
        return (
            f"{MEASURE_NAMES[self.measure]} of the two groups farthest apart, "
            f"{self.label}, with 95% intervals; each row is a part of the one it is "
            "indented under. Gap with simultaneous 95% interval. Adjusted p: the "
            "largest of all subgroups under permuted groups, step-down. What another "
            f"subgroup explains is not listed.{missing}"
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
    """Search the rows of a model's first seed for subgroups with a gap.

    All features are searched and the columns that describe subgroups, the sensitive
    one excepted.

    The store remembers that these rows were searched: see
    `fairdash.results.searched_words`.

    Raises ValueError if the measure is none of a rate, or no column can be searched.
    """
    if measure not in SEARCHED_MEASURES:
        known = measure in MEASURES or error_costs(measure)
        name = MEASURE_NAMES[measure] if known else measure
        names = ", ".join(MEASURE_NAMES[one].lower() for one in SEARCHED_MEASURES)
        raise ValueError(f"{name} is not searched; choose a rate: {names}.")
    seed = None if on_all_rows(model) else model.trials[0].seed
    first = tested(store, model, dataset_id, Subgroups())[0]
    found = searched(first, model.label, seed, measure, min_size)
    remember_search(
        first.rows,
        dataset_id,
        measure=measure,
        columns=found.columns,
        found={
            str(name): [one.column for one in conditions]
            for name, conditions in zip(
                found.table["subgroup"], found.table["conditions"], strict=True
            )
        },
    )
    return found


@lru_cache(maxsize=64)
def searched(
    trial: Tested,
    label: str,
    seed: int | None,
    measure: str,
    min_size: int,
    part: Part = "test",
) -> FoundSubgroups:
    """Search the rows of one trial, or the validation rows of its seed."""
    rows = rows_of(*trial[1:], part)
    dataset, roles = rows.dataset, rows.dataset.roles
    own = trial.store.dataset_record(trial.dataset_id).subgroups.columns
    names = dict.fromkeys([*roles.features, *own])
    searched = [n for n in names if n not in (roles.sensitive_feature, roles.target)]
    audited: Any = {
        "y_pred": rows.predictions(trial.key),
        "sensitive_features": rows.groups["sensitive_features"],
        "frame": dataset.frame.iloc[rows.where],
        "y_true": rows.y,
        "measure": measure,
    }
    table = find_subgroups(
        **audited,
        columns=searched,
        min_size=min_size,
        alpha=ALPHA,
        most=_LISTED,
        random_state=0,
    )
    tree = refinements(table, **audited)
    looked_at = [name for name in searched if name not in table.attrs["skipped"]]
    n = len(rows.where)
    return FoundSubgroups(label, measure, seed, n, table, tree, part, looked_at)


def _p(value: float) -> str:
    return number(value, 3)
