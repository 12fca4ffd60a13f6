"""One change of a table or of its roles, as data."""

from collections.abc import Callable
from dataclasses import field
from typing import Any, Literal

from fairdash._record import Record, default
from fairdash._wording import plural
from fairdash.datasets._values import Labels
from fairdash.datasets.column_kinds import ColumnKind

RemedyKind = Literal[
    "leave_out",
    "drop_duplicates",
    "missing",
    "recode",
    "convert",
    "date_parts",
    "one_of",
    "single_choice",
]
# What a kind needs beside the column
_NEEDS = {
    "missing": "values",
    "recode": "changes",
    "convert": "to",
    "one_of": "columns",
    "single_choice": "separator",
}
# Fields that came later: at their defaults no part of an identity made before.
_LATER = ("columns", "none", "several", "separator")
_MOST_NAMED = 3


class Remedy(Record):
    """One change of a table or of its roles; the uploaded file never changes.

    Attributes
    ----------
    kind : str
        "leave_out": the column is no feature any more, for ``reason``.
        "drop_duplicates": rows that repeat an earlier row in every column are excluded.
        "missing": cells with one of ``values`` are missing.
        "recode": cells get another value, ``changes`` from label to label; several
        labels with one new value are merged.
        "convert": the column is read as ``to``, cells with one of ``values`` as
        missing.
        "date_parts": year, month and weekday of a date become columns of their own.
        "one_of": a new column names the one of several 0/1 ``columns`` that a row is
        in. "single_choice": a multiple choice such as "White;Asian", with a
        ``separator``, keeps each choice alone; the others are ``several``.
    column : str
        The column it concerns; "" for whole rows.
    columns : tuple of str
        Columns of 0 and 1.
    none, several : str
        Value of rows in none of these, and in two or more; "" makes them missing.
    values : tuple of str
        Labels, see `fairdash.datasets.Roles`.
    to : str, optional
        A kind of column: "number", "category", "yes_no", "date".
    """

    kind: RemedyKind
    column: str = ""
    values: Labels = ()
    changes: dict[str, str] = field(default_factory=dict)
    into: str = ""  # is empty, and part of stored identities
    to: ColumnKind | None = None
    reason: str = ""
    columns: tuple[str, ...] = ()
    none: str = "none"
    several: str = "several"
    separator: str = ""

    def _check(self) -> None:
        if not self.column and self.kind != "drop_duplicates":
            raise ValueError(f"a remedy {self.kind!r} needs a `column`.")
        needed = _NEEDS.get(self.kind, "kind")
        if not getattr(self, needed):
            raise ValueError(f"a remedy {self.kind!r} needs `{needed}`.")
        if self.kind == "one_of" and len(set(self.columns)) < max(2, len(self.columns)):
            raise ValueError(
                f"`columns` of {self.column!r} must be two or more different columns, "
                f"got {list(self.columns)}."
            )

    def identity(self) -> dict[str, Any]:
        """Return all that it does, as plain data; see `Roles.identity`."""
        fields = self.model_dump(mode="json")
        for name in _LATER:
            if getattr(self, name) == default(Remedy, name):
                del fields[name]
        return fields

    def reads(self) -> tuple[str, ...]:
        """Return the columns that it needs."""
        if self.columns:
            return self.columns
        return (self.column,) if self.column else ()

    def words(self) -> str:
        """Return what it does, as the label of a button."""
        column = self.column
        some = _some(self.values)
        match self.kind:
            case "leave_out":
                return f"Exclude {column}"
            case "drop_duplicates":
                return "Exclude repeated rows"
            case "missing":
                return f"Read {some} in {column} as missing"
            case "recode":
                return f"Rewrite {plural(len(self.changes), 'value')} of {column}"
            case "convert":
                kind = str(self.to).replace("_", "/")
                rest = f", {some} as missing" if self.values else ""
                return f"Read {column} as {kind}{rest}"
            case "date_parts":
                return f"Use year, month, weekday of {column}"
            case "one_of":
                columns = _some(self.columns, str)
                none = self.none or "missing"
                several = self.several or "missing"
                return (
                    f"Make {column} from {columns}; in none of them: {none}, in two or "
                    f"more: {several}"
                )
            case "single_choice":
                several = self.several or "missing"
                return (
                    f"Read {column} as one choice; two or more with "
                    f"{self.separator!r} between them: {several}"
                )


def _some(values: tuple[str, ...], written: Callable[[str], str] = repr) -> str:
    """Return the first values in words, and how many more there are."""
    text = ", ".join(written(value) for value in values[:_MOST_NAMED])
    n_more = len(values) - _MOST_NAMED
    return f"{text} and {n_more:,} more" if n_more > 0 else text
