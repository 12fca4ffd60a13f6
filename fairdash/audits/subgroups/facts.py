"""The search of subgroups of a stored model, in words and as a table."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from fairdash._wording import count, p_value, plural
from fairdash.analysis.subgroups import SEARCHED_MEASURES, find_subgroups
from fairdash.audits.trials.models import Setting
from fairdash.audits.trials.rows import Tested, rows_of, tested
from fairdash.datasets import Subgroups, split
from fairdash.metrics import MEASURES, Finding, Speech, catalog, sentence
from fairdash.store import Store

ALPHA = 0.05
_LISTED = 8
_PERMUTATIONS = 99


@dataclass(frozen=True, eq=False)
class FoundSubgroups:
    """The list of `find_subgroups` for one model, measure and seed.

    Attributes
    ----------
    seed : int or None
        Whose split says which rows are searched; None for all rows.
    n_rows, n_confirming : int
        Rows searched, and test rows that confirm; 0 where what is searched is tested on
        the same rows.
    """

    label: str
    measure: str
    seed: int | None
    n_rows: int
    table: pd.DataFrame
    n_confirming: int = 0

    @property
    def beyond(self) -> pd.DataFrame:
        """The subgroups whose gap is beyond chance."""
        return self.table[self.table["p_adjusted"] <= ALPHA]

    def verdict(self, speech: Speech) -> str:
        """Return who is worse off in the first subgroup, or what could be seen."""
        searched = count(self.table.attrs["n_searched"])
        rows = f"all {plural(self.n_rows, 'row')}"
        if self.n_confirming:
            rows = (
                f"{count(self.n_rows)} training and validation rows of seed "
                f"{self.seed} searched, {plural(self.n_confirming, 'test row')} confirm"
            )
        if self.beyond.empty:
            return f"None of {searched} subgroups has a gap beyond chance ({rows})."
        first = self.beyond.iloc[0]
        finding = Finding(
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
            f"{sentence(finding, speech)} Adjusted p "
            f"{p_value(first['p_adjusted'])}, {searched} subgroups searched. Rows: "
            f"{rows}."
        )

    def caption(self) -> str:
        """Say what is listed, and how chance was taken out."""
        skipped = self.table.attrs["skipped"]
        missing = f" Not searched: {', '.join(skipped)}." if skipped else ""
        adjusted = "the largest of all subgroups under permuted groups"
        if self.n_confirming:
            adjusted = "Holm's, for the list, on test rows, which were not searched"
        return (
            f"{catalog.MEASURE_NAMES[self.measure]} of the two groups farthest apart, "
            f"{self.label}. Gaps have simultaneous 95% intervals. Adjusted p: "
            f"{adjusted}. What another subgroup explains is not listed.{missing}"
        )

    def ranked(self) -> pd.DataFrame:
        """Return the list for a reader."""
        kind = "mean" if self.measure in catalog.NUMBER_MEASURES else "rate"
        names = {
            "subgroup": "Subgroup",
            "n": "Rows",
            "lower": "Lower group",
            "rate_lower": f"Its {kind}",
            "higher": "Higher group",
            "rate_higher": f"{kind.capitalize()} of that",
            "gap": "Gap",
            "ci_low": "Low",
            "ci_high": "High",
            "p_adjusted": "Adjusted p",
        }
        return self.table[list(names)].rename(columns=names)


def search_model(
    store: Store, model: Setting, dataset_id: str, measure: str, *, min_size: int = 50
) -> FoundSubgroups:
    """Search a model's decisions for subgroups with a gap.

    All features are searched and the columns that describe subgroups, the sensitive
    one excepted. Searched are the training and validation rows of the model's first
    seed, and its test rows confirm. Scores of the user's own that no model stands
    beside have no split: all rows are searched, and tested.

    Raises ValueError if the measure is not searched, no column can be searched, or
    nothing that is listed can be tested.
    """
    if measure not in SEARCHED_MEASURES:
        named = measure in MEASURES or catalog.error_costs(measure)
        name = catalog.MEASURE_NAMES[measure] if named else measure
        names = ", ".join(
            catalog.MEASURE_NAMES[rate].lower() for rate in SEARCHED_MEASURES
        )
        raise ValueError(f"{name} is not searched; choose one of {names}.")
    first = tested(store, model, dataset_id, Subgroups())[0]
    return _searched(first, model.label, measure, min_size)


@lru_cache(maxsize=64)
def _searched(trial: Tested, label: str, measure: str, min_size: int) -> FoundSubgroups:
    everyone = rows_of(trial.store, trial.dataset_id, None, trial.subgroups)
    seed = trial.model.split
    dataset, roles = everyone.dataset, everyone.dataset.roles
    part = trial.store.dataset_record(trial.dataset_id).subgroups.columns
    role_columns = (*roles.sensitive_columns(), roles.target)
    names = dict.fromkeys([*roles.features, *part])
    confirming = np.zeros(dataset.n_rows, bool)
    if seed is not None:
        confirming[split(dataset, seed).test] = True
    n = int(confirming.sum())
    columns: tuple[Any, Any] = everyone.y, everyone.predictions(trial.model)
    if measure in catalog.NUMBER_MEASURES:
        columns = everyone.numbers(trial.model, measure)
    table = find_subgroups(
        columns[1],
        sensitive_features=everyone.groups["sensitive_features"],
        frame=dataset.frame,
        y_true=columns[0],
        measure=measure,
        columns=[name for name in names if name not in role_columns],
        min_size=min_size,
        alpha=ALPHA,
        **everyone.sampling,
        confirm=confirming if n else None,
        n_permutations=_PERMUTATIONS,
        most=_LISTED,
        random_state=0,
    )
    table = table[(table["n_lower"] > 0) & (table["n_higher"] > 0)]
    if table.empty:
        raise ValueError(
            "What the search lists has no test rows of some group; choose a larger "
            "smallest size."
        )
    return FoundSubgroups(label, measure, seed, dataset.n_rows - n, table, n)
