"""A file that a question needs, sent once: the address names it from then on."""

import streamlit as st

from fairdash.ui.selection import choose, entry, selection, with_entry
from fairdash.ui.widgets.state import store

MOST_MB = 200


def kept_upload(label: str, role: str) -> str | None:
    """Draw the field for a file; return the digest of its table, None without one.

    Parameters
    ----------
    label : str
    role : str
        What the file is for: its name in `Selection.files`.

    Raises
    ------
    ValueError
        When the file cannot be read as a table.
    """
    key = f"upload {role}"

    def sent_or_removed() -> None:
        if st.session_state[key] is None:
            choose(files=with_entry(selection().files, role, None))

    sent = st.file_uploader(
        label,
        type=["csv", "gz", "parquet"],
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
