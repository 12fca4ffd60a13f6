"""Where the scores of a model come from."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from fairdash.datasets import AddedScores, ScoreColumn

OWN = "own scores"  # instead of a method of the catalog
_OWN_KEY = "column "


@dataclass(frozen=True)
class Trained:
    """A trial that a run of this program trained.

    Attributes
    ----------
    key : str
        Hexadecimal digits that name method, parameters, split and data, and the file
        that has the scores.
    method, params
        As the run has them. They follow from the key, which alone is compared.
    """

    key: str
    method: str = field(default="", compare=False)
    params: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @property
    def address(self) -> str:
        """How an address names it."""
        return self.key

    @property
    def score(self) -> None:
        """No column: the scores are kept by the key."""
        return None


@dataclass(frozen=True)
class _OwnScores:
    """Scores of a model that nobody trained here."""

    score: ScoreColumn

    @property
    def key(self) -> str:
        """The fields of the column as text, which `source_of_key` reads."""
        return _OWN_KEY + json.dumps(self.params)

    @property
    def address(self) -> str:
        """How an address names it: by its column alone, as no two have one name."""
        return _OWN_KEY + self.score.column

    @property
    def method(self) -> str:
        """The name that stands in the place of a method."""
        return OWN

    @property
    def params(self) -> Mapping[str, Any]:
        """The fields of the score column."""
        fields: dict[str, Any] = self.score.model_dump(mode="json")
        return fields


@dataclass(frozen=True)
class Column(_OwnScores):
    """A column of scores, decisions or predicted classes in the table itself."""


@dataclass(frozen=True)
class File(_OwnScores):
    """Scores that were added to a data set later, as a file or by a model."""

    score: AddedScores


Source: TypeAlias = Trained | Column | File


def source_of(score: ScoreColumn) -> Column | File:
    """Return own scores as the source of a model."""
    return File(score) if isinstance(score, AddedScores) else Column(score)


def source_of_key(key: str) -> Source:
    """Return the source that a key names; of a trained trial the key alone is known.

    Raises ValueError when it names a column without saying what this holds.
    """
    if not key.startswith(_OWN_KEY):
        return Trained(key)
    fields = json.loads(key.removeprefix(_OWN_KEY))
    if not isinstance(fields, dict):
        raise ValueError(f"{key!r} names no score column.")
    kind = AddedScores if "file" in fields else ScoreColumn
    return source_of(kind.model_validate(fields))
