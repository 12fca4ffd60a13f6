"""Upload a table, or read one of those that the operator lists."""

from pathlib import Path
from typing import Any

import streamlit as st

from fairdash._escaping import plain, visible
from fairdash._wording import listing
from fairdash.box import Watch
from fairdash.datasets import reading, sources
from fairdash.ui import private
from fairdash.ui.data.source_audit import open_source
from fairdash.ui.data.table import OpenTable, open_digest, sample_cards, title_of
from fairdash.ui.widgets.blocks import problem
from fairdash.ui.widgets.state import store, who
from fairdash.ui.widgets.uploads import TABLE_MB


def choose_table() -> None:
    """Draw the upload and the samples; a choice opens it on the Data page."""
    uploaded = st.file_uploader(
        "Upload a table, one row a case or with a column of counts: "
        f"{listing(reading.programs())}, plain or packed",
        type=list(reading.upload_suffixes()),
        max_upload_size=TABLE_MB,
        key="upload",
    )
    form = _pick_format()
    if uploaded is not None:
        _load(uploaded, form=form)
    _choose_source()
    st.header("Or start from a sample with a planted, known bias", anchor=False)
    sample_cards()


def _pick_format() -> reading.TableFormat | None:
    with st.popover("How a CSV file is written", type="tertiary"):
        if st.toggle("Found automatically", True, key="format found"):
            return None
        with st.grid(columns=2, min_column_width=180, gap="xsmall"):
            marks: dict[str, Any] = {
                field: st.selectbox(
                    field.capitalize(),
                    list(choices),
                    format_func=choices.__getitem__,
                    key=f"format {field}",
                )
                for field, choices in reading.TableFormat.CHOICES.items()
            }
        header = st.toggle("The first row names the columns", True, key="format header")
        try:
            return reading.TableFormat(**marks, header=header)
        except ValueError as error:
            problem("The file cannot be read like this", error)
            return None


def _choose_source() -> None:
    user = who()
    mail = user.mail if user else ""
    try:
        listed = sources.listed_sources(mail)
    except ValueError as error:
        problem("No source can be read", error)
        return
    if not listed:
        return
    chosen = st.selectbox(
        "Or read a table of this server",
        listed,
        index=None,
        format_func=visible,
        placeholder="Choose a source",
        help="The operator lists them. Credentials stay on the server.",
        key="source",
    )
    if chosen is None:
        return
    with st.container(horizontal=True, gap="xsmall"):
        is_read = st.button("Read it", key="read source")
        is_audited = st.button(
            "Audit without loading",
            key="audit source",
            help="Asks the source for counts. No row is read, whatever its size.",
        )
    if is_audited:
        open_source(chosen)
    if not is_read:
        return
    try:
        with st.spinner(plain(f"Reading {chosen}…")), store().workspace() as folder:
            path = Path(folder) / "rows.parquet"
            title = sources.write_listed(chosen, mail, path).title
            digest = store().add_table(path, title)
    except ValueError as error:
        problem(f"{chosen} was not read", error)
        return
    open_digest(digest, title)


def how_read(table: OpenTable) -> str:
    """Return how the file of a table was read, "" of Parquet."""
    form = store().table_format(table.digest)
    return "" if form is None or form.kind == "parquet" else form.describe()


def _load(
    uploaded: private.UploadedFile,
    *,
    form: reading.TableFormat | None,
    sheet: str | None = None,
) -> None:
    content = uploaded.getvalue()
    file = uploaded.name
    try:
        with st.spinner(plain(f"Reading {file}…")):
            digest = store().add_table(
                content, file, sheet=sheet, table_format=form, watch=_watch()
            )
    except reading.SeveralTablesError as several:
        chosen = st.pills(
            plain(f"{several.place}. Which one?"), several.names, format_func=plain
        )
        if chosen:
            _load(uploaded, sheet=chosen, form=form)
        return
    except ValueError as error:
        problem(f"{file} was not loaded", error)
        return
    # The table is kept: neither this process nor Streamlit needs the bytes any more.
    del content
    private.forget_upload(uploaded)
    open_digest(digest, " ".join(map(title_of, filter(None, [file, sheet]))))


def _watch() -> Watch:
    words = st.empty()

    def watch(seconds: float, waiting: bool) -> None:
        reason = ", waits for your other files" if waiting else ""
        words.caption(f"{seconds:.0f} s{reason}")

    return watch
