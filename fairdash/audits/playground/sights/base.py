"""What a method itself sees of people at one setting, beside its surface."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

MOST_WEIGHT = 9.0  # relative to an average person, beyond which no point grows


class Sight(ABC):
    """What one trained model, or its training, sees of people in the plane.

    Attributes
    ----------
    kind : str
        How a browser draws it.
    title : str
        Of the picture beside the plane.
    """

    kind: ClassVar[str]
    title: ClassVar[str]

    @abstractmethod
    def key(self, names: Sequence[str]) -> str:
        """Return what the marks in the plane mean; ``names`` are the groups'."""

    @abstractmethod
    def caption(self, names: Sequence[str]) -> str:
        """Return in words what is seen at this setting."""

    @abstractmethod
    def payload(self) -> dict[str, Any]:
        """Return the numbers as plain data for JSON."""
