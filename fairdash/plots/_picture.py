"""A figure with everything that is said of it, from one input."""

import re
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import pandas as pd
from plotly.basedatatypes import BaseFigure

_ANCHOR = re.compile(r"<(?=\s*/?\s*a\b)", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class Picture:
    """A figure, its headline, its description and its numbers: they cannot disagree.

    Attributes
    ----------
    headline : str
        What the figure shows, one sentence of at most 70 characters; a fact that is
        computed from ``table``.
    alt : str
        The same for a reader who does not see the figure.
    table : DataFrame
        The numbers drawn.
    caption : str
        Statistic, kind of interval, rows, seeds, meaning of dashes.
    """

    figure: Any
    headline: str
    alt: str
    table: pd.DataFrame
    caption: str = ""

    def finished(self) -> Self:
        """Return the picture with a figure that is drawn often and changes no more."""
        if isinstance(self.figure, FinishedFigure):
            return self
        document = without_links(self.figure.to_dict())
        return replace(self, figure=FinishedFigure(document))


def without_links(part: Any) -> Any:
    """Return a part of a figure whose texts make no link.

    Plotly reads a little HTML in any text, and a group may be named ``<a href=…>``.
    """
    match part:
        case str():
            return _ANCHOR.sub("&lt;", part) if "<" in part else part
        case dict():
            return {key: without_links(value) for key, value in part.items()}
        case list() | tuple():
            return [without_links(value) for value in part]
        case np.ndarray() if part.dtype == object:
            return without_links(part.tolist())
    return part


class FinishedFigure(BaseFigure):  # type: ignore[misc]
    """A figure as the browser reads it, made once.

    Plotly copies a figure each time it is sent, which takes some milliseconds.
    ``document`` has ``data`` and ``layout``, which nobody writes to.
    """

    def __init__(self, document: dict[str, Any]) -> None:
        self._document = document

    def to_dict(self) -> dict[str, Any]:
        """Return the document itself."""
        return self._document

    def with_meta(self, meta: object) -> Self:
        """Return the figure with another ``meta`` in its layout."""
        layout = {**self._document["layout"], "meta": meta}
        return type(self)({**self._document, "layout": layout})
