"""Plain data with many small grids of bytes, in few bytes."""

import base64
import binascii
import json
import lzma
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

_LEAST = 64  # shorter texts are never bytes
_BYTES = "bytes"  # names, in place of bytes, their length and their number among such
_LENGTH = 8  # bytes of a number
# Bytes of a grid hang together by value, not by their place in a machine's word.
_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9, "lc": 0, "lp": 0, "pb": 0}]


def pack(data: Any) -> bytes:
    """Return plain data for JSON, with texts that are bytes in base64, in few bytes.

    Bytes of one length stand together. Square grids of bytes are smooth: each is kept
    by what it differs from its neighbours.
    """
    blocks: dict[int, list[bytes]] = {}

    def store(text: Any) -> Any:
        content = _bytes_of(text)
        if content is None:
            return text
        block = blocks.setdefault(len(content), [])
        block.append(_differences(content))
        return {_BYTES: [len(content), len(block) - 1]}

    text = json.dumps(_changed(data, store), ensure_ascii=False).encode()
    sizes = {length: len(block) for length, block in blocks.items()}
    head = json.dumps(list(sizes.items())).encode()
    parts = [len(head).to_bytes(_LENGTH), head, len(text).to_bytes(_LENGTH), text]
    parts += [b"".join(block) for block in blocks.values()]
    return lzma.compress(b"".join(parts), lzma.FORMAT_XZ, filters=_FILTERS)


def unpack(packed: bytes) -> Any:
    """Return what `pack` has packed."""
    data, restore = open_packed(packed)
    return restore(data)


def open_packed(packed: bytes) -> tuple[Any, Callable[[Any], Any]]:
    """Return packed data without its bytes, and the function that restores a part."""
    parts = _parts(lzma.decompress(packed))
    sizes = json.loads(next(parts))
    content = json.loads(next(parts))
    rest = next(parts)
    blocks = {}
    for length, count in sizes:
        blocks[length] = rest[: length * count]
        rest = rest[length * count :]

    def restored(value: Any) -> Any:
        if not isinstance(value, dict) or _BYTES not in value:
            return value
        length, place = value[_BYTES]
        differences = blocks[length][length * place : length * (place + 1)]
        return base64.b64encode(_sums(differences)).decode()

    return content, lambda part: _changed(part, restored)


def _parts(content: bytes) -> Iterator[bytes]:
    """Yield two parts, each after its length, then the rest."""
    for _ in range(2):
        length = int.from_bytes(content[:_LENGTH])
        yield content[_LENGTH : _LENGTH + length]
        content = content[_LENGTH + length :]
    yield content


def _changed(data: Any, change: Callable[[Any], Any]) -> Any:
    """Return plain data with every value changed, outermost first."""
    value = change(data)
    if value is not data:
        return value
    if isinstance(data, dict):
        return {name: _changed(entry, change) for name, entry in data.items()}
    if isinstance(data, list):
        return [_changed(entry, change) for entry in data]
    return data


def _bytes_of(text: Any) -> bytes | None:
    """Return the bytes of a text in base64; None for any other: prose has spaces."""
    if not isinstance(text, str) or len(text) < _LEAST:
        return None
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None


def _differences(content: bytes) -> bytes:
    """Return by how much bytes differ from the plane through their neighbours."""
    grid = _square(content)
    if grid is None:
        return content
    padded = np.pad(grid, ((1, 0), (1, 0)))
    # Whole numbers below 256 go round, so nothing is lost.
    return np.diff(np.diff(padded, axis=0), axis=1).tobytes()


def _sums(differences: bytes) -> bytes:
    """Return bytes from their `_differences`."""
    grid = _square(differences)
    if grid is None:
        return differences
    rows = np.cumsum(grid, axis=0, dtype=np.uint8)
    return np.cumsum(rows, axis=1, dtype=np.uint8).tobytes()


def _square(content: bytes) -> NDArray[np.uint8] | None:
    side = math.isqrt(len(content))
    if side * side != len(content):
        return None
    return np.frombuffer(content, np.uint8).reshape(side, side)
