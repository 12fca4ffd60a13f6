"""Tables as files: what a spreadsheet would run as a formula stays text."""

from collections.abc import Callable
from typing import Any

import pandas as pd
import streamlit as st

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\n")


def as_csv(table: pd.DataFrame) -> str:
    """Return a table as CSV that a spreadsheet can open.

    A text that begins as a formula does gets an apostrophe before it, which marks it as
    text in a spreadsheet. Numbers, also those kept as text, stay as they are.
    """
    safe = table.copy(deep=False)
    for position in range(safe.shape[1]):
        column = safe.iloc[:, position]
        if not pd.api.types.is_numeric_dtype(column):
            safe.isetitem(position, [_as_text(value) for value in column])
    safe.columns = pd.Index([_as_text(name) for name in safe.columns])
    return safe.to_csv(index=False)


def table_download(
    label: str,
    table: Callable[[], pd.DataFrame] | pd.DataFrame,
    file_name: str,
    **options: Any,
) -> None:
    """Offer a table as CSV, by default as an entry of the Export popover.

    Parameters
    ----------
    label : str
    table : DataFrame or callable
        A callable is asked for the table when the button is pressed.
    file_name : str
    **options
        Of `st.download_button`; ``type="secondary"`` outside the popover.
    """
    st.download_button(
        label,
        lambda: as_csv(table() if callable(table) else table),
        file_name=file_name,
        mime="text/csv",
        on_click="ignore",
        **{
            "icon": ":material/table:",
            "type": "tertiary",
            "width": "content" if options.get("type") == "secondary" else "stretch",
            **options,
        },
    )


def _as_text(value: object) -> object:
    if not isinstance(value, str):
        return value
    text = value.replace("\r\n", "\n").replace("\r", "\n")  # or it would end the row
    if text.startswith(FORMULA_STARTS):
        try:
            float(text)
        except ValueError:
            return f"'{text}"
    return text
