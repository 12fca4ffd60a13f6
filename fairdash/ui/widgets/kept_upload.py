"""A file that a question needs, sent once: the address names it from then on."""

from collections.abc import Callable

import streamlit as st

from fairdash.datasets import TableFormat
from fairdash.ui.selection import choose, entry, selection, with_entry
from fairdash.ui.widgets.state import store

MOST_MB = 200
TABLE_FILES = ["csv", "tsv", "txt", "data", "gz", "zip", "parquet", "xlsx"]
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

    Parameters
    ----------
    content, name, sheet, form
        As `TableStore.add_table` takes them.
    check : callable
        Given the digest, raises ValueError where the table is refused; nothing is kept
        of it then, unless it was kept before.

    Raises
    ------
    ValueError
        As ``check`` does, or when the file cannot be read.
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

    Parameters
    ----------
    label : str
    role : str
        What the file is for: its name in `Selection.files`.
    turn : int, default=0
        Another one draws an empty field, after the file was taken away.

    Raises
    ------
    ValueError
        When the file cannot be read as a table.
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
