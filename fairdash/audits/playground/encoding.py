"""Numbers as a browser gets them: bytes in base64, or short JSON."""

import base64
import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

_LEVELS = 255  # a share is kept as a whole number of 255ths
_STEPS = 1000  # a place in the plane is kept in thousandths


def as_bytes(values: ArrayLike, top: float = 1.0) -> str:
    """Return numbers from 0 to ``top`` as one byte each; larger ones are cut off."""
    shares = np.clip(np.asarray(values, dtype=np.float64) / top, 0, 1)
    return _text(np.rint(shares * _LEVELS).astype(np.uint8))


def as_places(values: ArrayLike) -> str:
    """Return places in the plane as two bytes a coordinate, the lower one first."""
    steps = np.rint(np.asarray(values, dtype=np.float64) * _STEPS)
    return _text(np.clip(steps, -32_768, 32_767).astype("<i2"))


def as_numbers(values: Any) -> Any:
    """Return numbers as JSON has them, to four digits: NaN and infinity as None."""
    if isinstance(values, np.ndarray):
        values = values.tolist()
    if isinstance(values, list):
        return [as_numbers(value) for value in values]
    if isinstance(values, float):
        return round(values, 4) if math.isfinite(values) else None
    return values


def _text(values: np.ndarray) -> str:
    return base64.b64encode(np.ascontiguousarray(values).tobytes()).decode()
