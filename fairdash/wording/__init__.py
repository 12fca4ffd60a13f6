"""Sentences about findings and changes: numbers in, plain English out."""

from typing import TYPE_CHECKING

from fairdash._lazy import lazy

__all__ = [
    "NO_GAP",
    "GapSize",
    "accuracy_brief",
    "audit_verdict",
    "correction_verdict",
    "gap_brief",
    "place_brief",
    "possible",
    "priced_brief",
    "remedy_brief",
    "worst_inside",
]

if TYPE_CHECKING:
    from fairdash.wording.short_verdicts import (
        NO_GAP,
        GapSize,
        accuracy_brief,
        correction_verdict,
        gap_brief,
        place_brief,
        possible,
        priced_brief,
        remedy_brief,
    )
    from fairdash.wording.verdict import audit_verdict, worst_inside
else:
    __getattr__, __dir__ = lazy(__name__, __file__)
