"""Answers to questions on a table, a run or a sweep: one question a file.

What was computed once is kept, by names of contents: a key of a trial, an id of a data
set. A change of subgroups never retrains.
"""

from typing import TYPE_CHECKING

from fairdash._lazy import lazy

__all__ = [
    "Answer",
    "Audit",
    "AuditRows",
    "AuditedModel",
    "DecisionRule",
    "Drawing",
    "FoundSubgroups",
    "Listing",
    "Looks",
    "Noise",
    "PortableModel",
    "Scaling",
    "Setting",
    "StoredSweep",
    "as_subgroups",
    "audit",
    "audited",
    "certificates",
    "choices",
    "correction_verdict",
    "drift",
    "drifts",
    "find_subgroups",
    "gaps",
    "kept_answer",
    "linked",
    "load",
    "look_alikes",
    "most_assumed",
    "portable",
    "progress",
    "question",
    "recommendation",
    "rules",
    "scenes",
    "search_model",
    "stored",
    "sweeps",
    "tables",
    "training",
    "trials",
    "weight_spreads",
    "weighting",
    "worst_counterparts",
]

if TYPE_CHECKING:
    from fairdash.analysis import Noise, most_assumed
    from fairdash.audits import (
        choices,
        drifts,
        gaps,
        linked,
        look_alikes,
        portable,
        progress,
        question,
        recommendation,
        rules,
        scenes,
        stored,
        sweeps,
        tables,
        training,
        trials,
        weight_spreads,
        weighting,
    )
    from fairdash.audits.answer import Answer, Drawing, Listing
    from fairdash.audits.audited_model import AuditedModel, AuditRows, Scaling, audited
    from fairdash.audits.counterparts import worst_counterparts
    from fairdash.audits.decisions import Audit, audit
    from fairdash.audits.drifts import drift
    from fairdash.audits.kept_answers import kept_answer
    from fairdash.audits.looks import Looks
    from fairdash.audits.noisy_groups import certificates
    from fairdash.audits.portable_model import PortableModel, load
    from fairdash.audits.subgroups import (
        FoundSubgroups,
        as_subgroups,
        find_subgroups,
        search_model,
    )
    from fairdash.audits.sweeps import StoredSweep
    from fairdash.audits.trials.models import Setting
    from fairdash.scored import DecisionRule
    from fairdash.wording import correction_verdict
else:
    __getattr__, __dir__ = lazy(__name__, __file__)
