"""Files of tables: as a download, and sent once, from then on named by the address."""

from collections.abc import Callable
from typing import Any

import pandas as pd
import streamlit as st

from fairdash.datasets import TableFormat
from fairdash.ui.selection import choose, entry, selection, with_entry
from fairdash.ui.widgets.state import store

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\n")
MOST_MB = 200
TABLE_FILES = ["csv", "tsv", "txt", "data", "gz", "zip", "parquet", "xlsx"]


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
    """Offer a table as CSV, made on the click if it is a callable.

    ``options`` are those of `download`; ``type="secondary"`` outside of a popover.
    """
    if options.get("type") == "secondary":
        options = {"width": "content", **options}
    download(
        label,
        lambda: as_csv(table() if callable(table) else table),
        file_name,
        **{"icon": ":material/table:", "mime": "text/csv", **options},
    )


def download(
    label: str,
    content: Callable[[], str | bytes] | str,
    file_name: str,
    **options: Any,
) -> None:
    """Offer a file, made on the click if it is a callable, as an entry of a popover."""
    usual = {"type": "tertiary", "width": "stretch", "on_click": "ignore"}
    st.download_button(label, content, file_name, **{**usual, **options})


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


TABLE_FILES += ["json", "jsonl", "ndjson"]


def keep_fit(
    content: bytes,
    name: str,
    check: Callable[[str], None],
    *,
    sheet: str | None = None,
    form: TableFormat | None = None,
) -> str:
    """Keep a file that is fit for its use, and return the digest of its table.

    ``check``, given the digest, raises ValueError where the table is refused; nothing
    is kept of it then, unless it was kept before. So does a file that cannot be read.
    """
    before = {table.sha256 for table in store().tables()}
    digest = store().add_table(content, name, sheet=sheet, table_format=form)
    try:
        check(digest)
    except ValueError:
        if digest not in before:
            store().delete_table(digest)
        raise
    return digest


def kept_upload(label: str, role: str, *, turn: int = 0) -> str | None:
    """Draw the field for a file; return the digest of its table, None without one.

    ``role`` says what the file is for, its name in `Selection.files`; another ``turn``
    draws an empty field, after the file was taken away. Raises ValueError when the file
    cannot be read as a table.
    """
    key = f"upload {role} {turn}"

    def sent_or_removed() -> None:
        if st.session_state[key] is None:
            choose(files=with_entry(selection().files, role, None))

    sent = st.file_uploader(
        label,
        type=TABLE_FILES,
        max_upload_size=MOST_MB,
        key=key,
        on_change=sent_or_removed,
    )
    kept = entry(selection().files, role)
    if sent is not None:
        digest = store().add_table(sent.getvalue(), sent.name)
        if digest != kept:
            choose(files=with_entry(selection().files, role, digest))
        return digest
    names = {table.sha256: table.name for table in store().tables()}
    if kept not in names:
        return None
    st.caption(f"{names[kept]} is in use; another file replaces it.")
    return kept
