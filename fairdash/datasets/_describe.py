"""What is said of a wide table, computed in the box.

A guess, checks and facts of columns look at every column for milliseconds, whatever its
length. In the process that serves pages all sessions would wait for them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from inspect import signature
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, BinaryIO, Self, TypeVar

import numpy as np
import pandas as pd
from pydantic import ConfigDict, TypeAdapter

from fairdash import box
from fairdash.datasets._remedies import column_facts, prepare
from fairdash.datasets._roles import Remedy, Roles
from fairdash.datasets._subgroups import Subgroups
from fairdash.datasets.checks.table import check_table
from fairdash.datasets.guess.features import features_after, left_out_reasons
from fairdash.datasets.guess.roles import guess_rest, rank_roles
from fairdash.datasets.reading.parquet import load_table

Value = TypeVar("Value")

TASK = f"{__name__}:open_table"
COLUMN_ROWS = 15_000  # rows that take as long to look at as a column by itself
LONG = 2_500_000  # columns times rows and these, beyond which the box is faster
MOST_CELLS = 20_000_000  # of a table that may be in memory twice
LIMITS = box.Limits(written=0)
Cell = Remedy | tuple[int, ...] | bool | int | float | str | None
DESCRIPTIONS: dict[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (
        check_table,
        column_facts,
        features_after,
        guess_rest,
        left_out_reasons,
        rank_roles,
    )
}


def takes_long(frame: pd.DataFrame) -> bool:
    """Return whether a guess or checks take longer than to ask the box for them."""
    n_rows, n_columns = frame.shape
    return n_columns * (n_rows + COLUMN_ROWS) > LONG


def describe_apart(
    path: Path,
    describe: Callable[..., Value],
    *arguments: Any,
    roles: Roles | None = None,
    owner: str = "",
) -> Value:
    """Return ``describe(table, *arguments)``, computed in the box.

    Parameters
    ----------
    path : Path
        Of the table, as `convert_table` wrote it.
    describe : callable
        One of `DESCRIPTIONS`.
    roles : Roles, optional
        By which the table is prepared first.
    owner : str
        See `fairdash.box.run`.

    Raises
    ------
    ValueError
        As ``describe`` does, or when the process came to one of its limits.
    """
    request = _request(describe, arguments, roles)
    with open(path, "rb") as file:
        try:
            answer = box.run(TASK, request, [file], owner=owner, limits=LIMITS)
        except box.Ended as error:
            raise ValueError(
                f"The table was not looked at: {error}. Keep the columns that are "
                "needed."
            ) from None
    return _unpacked(describe, answer)


@cache
def warm_up() -> None:
    """Describe a small table, since libraries load modules when they need them."""
    n = 300
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "sex": rng.choice(["female", "male"], n),
            "age": rng.integers(18, 80, n),
            "score": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
            "day": pd.date_range("2024-01-31", periods=n).strftime("%Y-%m-%d"),
            "town": rng.choice(["Rome", "rome", "Bonn", "?"], n),
            "paid": np.where(rng.random(n) < 0.1, "none", rng.integers(0, 99, n)),
            "insured": rng.random(n) < 0.5,
            "hired": rng.choice(["yes", "no"], n),
        }
    )
    frame["town again"] = frame["town"]
    roles = rank_roles(frame, "people.csv").roles
    changed = "insured", "1", (roles.sensitive_feature,)
    asked: dict[Callable[..., Any], tuple[Any, ...]] = {
        check_table: (roles, Subgroups(columns=("sex",))),
        column_facts: (roles,),
        features_after: (roles, *changed),
        guess_rest: (roles.target, roles.sensitive_feature),
        left_out_reasons: (roles,),
        rank_roles: (),
    }
    with TemporaryFile() as file:
        frame.to_parquet(file)
        for describe, arguments in asked.items():
            request = _request(describe, arguments, roles)
            _unpacked(describe, open_table([file])(request))


def open_table(files: Sequence[BinaryIO]) -> box.Handler:
    """Return what describes the table in the first file, in the box."""

    def handle(message: bytes) -> bytes:
        request = TypeAdapter(_Request).validate_json(message)
        describe = DESCRIPTIONS[request.describe]
        arguments = [
            kind.validate_json(value)
            for kind, value in zip(_types(describe), request.arguments, strict=False)
        ]
        frame = load_table(files[0], compact=True)
        if request.roles is not None:
            frame = prepare(frame, request.roles)
        value = describe(frame, *arguments)
        if isinstance(value, pd.DataFrame):
            value = _Frame.of(value)
        return _answer_type(describe).dump_json(value)

    return handle


@dataclass(frozen=True)
class _Request:
    describe: str
    arguments: list[str]  # each as JSON
    roles: Roles | None


@dataclass(frozen=True)
class _Frame:
    """A small table whose cells may be remedies and numbers of rows."""

    __pydantic_config__ = ConfigDict(ser_json_inf_nan="constants")

    names: list[str]
    types: list[str]
    index: list[int] | list[str]
    cells: list[list[Cell]]

    @classmethod
    def of(cls, frame: pd.DataFrame) -> Self:
        """Return a table as one that becomes JSON."""
        cells = [
            [cell.item() if isinstance(cell, np.generic) else cell for cell in row]
            for row in frame.astype(object).itertuples(index=False, name=None)
        ]
        types = [str(kind) for kind in frame.dtypes]
        return cls(list(map(str, frame)), types, frame.index.tolist(), cells)

    def frame(self) -> pd.DataFrame:
        """Return the table that `of` was given."""
        table = pd.DataFrame(self.cells, self.index, self.names, dtype=object)
        return table.astype(dict(zip(self.names, self.types, strict=True)))


def _request(
    describe: Callable[..., Any], arguments: Sequence[Any], roles: Roles | None
) -> bytes:
    packed = [
        kind.dump_json(value).decode()
        for kind, value in zip(_types(describe), arguments, strict=False)
    ]
    request = _Request(describe.__name__, packed, roles)
    return TypeAdapter(_Request).dump_json(request)


def _unpacked(describe: Callable[..., Value], answer: bytes) -> Value:
    value = _answer_type(describe).validate_json(answer)
    if isinstance(value, _Frame):
        value = value.frame()
    return value


def _types(describe: Callable[..., Any]) -> list[TypeAdapter[Any]]:
    """Return the types of what a description takes beside the table."""
    _, *parameters = signature(describe).parameters.values()
    return [TypeAdapter(parameter.annotation) for parameter in parameters]


def _answer_type(describe: Callable[..., Any]) -> TypeAdapter[Any]:
    kind = signature(describe).return_annotation
    return TypeAdapter(_Frame if kind is pd.DataFrame else kind)
