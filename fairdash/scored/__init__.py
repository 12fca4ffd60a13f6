"""Models by what is known of them: where scores come from, and how these decide."""

from typing import TYPE_CHECKING

from fairdash._lazy import lazy

__all__ = [
    "OWN",
    "RULE_NAMES",
    "USUAL",
    "Column",
    "DecisionRule",
    "File",
    "RuleKind",
    "ScoredModel",
    "Source",
    "Trained",
    "source_of",
]

if TYPE_CHECKING:
    from fairdash.scored.decision_rule import RULE_NAMES, USUAL, DecisionRule, RuleKind
    from fairdash.scored.model import ScoredModel
    from fairdash.scored.sources import OWN, Column, File, Source, Trained, source_of
else:
    __getattr__, __dir__ = lazy(__name__, __file__)
