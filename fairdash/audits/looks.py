"""How many questions were asked of the same rows, and what is sure among them.

A slider of subgroups, threshold, measure or reference may be moved until a gap is sure.
Of m different answers, each of which errs in 5 % of tables, the surest is corrected for
all of them by Holm's procedure.

S. Holm (1979), A simple sequentially rejective multiple test procedure. Scandinavian
Journal of Statistics 6, 65-70.
"""

import math
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr, ndtri

from fairdash.analysis import holm
from fairdash.audits.answer import Answer
from fairdash.metrics import Finding

if TYPE_CHECKING:
    from fairdash.store import Store

ERROR = 0.05
_DIGITS = 16  # of a digest
_QUANTILE = float(ndtri(1 - ERROR / 2))


@dataclass
class Looks:
    """The different answers that were asked for about the same rows.

    Attributes
    ----------
    chances : dict of str to float
        By what an answer says, as a digest: how often chance alone would show as much,
        see `chance_of`.
    store : Store, optional
        Where they are kept, so that a refresh or another window counts on.
    owner : str
        Run, or data set, whose rows are asked about; the store keeps them with it.
    """

    chances: dict[str, float] = field(default_factory=dict)
    store: "Store | None" = None
    owner: str = ""

    def __post_init__(self) -> None:
        if self.store is not None:
            self.chances |= self.store.looks(self.owner)

    def words(self, answer: Answer) -> str:
        """Add an answer; return what stays of it among all, "" where it is not sure.

        The same answer again is no further question, and the first one has no others.
        """
        text = f"{answer.verdict}\n{answer.details}"
        question = sha256(text.encode()).hexdigest()[:_DIGITS]
        if question not in self.chances:
            self._add(question, chance_of(answer.difference))
        n = len(self.chances)
        if n < 2 or self.chances[question] > ERROR:
            return ""
        adjusted = holm(np.array(list(self.chances.values())))
        place = list(self.chances).index(question)
        start = f"{n} different questions were asked of these rows."
        if adjusted[place] <= ERROR:
            return f"{start} Corrected for all of them (Holm), this gap stays sure."
        return (
            f"{start} Corrected for all of them (Holm), this gap is no longer sure: "
            "of many questions chance answers some."
        )

    def _add(self, question: str, chance: float) -> None:
        """Add a question, and those that other windows have asked since."""
        self.chances[question] = chance
        if self.store is not None:
            self.store.keep_look(self.owner, question, chance)
            self.chances |= self.store.looks(self.owner)


def chance_of(finding: Finding | None) -> float:
    """Return how often chance alone shows a finding, by its interval; 1 if not sure.

    The nearer end of a 95 % interval is 1.96 standard errors from the value. An
    interval that holds for all pairs of groups makes this the chance of any of them.
    """
    if finding is None or not finding.sure:
        return 1.0
    near = finding.low if finding.value > 0 else finding.high
    reach = abs(finding.value - near)
    if not (math.isfinite(reach) and reach > 0):
        return 1.0
    chance = 2 * float(ndtr(-_QUANTILE * abs(finding.value) / reach))
    return min(chance, ERROR)  # sure by a test of its own, such as shuffled groups
