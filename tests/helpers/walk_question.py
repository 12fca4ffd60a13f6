"""What a page is asked by its controls: rule, subgroups, measure, seeds."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fairdash.audits import DecisionRule
from fairdash.datasets import Subgroups
from fairdash.scored import USUAL

_AMOUNTS = {
    "top": "Percent decided 1",
    "costs": "Wrong 0s a wrong 1 is worth",
    "custom": "Threshold",
}

# the control of a page that picks one seed; others are about all
_SEEDS = {
    "Local fairness": "Seed",
    "Individual fairness": "People of",
    "Weights": "Seed",
}


@dataclass(frozen=True)
class Question:
    """A question about a model; what is None is as the sweep has it."""

    rule: DecisionRule = USUAL
    measure: str = "selection_rate"
    seed: int | None = None
    columns: tuple[str, ...] | None = None
    min_size: int | None = None

    @classmethod
    def of(cls, page: str, controls: Mapping[str, Any]) -> "Question":
        """Return the question that stands in the controls of a page."""
        kind = controls.get("Decided 1", "half")
        amount = controls.get(_AMOUNTS.get(kind, ""))
        columns = controls.get("Columns")
        seed = int(controls.get(_SEEDS.get(page, ""), -1))
        if page != "Local fairness":  # others are about one measure
            rule = DecisionRule(kind, amount)
            return cls(rule, seed=None if seed < 0 else seed)
        return cls(
            DecisionRule(kind, amount),
            str(controls.get("Measure", "selection_rate")),
            None if seed < 0 else seed,
            None if columns is None else tuple(columns),
            controls.get("Smallest subgroup"),
        )

    def subgroups(self, start: Subgroups) -> Subgroups:
        """Return the subgroups in question, cut as those of the sweep."""
        changed: dict[str, Any] = {}
        if self.columns is not None:
            changed["columns"] = self.columns
            for way in ("widths", "quantiles", "cuts"):
                cuts = getattr(start, way)
                changed[way] = {n: c for n, c in cuts.items() if n in self.columns}
        if self.min_size is not None:
            changed["min_size"] = int(self.min_size)
        return start.model_copy(update=changed)
