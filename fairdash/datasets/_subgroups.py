"""Subgroups: the regions of a table in which fairness is looked at."""

from typing import Annotated, Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, model_validator

from fairdash._validation import check_positive
from fairdash.datasets._bins import (
    bin_column,
    cut_column,
    default_width,
    quantile_cuts,
)
from fairdash.datasets._columns import is_age, is_bare, is_number, label_codes
from fairdash.datasets._labels import Labels

EVERYBODY = "All rows"
FEW_VALUES = 8
TABLE_1_WIDTHS = (5, 10, 15, 20)


class Subgroups(BaseModel):
    """How rows are put together in subgroups.

    Numbers are cut in bins, other columns go by their values, and the columns are
    crossed. A number of at most eight different values goes by value too, unless its
    bins are chosen.

    Attributes
    ----------
    columns : tuple of str
        Columns that describe subgroups; none puts all rows in one.
    widths : dict of str to float
        Bin width of numbers; by default 10 for an age, else a round number that gives
        five to eight bins for most rows.
    quantiles : dict of str to int
        Numbers cut in that many bins of about equally many rows each, instead of bins
        of one width.
    cuts : dict of str to tuple of float
        Numbers cut at these points, each the lower end of a bin, instead.
    crossed : bool
        Whether the columns are crossed. If not, each column has subgroups of its own:
        see ``parts``.
    where : dict of str to tuple of str
        Only rows with these values are in a subgroup.
    min_size : int
        Fewest rows of a subgroup whose local gap is estimated.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    columns: tuple[str, ...] = ()
    widths: dict[str, float] = {}
    quantiles: dict[str, Annotated[int, Field(ge=2, le=20)]] = {}
    cuts: dict[str, Annotated[tuple[float, ...], Field(min_length=1)]] = {}
    crossed: bool = True
    where: dict[str, Labels] = {}
    min_size: Annotated[int, Field(ge=1)] = 50

    @model_validator(mode="after")
    def _check(self) -> Self:
        for column, width in self.widths.items():
            check_positive(f"widths[{column!r}]", width)
        for column, points in self.cuts.items():
            if list(points) != sorted(set(points)):
                raise ValueError(f"`cuts[{column!r}]` must rise, got {points}.")
        ways = [*self.widths, *self.quantiles, *self.cuts]
        double = sorted({name for name in ways if ways.count(name) > 1})
        if double:
            message = f"{double} have bins in more than one way"
            raise ValueError(f"{message}; give a width, quantiles or cuts.")
        twice = sorted({c for c in self.columns if self.columns.count(c) > 1})
        if twice:
            raise ValueError(f"`columns` names {twice} more than once.")
        return self

    def parts(self) -> tuple["Subgroups", ...]:
        """Return definitions that can label rows: this one, or one for each column."""
        if self.crossed or len(self.columns) < 2:
            return (self,)
        return tuple(
            self.model_copy(update={"columns": (column,)}) for column in self.columns
        )

    def label(self, frame: pd.DataFrame) -> "pd.Series[Any]":
        """Name the subgroup of each row.

        Bins at both ends follow the data, so label a whole table and choose rows
        after.

        Parameters
        ----------
        frame : DataFrame

        Returns
        -------
        Series of ordered categorical dtype
            Names such as "Female 25–34": the values first, then the bins, in order of
            size. Missing outside ``where`` and where a column is missing.

        Raises
        ------
        ValueError
            If a column is not in the table, text has a bin width, or several columns
            are not crossed.
        """
        self._check_frame(frame)
        pieces = [self._piece(frame[column]) for column in self._ordered(frame)]
        code = np.zeros(len(frame), dtype=np.int64)
        missing = ~self._inside(frame)
        for codes, labels in pieces:
            missing |= codes < 0
            code = code * len(labels) + codes
        seen = np.unique(code[~missing])
        compact = np.where(missing, -1, np.searchsorted(seen, code))
        values = pd.Categorical.from_codes(
            compact,
            categories=pd.Index(_names(seen, [labels for _, labels in pieces])),
            ordered=True,
        )
        return pd.Series(values, index=frame.index, name="subgroup")

    def _ordered(self, frame: pd.DataFrame) -> list[str]:
        """Return the columns that go by value, then those in bins."""
        binned = [name for name in self.columns if self._is_binned(frame[name])]
        return [name for name in self.columns if name not in binned] + binned

    def _is_binned(self, column: "pd.Series[Any]") -> bool:
        return str(column.name) in self._bins() or (
            is_number(column) and column.nunique() > FEW_VALUES
        )

    def _bins(self) -> set[str]:
        """Return the columns whose bins are chosen."""
        return {*self.widths, *self.quantiles, *self.cuts}

    def _piece(self, column: "pd.Series[Any]") -> tuple[NDArray[np.int64], list[str]]:
        """Return the codes and labels of one column."""
        name = str(column.name)
        if self._is_binned(column):
            codes, labels = self._cut(column)
            bare = is_age(name)
        else:
            codes, labels = label_codes(column)
            bare = not any(is_bare(label) for label in labels)
        return codes, labels if bare else [f"{name} {label}" for label in labels]

    def _cut(self, column: "pd.Series[Any]") -> tuple[NDArray[np.int64], list[str]]:
        name = str(column.name)
        cuts = self.cuts.get(name, ())
        if name in self.quantiles:
            cuts = quantile_cuts(column, self.quantiles[name])
        if cuts:
            return cut_column(column, cuts)
        return bin_column(column, self.widths.get(name) or default_width(column))

    def _inside(self, frame: pd.DataFrame) -> NDArray[np.bool_]:
        inside = np.ones(len(frame), dtype=bool)
        for column, values in self.where.items():
            codes, labels = label_codes(frame[column])
            inside &= np.isin(codes, [i for i, x in enumerate(labels) if x in values])
        return inside

    def _check_frame(self, frame: pd.DataFrame) -> None:
        absent = [c for c in (*self.columns, *self.where) if c not in frame]
        if absent:
            message = f"The table has no columns {absent} to make subgroups from"
            raise ValueError(f"{message}; choose among {list(frame.columns)[:20]}.")
        binned = self._bins()
        text = [c for c in self.columns if c in binned and not is_number(frame[c])]
        if text:
            raise ValueError(
                f"{text} hold no numbers, so they have no bins; remove them from "
                "`widths`, `quantiles` and `cuts`."
            )
        if len(self.parts()) > 1:
            raise ValueError(
                "Columns that are not crossed give overlapping subgroups; label each "
                "of `parts()`."
            )


def _names(cells: NDArray[np.int64], labels: list[list[str]]) -> list[str]:
    """Name cells of crossed columns; the last column varies fastest."""
    if not labels:
        return [EVERYBODY] * len(cells)
    positions = np.unravel_index(cells, [max(len(column), 1) for column in labels])
    parts = [
        [column[i] for i in position]
        for column, position in zip(labels, positions, strict=True)
    ]
    names = [" ".join(part) for part in zip(*parts, strict=True)]
    if len(set(names)) < len(names):
        names = [" · ".join(part) for part in zip(*parts, strict=True)]
    return names


def road_table_1(
    age_column: str, gender_column: str, frame: pd.DataFrame
) -> dict[str, Subgroups]:
    """Return the twelve definitions of subgroups of Table 1 of the ROAD paper.

    Age in bins of 5, 10, 15 and 20 years, for everybody, then for the first and the
    second value of ``gender_column`` alone; in the paper's order (0 to 11).

    Parameters
    ----------
    age_column, gender_column : str
    frame : DataFrame
        The table, for the values of gender.

    Returns
    -------
    dict of str to Subgroups
        By names such as "Female, age in 10s".

    Raises
    ------
    ValueError
        If ``gender_column`` has not exactly two values.

    References
    ----------
    Grari, Laugel, Hashimoto, Lamprier, Detyniecki: On the Fairness ROAD (ICLR 2024).
    """
    _, genders = label_codes(frame[gender_column])
    if len(genders) != 2:
        message = f"{gender_column!r} must have two values, got {genders}."
        raise ValueError(message)
    prefix = f"{gender_column} " if any(map(is_bare, genders)) else ""
    populations: list[tuple[str, dict[str, tuple[str, ...]]]] = [("Everybody", {})]
    populations += [(f"{prefix}{g}", {gender_column: (g,)}) for g in genders]
    return {
        f"{name}, age in {width}s": Subgroups(
            columns=(age_column,), widths={age_column: width}, where=where
        )
        for name, where in populations
        for width in TABLE_1_WIDTHS
    }
