"""How scores become decisions: a rule that the user chooses, learned on other rows."""

from dataclasses import dataclass
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray

from fairdash._arrays import FloatArray
from fairdash._validation import check_one_of

RuleKind = Literal["half", "as_many", "top", "costs", "custom"]
RULE_NAMES: dict[RuleKind, str] = {
    "half": "Above 0.5",
    "as_many": "As many as in training",
    "top": "Top share",
    "costs": "Costs of errors",
    "custom": "Custom threshold",
}
_START = {"half": 0.5, "as_many": 0.0, "top": 20.0, "costs": 1.0, "custom": 0.5}
_RANGE = {"top": (0.0, 100.0), "costs": (0.0, np.inf), "custom": (-np.inf, np.inf)}


@dataclass(frozen=True)
class DecisionRule:
    """Where the threshold of a model's scores stands.

    ``half`` decides 1 above one half, the usual; a random mixture draws with its chance
    instead. ``as_many`` accepts the share of rows
    that have the outcome among training rows, ``top`` the ``value`` percent with the
    largest scores. ``costs`` minimises false positives times ``value`` plus false
    negatives. ``custom`` decides 1 above ``value``. The threshold of ``as_many``,
    ``top`` and ``costs`` is learned on validation rows.

    Raises ValueError for an unknown kind, or a value out of its range.

    Examples
    --------
    >>> DecisionRule("top", 20).text
    'top 20'
    >>> DecisionRule.of("costs 3").words()
    'one wrong 1 costs as much as 3 wrong 0s'
    """

    kind: RuleKind = "half"
    value: float | None = None

    def __post_init__(self) -> None:
        check_one_of("kind", self.kind, RULE_NAMES)
        if self.value is None:
            object.__setattr__(self, "value", _START[self.kind])
        low, high = _RANGE.get(self.kind, (-np.inf, np.inf))
        if not (low < self.amount < high):
            raise ValueError(
                f"`value` of the rule {self.kind!r} must lie between {low:g} and "
                f"{high:g}, got {self.value!r}."
            )

    @classmethod
    def of(cls, text: str | None) -> Self:
        """Return the rule that `text` names; None is the usual one."""
        kind, _, value = (text or "half").partition(" ")
        try:
            return cls(kind, float(value) if value else None)  # type: ignore[arg-type]
        except ValueError as error:
            raise ValueError(f"{text!r} is no decision rule: {error}") from error

    @property
    def amount(self) -> float:
        """The value, as a number."""
        return _START[self.kind] if self.value is None else float(self.value)

    @property
    def text(self) -> str:
        """The rule for an address or a key, such as "top 20"; `of` reads it."""
        if self.kind not in _RANGE:
            return self.kind
        short = f"{self.amount:g}"
        # six digits are not every threshold, and what is kept is kept by its text
        exact = short if float(short) == self.amount else repr(self.amount)
        return f"{self.kind} {exact}"

    @property
    def usual(self) -> bool:
        """Whether it is what papers do."""
        return self.kind == "half"

    def words(self) -> str:
        """Say which rows are decided 1."""
        amount = f"{self.amount:g}"
        return {
            "half": "scores above 0.5, of a random mixture by draw",
            "as_many": "as many as have the outcome in the training rows",
            "top": f"the top {amount}% of scores",
            "costs": f"one wrong 1 costs as much as {amount} wrong 0s",
            "custom": f"scores above {amount}",
        }[self.kind]

    def threshold(
        self,
        scores: NDArray[np.floating],
        y: NDArray[np.int8],
        *,
        base_rate: float,
        sample_weight: FloatArray | None = None,
    ) -> float:
        """Return the score above which rows are decided 1.

        Parameters
        ----------
        scores, y, sample_weight : arrays of shape (n_rows,)
            Validation rows.
        base_rate : float
            Share of training rows with the outcome, which ``as_many`` accepts.
        """
        if self.kind in ("half", "custom"):
            return self.amount
        weight = np.ones(len(scores)) if sample_weight is None else sample_weight
        levels, place = np.unique(scores.astype(np.float64), return_inverse=True)
        cuts = np.concatenate([[levels[0] - 1.0], levels])  # accept above a cut
        if self.kind == "costs":
            wrong = np.where(y == 1, weight, -self.amount * weight)
            change = np.bincount(place, wrong, minlength=len(levels))
            # of the cuts of equal cost the one that accepts fewest
            cost = np.concatenate([[0.0], np.cumsum(change)])
            best = len(cost) - 1 - int(np.argmin(cost[::-1]))
            return float(cuts[best])
        share = base_rate if self.kind == "as_many" else self.amount / 100
        mass = np.bincount(place, weight, minlength=len(levels))
        above = 1 - np.concatenate([[0.0], np.cumsum(mass)]) / mass.sum()
        return float(cuts[int(np.abs(above - share).argmin())])


USUAL = DecisionRule()
