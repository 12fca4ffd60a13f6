"""JSON texts that are made to nest, to swell or to end too late."""

import json

from crafted.case import LIMIT, Case

DEEP = "no valid JSON after row 0 .lists in lists without end|no valid JSON"
LARGE = 15_000_000  # bytes
INVALID = "no valid JSON"


def nested(depth, opening=b"[", closing=b"]", middle=b""):
    return opening * depth + middle + closing * depth


def filled(head, record, tail, size=LARGE):
    return head + record * (size // len(record)) + tail


def of(value):
    """Return a record with a crafted value beside one that has a plain one."""
    return b'[{"a": 1},\n{"a": ' + value + b"}]"


RECORDS = {
    "keys.jsonl": Case(
        "20,000 records of another key each",
        lambda: "\n".join(json.dumps({f"k{i}": 1}) for i in range(20_000)).encode(),
        "0 columns, more than 2,000; keep those",
    ),
    "deep.json": Case(
        "100,000 lists in one another",
        lambda: b'[{"a":' + nested(100_000) + b"}]",
        DEEP,
    ),
    "open_lists.json": Case(
        "15,000,000 lists that are never closed",
        lambda: b'[{"a":' + b"[" * LARGE,
        INVALID,
    ),
    "tokens.json": Case(
        "1,700,000 records of one small number, 9 s of a processor",
        lambda: filled(b"[", b'{"a":1},', b'{"a":2}]'),
        r"read \(\d+, 1\)|" + LIMIT,
        heavy=True,
    ),
    "digits.json": Case(
        "a whole number of 4,000,000 digits",
        lambda: b'[{"a": ' + b"9" * 4_000_000 + b"}]",
        "'a' has a cell of 4,000,000 characters",
    ),
    "googol.json": Case(
        "a whole number beyond all floats, 10**400",
        lambda: of(b"1" + b"0" * 400),
        r"read \(2, 1\)",
    ),
    "not_numbers.json": Case(
        "numbers that JSON does not have",
        lambda: b'[{"a": NaN}, {"a": Infinity}, {"a": -Infinity}]',
        r"read \(3, 1\)",
    ),
    "surrogate.json": Case(
        "half a pair of UTF-16, which no UTF-8 can hold",
        lambda: of(rb'"\ud800"'),
        "surrogate|text|character",
    ),
    "long_key.json": Case(
        "the name of a column of 4,000,000 letters",
        lambda: b'[{"' + b"k" * 4_000_000 + b'": 1}]',
        "characters|name|" + INVALID,
    ),
}
