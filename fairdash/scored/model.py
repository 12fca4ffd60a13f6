"""A model whose scores are known: where from, how they decide, and on which split."""

import re
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from fairdash.datasets import ScoreColumn
from fairdash.scored.decision_rule import USUAL, DecisionRule
from fairdash.scored.sources import Source, Trained, source_of_key

_NO_SPLIT = -1  # in keys, instead of the seed of a split
_RULED_KEY = re.compile(
    r"^(?P<source>.*) decided by (?P<seed>-?\d+) (?P<rule>[a-z_]+(?: [-+.\de]+)?)$",
    re.DOTALL,
)


@dataclass(frozen=True)
class ScoredModel:
    """A model that an audit asks: it gives every row of a data set a score.

    Attributes
    ----------
    source : Trained, Column or File
        Where its scores come from.
    rule : DecisionRule
        How scores become decisions.
    split : int, optional
        Seed of the split on whose test rows it is measured, and on whose validation
        rows its rule is learned. None for own scores on all rows.

    Examples
    --------
    >>> model = ScoredModel(Trained("ab12"), DecisionRule("top", 20), split=3)
    >>> model.key
    'ab12 decided by 3 top 20'
    >>> ScoredModel.from_key(model.key) == model
    True
    """

    source: Source
    rule: DecisionRule = USUAL
    split: int | None = None

    @classmethod
    def from_key(cls, key: str, split: int | None = None) -> Self:
        """Return the model of a `key`, also of one that an earlier version wrote.

        A key with a rule names the split on which this is learned. ``split`` is that
        of other keys.

        Raises ValueError when the key names no decision rule, or no column.
        """
        # keys of own scores end in a brace, so no column's name looks like a rule
        ruled = _RULED_KEY.match(key)
        if ruled is None:
            return cls(source_of_key(key), split=split)
        seed = int(ruled["seed"])
        return cls(
            source_of_key(ruled["source"]),
            DecisionRule.of(ruled["rule"]),
            None if seed == _NO_SPLIT else seed,
        )

    @property
    def key(self) -> str:
        """Source and rule as text, which `from_key` reads; the usual rule is left out.

        Versions up to 0.4 have the same text.
        """
        if self.rule.usual:
            return self.source.key
        seed = _NO_SPLIT if self.split is None else self.split
        return f"{self.source.key} decided by {seed} {self.rule.text}"

    @property
    def contents(self) -> tuple[Hashable, ...]:
        """Key and split: with the data set they settle every number of the model."""
        return self.key, self.split

    @property
    def is_own(self) -> bool:
        """Whether its scores are the user's own, not those of a trained trial."""
        return not isinstance(self.source, Trained)

    @property
    def score(self) -> ScoreColumn | None:
        """The column of own scores; None of a trained model."""
        return self.source.score

    @property
    def method(self) -> str:
        """The method that trained it, or `OWN`."""
        return self.source.method

    @property
    def params(self) -> Mapping[str, Any]:
        """Parameters of the method, or fields of the score column."""
        return self.source.params

    @property
    def seed(self) -> int:
        """The seed of its split.

        Raises ValueError when it is on all rows.
        """
        if self.split is None:
            raise ValueError(f"{self.key} is measured on all rows: it has no seed.")
        return self.split

    def decided_by(self, rule: DecisionRule) -> Self:
        """Return the model with another decision rule."""
        return replace(self, rule=rule)

    def on_split(self, split: int | None) -> Self:
        """Return the model on the rows of another split, or on all rows."""
        return replace(self, split=split)
