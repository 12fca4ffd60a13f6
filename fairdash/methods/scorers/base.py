"""What every stored model can do, and how one whose fields are arrays is stored."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from fairdash._arrays import Codes, FloatArray

Arrays = Mapping[str, NDArray[np.generic]]


class Scorer(Protocol):
    """A stored model of encoded rows, whichever method trained it.

    One whose ``mixture`` is true decides at random: see `is_mixture`.
    """

    def positive(self, X: NDArray[np.floating], group: Codes) -> FloatArray:
        """Return P(1) of every row; ``group`` is the index of its group's name."""
        ...

    def arrays(self) -> dict[str, Any]:
        """Return the parameters by name, ready for a safetensors file."""
        ...


def is_mixture(scorer: Scorer) -> bool:
    """Tell whether P(1) of a model is the chance with which a decision is drawn."""
    return bool(getattr(scorer, "mixture", False))


class Stored:
    """A model whose fields are its arrays."""

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Return the parameters by name, ready for a safetensors file."""
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Self:
        """Return the model whose ``arrays()`` these are."""
        return cls(**arrays)
