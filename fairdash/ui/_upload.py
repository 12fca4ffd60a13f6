"""Upload a table, and read it differently where it was misunderstood."""

import streamlit as st

from fairdash.datasets import TableFormat, sniff_table
from fairdash.ui._blocks import problem
from fairdash.ui._format import plain
from fairdash.ui._format_form import pick_format
from fairdash.ui._frame import open_page
from fairdash.ui._state import store
from fairdash.ui._table import OpenTable, first_roles, sample_cards, title_of

_PAGE = "pages/1_Data.py"
_FEWEST_COLUMNS = 3
_LARGEST = 500  # MB
_TYPES = ["csv", "tsv", "txt", "data", "gz", "zip", "parquet", "xlsx"]
_TYPES += ["json", "jsonl", "ndjson"]
_CHOOSE = "choose one with `sheet`"  # what the reader asks of a file of several tables


def choose_table() -> None:
    """Draw the upload and the samples; a choice opens it on the Data page."""
    uploaded = st.file_uploader(
        "Upload a table, one row a case: CSV, Excel, JSON or Parquet, plain or packed",
        type=_TYPES,
        max_upload_size=_LARGEST,
    )
    if uploaded is not None:
        _load(uploaded.getvalue(), uploaded.name)
    st.subheader("Or start from a sample with a planted, known bias", anchor=False)
    sample_cards()


def how_read(table: OpenTable) -> str:
    """Return how the file was read, "" where there was nothing to find out."""
    form = _found(table)
    return form.words() if form else ""


def reread(table: OpenTable) -> None:
    """Say how the file was read and let the reader correct it.

    The store keeps the table and not the file, so the file is uploaded once more.
    """
    form = _found(table)
    if form is None:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(plain(form.describe()), width="content")
        if form.kind != "csv":
            return
        key = f"reread {table.digest}"
        popover = st.popover("Read it differently", type="tertiary", key=key)
    with popover, st.container(width=420):
        try:
            chosen = pick_format(form, key)
        except ValueError as error:
            problem("The file cannot be read like this", error)
            return
        uploaded = st.file_uploader(
            "Then upload the file again",
            type=_TYPES,
            max_upload_size=_LARGEST,
            disabled=chosen == form,
            key=f"{key} file",
        )
        st.caption(
            "Only the table is kept here, not the file. It becomes another table, with "
            "roles guessed anew; this one stays as it is."
        )
        if uploaded is not None and chosen != form:
            content, file = uploaded.getvalue(), uploaded.name
            _load(content, file, sheet=chosen.sheet, form=chosen)


def _found(table: OpenTable) -> TableFormat | None:
    form = store().table_format(table.digest)
    return None if form is None or form.kind == "parquet" else form


def _load(
    content: bytes,
    file: str,
    *,
    sheet: str | None = None,
    form: TableFormat | None = None,
) -> None:
    """Keep a file and open it, or say what is wrong and ask for what would help."""
    try:
        digest = store().add_table(content, file, sheet=sheet, table_format=form)
        _check_columns(digest)
    except ValueError as error:
        problem(f"{file} was not loaded", error)
        if sheet is None and _CHOOSE in str(error):
            asked = st.text_input(
                "Which one?", placeholder="a name from the list above"
            )
            if asked:
                _load(content, file, sheet=asked.strip(), form=form)
        elif form is None:
            _load_as_said(content, file, sheet)
        return
    parts = [title_of(file), *([title_of(sheet)] if sheet else [])]
    _open(digest, " ".join(parts))


def _load_as_said(content: bytes, file: str, sheet: str | None) -> None:
    """Ask how a CSV file is written and read it so; other files need no asking."""
    try:
        found = sniff_table(content, name=file, sheet=sheet)
    except ValueError:  # said already: the file is empty or holds no table at all
        return
    if found.kind != "csv":
        return
    st.markdown(f"{plain(found.describe())} Is it written differently?")
    with st.form("format", width=500):
        try:
            chosen = pick_format(found, f"format {file}")
        except ValueError as error:
            chosen = None
            problem("The file cannot be read like this", error)
        pressed = st.form_submit_button("Read it like this")
    if pressed and chosen is not None:
        _load(content, file, sheet=sheet, form=chosen)


def _check_columns(digest: str) -> None:
    n_columns = store().table(digest).shape[1]
    if n_columns < _FEWEST_COLUMNS:
        raise ValueError(
            f"It has too few columns, {n_columns}. An outcome, a sensitive column and "
            "a feature are needed: three columns."
        )


def _open(digest: str, name: str) -> None:
    roles = first_roles(store().table(digest))
    try:
        data = store().add_dataset(digest, roles, name)
    except ValueError:
        open_page(_PAGE, table=digest)  # the form shows what is wrong with the guess
    open_page(_PAGE, data=data)
