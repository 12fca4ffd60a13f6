"""A toy post-processing method: one threshold for all groups."""

from dataclasses import dataclass
from typing import ClassVar

from fairdash.postprocessing import Correction, Dial, PostProcessor
from fairdash.postprocessing.rules import Rule


@dataclass(eq=False, repr=False)
class SameThreshold(PostProcessor):
    """Decide every group by the same threshold."""

    subject: ClassVar[str] = "The same threshold"

    cut: float = 0.0
    score_type: str = "margin"

    def _rules(self, rows):
        return [Rule.steps([(self.cut, 1.0)]) for _ in rows.names]


TOY = Correction(
    "same_threshold",
    "Same threshold",
    SameThreshold,
    summary="one threshold for all",
    outcome="no",
    source="a toy",
    dials=(Dial("cut", "Threshold", 0.0, low=-1.0, help="Margin."),),
    compared={"Same threshold, 0": {}},
)
