"""Whether the decisions of a model say anything, and how that is said.

There are three facts. A model *decides alike* where it accepts all or none, or nearly
so: its gaps are small because nearly everybody gets the same decision. It is *as
guessing* where its decisions are not clearly better than chance. Any other decides.
Over seeds a fact is one of the model where it holds in most of them; where most seeds
do not decide, some for one reason and some for the other, both reasons are *mixed*.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairdash._wording import percent

ACCEPTS_ALL = "accepts all"
ACCEPTS_NONE = "accepts none"
NEARLY_ALL = "accepts nearly all"
NEARLY_NONE = "accepts nearly none"
AS_CHANCE = "no better than chance"
DECIDES = ""
ALIKE = frozenset({ACCEPTS_ALL, ACCEPTS_NONE, NEARLY_ALL, NEARLY_NONE})
MOST_SEEDS = 0.5  # share of seeds beyond which a fact is one of the model
_RARE = 0.1  # of the rarer outcome's share, below which decisions are nearly alike
# With one seed, nearly alike is beyond these: the rarer outcome is half of the rows at
# most. A mean between them is one of seeds that accept all with seeds that do not.
_BETWEEN = (_RARE / 2, 1 - _RARE / 2)
_RARE_OUTCOME = 0.1  # where no outcome is known
_NOTHING = "so its gaps say nothing"


def nearly_alike(accepted: ArrayLike, base_rate: ArrayLike) -> NDArray[np.bool_]:
    r"""Return whether decisions are alike for all rows or nearly all.

    They are where the rarer decision is less than a tenth as frequent as the rarer
    outcome, :math:`\min(a, 1 - a) < \min(b, 1 - b) / 10`, or does not occur.

    Parameters
    ----------
    accepted, base_rate : array-like of shares, of one shape
        Rows that are accepted, a, and rows that have the outcome, b.
    """
    a = np.asarray(accepted, float)
    b = np.asarray(base_rate, float)
    rarer_decision = np.minimum(a, 1 - a)
    rarer_outcome = np.minimum(b, 1 - b)
    return (rarer_decision <= 0) | (rarer_decision < _RARE * rarer_outcome)


@dataclass(frozen=True)
class Deciding:
    """Facts of a model's decisions, of one seed or a mean over several.

    Attributes
    ----------
    alike : bool
        Whether it accepts all or none, or nearly so.
    guessing : bool
        Whether it is not clearly better than guessing, though it decides differently
        for different people.
    mixed : bool
        Whether most seeds are of one kind or the other, but neither kind is most.
    accepted : float
        Share of rows that it accepts.
    balanced_accuracy : float
        0.5 is that of guessing.

    Examples
    --------
    >>> row = {"constant": 1.0, "alike": 1.0, "accepted": 0.992}
    >>> Deciding.of(row).brief("ROAD λ 6")
    'ROAD λ 6 accepts 99%, nearly everyone, so its gaps say nothing.'
    """

    alike: bool = False
    guessing: bool = False
    accepted: float = float("nan")
    balanced_accuracy: float = float("nan")
    mixed: bool = False

    @classmethod
    def of(cls, row: Mapping[Any, Any]) -> Self:
        """Return the fact of a row of figures, means over seeds.

        ``row`` has ``constant``, the share of seeds in which the model does not decide,
        and, where known, ``alike``, the share in which it decides alike, ``accepted``
        and ``balanced_accuracy``.
        """
        idle = float(row.get("constant", 0))
        share_alike = float(row.get("alike", 0))
        is_alike = share_alike > MOST_SEEDS
        # A seed that does not decide is either alike or guessing.
        is_guessing = idle - share_alike > MOST_SEEDS
        return cls(
            alike=is_alike,
            guessing=is_guessing,
            accepted=float(row.get("accepted", np.nan)),
            balanced_accuracy=float(row.get("balanced_accuracy", np.nan)),
            mixed=idle > MOST_SEEDS and not (is_alike or is_guessing),
        )

    @classmethod
    def of_share(cls, accepted: float, base_rate: float = float("nan")) -> Self:
        """Return whether a share accepted is all or none, or nearly so.

        Without a ``base_rate`` the rarer outcome is taken to be a tenth of all rows, so
        under 1 % is nearly none.

        Examples
        --------
        >>> Deciding.of_share(0.004).mark(), Deciding.of_share(0.004, 0.02).mark()
        ('accepts under 1%', '')
        """
        usual_rate = base_rate if np.isfinite(base_rate) else _RARE_OUTCOME
        share = round(float(accepted), 9)  # sums of chances are near all or none
        return cls(bool(nearly_alike(share, usual_rate)), accepted=share)

    @classmethod
    def of_status(
        cls,
        status: str,
        selection_rate: float,
        balanced_accuracy: float = float("nan"),
    ) -> Self:
        """Return the fact that a row of `fairdash.metrics.decision_status` says."""
        return cls(
            alike=status in ALIKE,
            guessing=status == AS_CHANCE,
            accepted=float(selection_rate),
            balanced_accuracy=float(balanced_accuracy),
        )

    @classmethod
    def of_seeds(cls, seeds: Sequence[Self]) -> Self:
        """Return the fact of a model whose decisions of each seed are known.

        Examples
        --------
        >>> Deciding.of_seeds([Deciding(alike=True, accepted=1.0), Deciding()]).idle
        False
        """
        return cls.of(
            {
                "constant": np.mean([seed.idle for seed in seeds]),
                "alike": np.mean([seed.alike for seed in seeds]),
                "accepted": np.mean([seed.accepted for seed in seeds]),
                "balanced_accuracy": np.mean([s.balanced_accuracy for s in seeds]),
            }
        )

    @property
    def idle(self) -> bool:
        """Whether gaps between groups say nothing of the model."""
        return self.alike or self.guessing or self.mixed

    @property
    def differs_by_seed(self) -> bool:
        """Whether it accepts all or none in most seeds, not the same way in all."""
        low, high = _BETWEEN
        return self.alike and low < self.accepted < high

    def mark(self) -> str:
        """Return the fact in a few words, as beside a label; "" of one that decides."""
        if self.differs_by_seed:
            return "all or none in most seeds"
        if self.alike:
            return f"accepts {self.share()}"
        if self.mixed:
            return "does not decide in most seeds"
        return "no better than guessing" if self.guessing else ""

    def share(self) -> str:
        """Return the share accepted; "all" and "none" mean every single row."""
        if self.accepted >= 1:
            return "all"
        if self.accepted <= 0:
            return "none"
        if not np.isfinite(self.accepted):
            return "nearly all or none"
        # Rounding must not turn nearly all into all.
        rounded = percent(self.accepted, 0)
        return {"100%": "over 99%", "0%": "under 1%"}.get(rounded, rounded)

    def predicate(self) -> str:
        """Return what the model does, as the end of a sentence that names it."""
        if self.differs_by_seed:
            return (
                f"accepts nearly all or none in most seeds ({self.share()} on average)"
            )
        if self.alike:
            words = f"accepts {self.share()}"
            if not 0 < self.accepted < 1:
                return words
            who = "nearly everyone" if self.accepted > 0.5 else "nearly no one"
            return f"{words}, {who}"
        if self.mixed:
            return (
                "accepts nearly all or none, or is not clearly better than guessing, "
                "in most seeds"
            )
        if self.guessing:
            return "is not clearly better than guessing"
        return "decides"

    def brief(self, label: str) -> str:
        """Return the sentence on a model that does not decide."""
        return f"{label} {self.predicate()}, {_NOTHING}."

    def details(self, label: str) -> str:
        """Return that sentence with its numbers: what was accepted, and guessing."""
        text = self.brief(label)
        if not self.guessing:
            return text
        if np.isfinite(self.balanced_accuracy):
            balanced = percent(self.balanced_accuracy)
            text += f" Its balanced accuracy is {balanced}; guessing has 50.0%."
        if np.isfinite(self.accepted):
            text += f" It accepts {percent(self.accepted)}."
        return text


def none_decides(models: Sequence[Deciding]) -> str:
    """Return that no model decides, and what to do; "" where one does.

    Examples
    --------
    >>> none_decides([Deciding(guessing=True), Deciding()])
    ''
    >>> none_decides([Deciding(guessing=True), Deciding(guessing=True)])
    'No setting decides on these rows: try more rows, or columns that tell the outcome.'
    """
    if not all(model.idle for model in models):
        return ""
    remedies = "more rows, or columns that tell the outcome"
    if not all(model.guessing for model in models):
        remedies = f"another decision rule, {remedies}"
    return f"No setting decides on these rows: try {remedies}."
