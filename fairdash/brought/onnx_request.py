"""Requests to an ONNX model in the box, read and written without its libraries."""

import io
import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from fairdash import box

TASK = "fairdash.brought.onnx_file:open_model"
LIMITS = box.Limits(memory=2 << 30, seconds=600, written=0, idle=300)


def packed(
    columns: Sequence[Sequence[int]], arrays: Sequence[np.ndarray[Any, Any]]
) -> bytes:
    """Return a request for numbers of rows.

    Parameters
    ----------
    columns : sequence of sequences of int
        Places of classes; of each sequence their probabilities are added up.
    arrays : sequence of ndarray of shape (n_rows,)
        The model's inputs. Those of text hold objects.
    """
    members: dict[str, Any] = {}
    for i, array in enumerate(arrays):
        if array.dtype == object:
            # Objects would need pickle. Text travels as bytes and their lengths.
            texts = [text.encode(errors="replace") for text in array]
            members[f"n{i}"] = np.array([len(text) for text in texts], np.int64)
            array = np.frombuffer(b"".join(texts), np.uint8)
        members[f"i{i}"] = array
    members["columns"] = np.frombuffer(json.dumps(columns).encode(), np.uint8)
    members["n_rows"] = np.array(len(arrays[0]))
    buffer = io.BytesIO()
    np.savez(buffer, **members)
    return buffer.getvalue()


def unpacked(arrays: Any, i: int) -> np.ndarray[Any, Any]:
    """Return an input of a request that NumPy has loaded."""
    if f"n{i}" not in arrays:
        return np.asarray(arrays[f"i{i}"])
    content = bytes(arrays[f"i{i}"])
    ends = arrays[f"n{i}"].cumsum()
    texts = np.empty(len(ends), object)
    start = 0
    for row, end in enumerate(ends):
        texts[row] = content[start:end].decode()
        start = end
    return texts
