"""Answers: every question comes to one form, which all places render.

A question is a function, or a method of its result, that returns an `Answer`. A page
draws it by `fairdash.ui.result_page`, a report holds it as `fairdash.reports.blocks_of`
does, a notebook shows it by `fairdash.show`, and the command line prints it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import pandas as pd

from fairdash._wording import Kpi
from fairdash.metrics import Finding


@dataclass(frozen=True, eq=False)
class Drawing:
    """A figure before it is drawn, so that an answer needs no Plotly.

    Attributes
    ----------
    plot : str
        Name of a function of `fairdash.plots`.
    table : DataFrame
        Its first argument.
    arguments : mapping
        Its other arguments, by name.
    numbers : DataFrame, optional
        Shown one click away instead of the picture's own table.
    """

    plot: str
    table: pd.DataFrame
    arguments: Mapping[str, Any] = field(default_factory=dict)
    numbers: pd.DataFrame | None = None

    def picture(self, plots: Any) -> Any:
        """Return the `fairdash.plots.Picture`, drawn once.

        ``plots`` is that room, which this one may not import.
        """
        if not self._drawn:
            draw = getattr(plots, self.plot)
            self._drawn.append(draw(self.table, **self.arguments))
        return self._drawn[0]

    @cached_property
    def _drawn(self) -> list[Any]:
        return []


@dataclass(frozen=True, eq=False)
class Listing:
    """A table with its title and, below it, what its columns are."""

    title: str
    frame: pd.DataFrame
    note: str = ""
    how: str = ""  # to read it, as Markdown


@dataclass(frozen=True, eq=False)
class Answer:
    """The answer to a question; a place shows the parts it has a use for.

    Attributes
    ----------
    verdict : str
        What stands first: two or three short sentences, nothing that no procedure
        holds. See `fairdash.wording.short_verdicts`.
    cards : sequence of Kpi
        Numbers with what makes them honest.
    figure : Drawing or None
    table : Listing or None
        Below the figure.
    caption : str
        Rows, seeds and intervals of the figure.
    difference : Finding or None
        The finding that the verdict writes, where it writes one; it is sure or not, and
        one of the `Looks` at the same rows.
    facts : tuple of str
        The context line: data set, rows, seeds.
    details : str
        Behind "how sure?": the verdict with its intervals, rows and seeds.
    how : str
        How to read the figure, as Markdown.
    changes : Listing or None
        What a method changed against another, on the same rows.
    file : str
        Name of the file that ``data`` is offered as.
    data : DataFrame or None
        All numbers behind the answer, for a file.
    """

    verdict: str
    cards: Sequence[Kpi] = ()
    figure: Drawing | None = None
    table: Listing | None = None
    caption: str = ""
    difference: Finding | None = None
    facts: tuple[str, ...] = ()
    details: str = ""
    how: str = ""
    changes: Listing | None = None
    file: str = "fairdash.csv"
    data: pd.DataFrame | None = None
