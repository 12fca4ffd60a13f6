"""Upload a table, and read it differently where it was misunderstood."""

from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import streamlit as st
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import UploadedFile

from fairdash._escaping import plain
from fairdash._wording import plural
from fairdash.box import Watch
from fairdash.datasets import (
    SeveralTablesError,
    TableFormat,
    listed_sources,
    sniff_apart,
    write_listed,
)
from fairdash.ui.data.computed import file_of
from fairdash.ui.data.table import OpenTable, first_roles, sample_cards, title_of
from fairdash.ui.widgets.blocks import TABLE_FILES, keep_fit, problem
from fairdash.ui.widgets.frame import open_page
from fairdash.ui.widgets.state import store, who

_PAGE = "pages/1_Data.py"
_FEWEST_COLUMNS = 2
_LARGEST = 500  # MB
_SAID = "read anew"  # key of what is told once the file was read differently
_STOPPED = "stopped reading"  # key of how often; another one empties the field


def pick_format(form: TableFormat, key: str) -> TableFormat:
    """Draw how a CSV file is written, filled in with what was found, and return it.

    Raises ValueError if one mark is chosen for decimals and thousands.
    """
    with st.grid(columns=2, min_column_width=180, gap="xsmall"):
        delimiter = _pick("Delimiter", form, "delimiter", key)
        encoding = _pick("Encoding", form, "encoding", key)
        decimal = _pick("Numbers", form, "decimal", key)
        thousands = _pick("Thousands", form, "thousands", key)
    header = st.toggle("The first row names the columns", form.header, key=f"{key} top")
    return replace(
        form,
        delimiter=delimiter,
        encoding=encoding,
        decimal=decimal,
        thousands=thousands,
        header=header,
    )


def _pick(label: str, form: TableFormat, field: str, key: str) -> str:
    """Draw a choice of values by name; of those with one name, the current or first."""
    names, current = form.CHOICES[field], getattr(form, field)
    values = {name: value for value, name in reversed(list(names.items()))}
    values[names[current]] = current
    options = list(dict.fromkeys(names.values()))
    chosen = st.selectbox(
        label,
        options,
        index=options.index(names[current]),
        format_func=lambda name: name[0].upper() + name[1:],
        key=f"{key} {label}",
    )
    return values[chosen]


def choose_table() -> None:
    """Draw the upload and the samples; a choice opens it on the Data page."""
    uploaded = st.file_uploader(
        "Upload a table, one row a case: CSV, Excel, JSON or Parquet, plain or packed",
        type=TABLE_FILES,
        max_upload_size=_LARGEST,
        key=f"upload {st.session_state.get(_STOPPED, 0)}",
    )
    if uploaded is not None:
        _load(uploaded)
    _choose_source()
    st.header("Or start from a sample with a planted, known bias", anchor=False)
    sample_cards()


def _choose_source() -> None:
    """Draw the sources that the operator lists for this user, if there are any."""
    user = who()
    mail = user.mail if user else ""
    try:
        sources = listed_sources(mail)
    except ValueError as error:
        problem("No source can be read", error)
        return
    if not sources:
        return
    chosen = st.selectbox(
        "Or read a table of this server",
        sources,
        index=None,
        placeholder="Choose a source",
        help="The operator lists them. Credentials stay on the server.",
        key="source",
    )
    if chosen is None or not st.button("Read it", key="read source"):
        return
    try:
        with (
            st.spinner(plain(f"Reading {chosen}…")),
            store().workspace() as folder,
        ):
            path = Path(folder) / "rows.parquet"
            source = write_listed(chosen, mail, path)
            digest = store().add_table(path, source.name)
    except ValueError as error:
        problem(f"{chosen} was not read", error)
        return
    _open(digest, source.name)


def reread(table: OpenTable) -> None:
    """Say how the file was read and let the reader correct it.

    The store keeps the table and not the file, so the file is uploaded once more. What
    it was before goes, unless a run or another data set needs it.
    """
    if said := st.session_state.pop(_SAID, ""):
        st.toast(plain(said), icon=":material/swap_horiz:", duration="long")
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
            type=TABLE_FILES,
            max_upload_size=_LARGEST,
            disabled=chosen == form,
            key=f"{key} file {st.session_state.get(_STOPPED, 0)}",
        )
        needed = _needed_by(table)
        st.caption(
            "Only the table is kept here, not the file. Roles are guessed anew. "
            + (
                f"This data set stays beside the new one: {needed}."
                if needed
                else "This data set is replaced."
            )
        )
        if uploaded is not None and chosen != form:
            _load(uploaded, sheet=chosen.sheet, form=chosen, before=table)


def _found(table: OpenTable) -> TableFormat | None:
    form = store().table_format(table.digest)
    return None if form is None or form.kind == "parquet" else form


def _load(
    uploaded: UploadedFile,
    *,
    sheet: str | None = None,
    form: TableFormat | None = None,
    before: OpenTable | None = None,
) -> None:
    """Keep a file and open it, or say what is wrong and ask for what would help."""
    content, file = uploaded.getvalue(), uploaded.name
    try:
        watch = _stoppable(uploaded)
        with st.spinner(plain(f"Reading {file}…")):
            digest = keep_fit(
                content, file, _check_columns, sheet=sheet, form=form, watch=watch
            )
    except SeveralTablesError as several:
        asked = st.pills(
            plain(f"{several.found}. Which one?"),
            several.names,
            format_func=plain,
        )
        if asked:
            _load(uploaded, sheet=asked, form=form)
        return
    except ValueError as error:
        problem(f"{file} was not loaded", error)
        if form is None:
            _load_as_said(uploaded, sheet)
        return
    parts = [title_of(file), *([title_of(sheet)] if sheet else [])]
    own = before is not None and store().was_read_from(before.digest, content)
    del content
    _forget(uploaded)
    if before is None or before.digest == digest:
        _open(digest, " ".join(parts))
    elif own:
        st.session_state[_SAID] = _replace(before)
        _open(digest, before.name)
    else:
        st.session_state[_SAID] = f"{file} is another file: {before.name} stays."
        _open(digest, " ".join(parts))


def _stoppable(uploaded: UploadedFile) -> Watch:
    """Return what draws how long a large file is being read, with a way to stop it.

    What Streamlit raises while it draws, once the page is to be run anew, ends that.
    """
    line = st.container(horizontal=True, vertical_alignment="center", gap="small")
    words, button = line.empty(), line.empty()
    drawn: list[bool] = []

    def stop() -> None:
        _forget(uploaded)
        st.session_state[_STOPPED] = st.session_state.get(_STOPPED, 0) + 1

    def watch(seconds: float, waiting: bool) -> None:
        reason = ", waits for your other files" if waiting else ""
        words.caption(f"{seconds:.0f} s{reason}", width="content")
        if not drawn:
            button.button("Stop reading", icon=":material/close:", on_click=stop)
            drawn.append(True)

    return watch


def _needed_by(table: OpenTable) -> str:
    """Return what needs a table as it was read, or ""."""
    made = _made_of(table)
    runs = sum(len(store().runs(data)) for data in made)
    if runs:
        return f"{plural(runs, 'run')} on it"
    return f"{len(made)} data sets are made of its table" if len(made) > 1 else ""


def _replace(table: OpenTable) -> str:
    """Delete what a file was read as before, if nothing needs it, and say what was."""
    needed = _needed_by(table)
    if needed:
        return f"{table.name} as it was read before stays: {needed}."
    made = _made_of(table)
    for data in made:
        store().delete_dataset(data)
    if not made:
        store().delete_table(table.digest)
    return f"{table.name} was read anew and replaces what was read before."


def _made_of(table: OpenTable) -> list[str]:
    known = store().datasets()
    return [data.id for data in known if data.table_sha256 == table.digest]


def _load_as_said(uploaded: UploadedFile, sheet: str | None) -> None:
    """Ask how a CSV file is written and read it so; other files need no asking."""
    content, file = uploaded.getvalue(), uploaded.name
    try:
        home = store().home
        found = sniff_apart(content, home, name=file, sheet=sheet, owner=str(home))
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
        _load(uploaded, sheet=sheet, form=chosen)


def _forget(uploaded: UploadedFile) -> None:
    """Free the bytes of a file, which Streamlit keeps as long as the session lives."""
    context = get_script_run_ctx()
    if context is None:
        return
    manager = context.uploaded_file_mgr
    if isinstance(manager, MemoryUploadedFileManager):
        manager.remove_file(context.session_id, uploaded.file_id)
    uploaded.close()


def _check_columns(digest: str) -> None:
    n_columns = next(t.n_columns for t in store().tables() if t.sha256 == digest)
    if n_columns < _FEWEST_COLUMNS:
        raise ValueError(
            f"It has too few columns, {n_columns}. An outcome and a sensitive column "
            "are needed: two columns, and features to train from."
        )


def _open(digest: str, name: str) -> None:
    roles = first_roles(digest, file_of(digest))
    if roles.guessed:
        with suppress(ValueError):  # the form shows what is wrong with the guess
            open_page(_PAGE, data=store().add_dataset(digest, roles, name))
    open_page(_PAGE, table=digest)
