"""Bundles of runs with a crafted member: model, curves or table."""

import io
import json
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import parquet
from safetensors import numpy as safetensors

from crafted.bundles import HISTORY, Facts, Make, Members, member, replaced
from crafted.parquets import repeated_zeros, written

N_ROWS = 200  # of the table
SCORES = "scores of rows"
RATIO = "ratio of training rows"
SHORT = {"scores": SCORES, "ratio": RATIO, "epoch": "epochs of ratios"}
SHORT["ratios"] = "ratios of training rows"
HEADER = {"dtype": "F32", "shape": [N_ROWS], "data_offsets": [0, 4 * N_ROWS]}
DATA = bytes(4 * N_ROWS)
EMPTY = b'"%d":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}'
NO_NETWORK = {f"{part}_{i}": None for part in ("weight", "bias") for i in range(3)}
# a tree whose root is no leaf and leads to itself
ENDLESS = {
    name: lambda _, kind=kind: np.zeros(1, kind)
    for name, kind in {
        "roots": "i4", "features": "i4", "left": "i4", "right": "i4",
        "thresholds": "f8", "values": "f8",
    }.items()
}  # fmt: skip


def model(**arrays: Any) -> Make:
    """Return what makes a bundle whose model has other arrays; None removes one.

    An array is a function of the one that it replaces.
    """

    def change(content: bytes) -> bytes:
        stored = safetensors.load(content)
        for short, make in arrays.items():
            name = SHORT.get(short, short)
            before = stored.pop(name, None)
            if make is not None:
                stored[name] = np.ascontiguousarray(make(before))
        return safetensors.save(stored)

    return replaced("model", change)


def tensors(header: Any, data: bytes = b"", size: int | None = None) -> Make:
    """Return what makes a bundle whose model has such a header, of such a length."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    size = len(text) if size is None else size
    return replaced("model", lambda _: size.to_bytes(8, "little") + text + data)


def curves(**columns: Any) -> Make:
    """Return what makes a bundle whose model has other curves."""

    def make(members: Members, facts: Facts) -> bytes:
        key = member("model", members, facts)
        table = pa.table({"key": [key], "epoch": [1], "loss": [0.5]} | columns)
        return replaced(HISTORY, lambda _: written(table))(members, facts)

    return make


def long_curves(n_rows: int, parts: int = 50) -> Make:
    """Return what makes a bundle whose curves are one row again and again."""

    def make(members: Members, facts: Facts) -> bytes:
        codes = pa.array(np.zeros(n_rows // parts, np.int8))
        values = {"key": member("model", members, facts), "epoch": 1.0, "loss": 1.0}
        columns = {
            name: pa.DictionaryArray.from_arrays(codes, pa.array([value]))
            for name, value in values.items()
        }
        table = pa.table(columns)
        buffer = io.BytesIO()
        with parquet.ParquetWriter(buffer, table.schema) as writer:
            for _ in range(parts):
                writer.write_table(table)
        return replaced(HISTORY, lambda _: buffer.getvalue())(members, facts)

    return make


def table(change: Any) -> Make:
    """Return what makes a bundle whose table has other rows or columns."""

    def changed(content: bytes) -> bytes:
        buffer = io.BytesIO()
        change(pd.read_parquet(io.BytesIO(content))).to_parquet(buffer)
        return buffer.getvalue()

    return replaced("table", changed)


MODELS = {
    "NaN scores": model(scores=lambda old: old * np.nan),
    "complex scores": model(scores=lambda old: old.astype(np.complex64)),
    "negative weights": model(ratio=lambda old: -1 - old),
    "more epochs than weights": model(epoch=lambda _: [1, 2, 3]),
    "a network of other features": model(weight_0=lambda old: old[:1]),
    "arrays that no method has": model(**NO_NETWORK, none=lambda _: np.zeros(3)),
    "an endless tree": model(**NO_NETWORK, **ENDLESS),
    "a header of 2**62 bytes": tensors(b"{}", size=2**62),
    "a header of 50,000 lists": tensors(b"[" * 50_000 + b"]" * 50_000),
    "100,000 empty arrays": tensors(
        b"{" + b",".join(EMPTY % i for i in range(100_000)) + b"}"
    ),
    "two arrays of the same bytes": tensors({SCORES: HEADER, RATIO: HEADER}, DATA),
    "2**32 times 2**32 numbers": tensors(
        {SCORES: HEADER | {"shape": [2**32, 2**32]}}, DATA
    ),
    "a pickle as a model": replaced("model", lambda _: b"cos\nsystem\n(S'id'\ntR."),
}
CURVES = {
    "curves of 50 million rows": long_curves(50_000_000),
    "curves of 10,000 columns": curves(**{f"{i}": [1.0] for i in range(10_000)}),
    "curves of no model": replaced(
        HISTORY, lambda _: written(pa.table({"epoch": [1], "loss": [0.5]}))
    ),
    "curves of words": curves(epoch=["x"], loss=["y"]),
}
TABLES = {
    "a table of fewer rows": table(lambda old: old[:100]),
    "a table without its outcome": table(lambda old: old.drop(columns="skill")),
    "a table of 190 million cells": replaced("table", lambda _: repeated_zeros(19)),
    "a table that is CSV": replaced("table", lambda _: b"skill,age\n1,2\n"),
}
MEMBERS = MODELS | CURVES | TABLES
