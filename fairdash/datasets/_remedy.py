"""One change of a table or of its roles, as data: what a click on a check does."""

from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, model_validator

from fairdash.datasets._labels import Labels
from fairdash.datasets._types import ColumnKind

RemedyKind = Literal[
    "leave_out",
    "not_a_subgroup",
    "merge_groups",
    "drop_duplicates",
    "missing",
    "recode",
    "convert",
    "date_parts",
]
# what a kind needs beside the column
_NEEDS: dict[str, tuple[str, ...]] = {
    "leave_out": (),
    "not_a_subgroup": (),
    "merge_groups": ("values", "into"),
    "drop_duplicates": (),
    "missing": ("values",),
    "recode": ("changes",),
    "convert": ("to",),
    "date_parts": (),
}
_SHOWN = 3


class Remedy(BaseModel):
    """One change of a table or of its roles; the uploaded file never changes.

    Attributes
    ----------
    kind : str
        "leave_out": the column is no feature any more, for ``reason``.
        "not_a_subgroup": the column describes no subgroups any more.
        "merge_groups": the groups ``values`` become one, named ``into``.
        "drop_duplicates": rows that repeat an earlier row in every column are left out.
        "missing": cells with one of ``values`` are missing.
        "recode": cells get another value, ``changes`` from label to label; several
        labels with one new value are merged.
        "convert": the column is read as ``to``, cells with one of ``values`` as
        missing.
        "date_parts": year, month and weekday of a date become columns of their own.
    column : str
        The column it concerns; "" for whole rows.
    values : tuple of str
        Labels, see `fairdash.datasets.Roles`.
    changes : dict of str to str
        New label by old label.
    into : str
        Name of the merged group.
    to : str, optional
        A kind of column: "number", "category", "yes_no", "date".
    reason : str
        Why, in a few words.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: RemedyKind
    column: str = ""
    values: Labels = ()
    changes: dict[str, str] = {}
    into: str = ""
    to: ColumnKind | None = None
    reason: str = ""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not self.column and self.kind != "drop_duplicates":
            raise ValueError(f"a remedy {self.kind!r} needs a `column`.")
        lacking = [name for name in _NEEDS[self.kind] if not getattr(self, name)]
        if lacking:
            raise ValueError(f"a remedy {self.kind!r} needs {lacking}.")
        return self

    def words(self) -> str:
        """Return what it does, as the label of a button."""
        column, some = self.column, _some(self.values)
        match self.kind:
            case "leave_out":
                return f"Leave out {column}"
            case "not_a_subgroup":
                return f"Take {column} out of the subgroups"
            case "merge_groups":
                return f"Merge {some} into {self.into}"
            case "drop_duplicates":
                return "Leave out repeated rows"
            case "missing":
                return f"Read {some} in {column} as missing"
            case "recode":
                new = tuple(dict.fromkeys(self.changes.values()))
                if len(self.changes) > _SHOWN:
                    into = f" as {new[0]!r}" if len(new) == 1 else ""
                    return f"Rewrite {len(self.changes):,} values of {column}{into}"
                return f"Write {_some(tuple(self.changes))} in {column} as {_some(new)}"
            case "convert":
                kind = str(self.to).replace("_", "/")
                rest = f", {some} as missing" if self.values else ""
                return f"Read {column} as {kind}{rest}"
            case "date_parts":
                return f"Use year, month, weekday of {column}"


def _some(values: tuple[str, ...]) -> str:
    shown = ", ".join(repr(value) for value in values[:_SHOWN])
    rest = len(values) - _SHOWN
    return f"{shown} and {rest:,} more" if rest > 0 else shown
