"""The parts of a page: controls, KPI row, figure, empty, error, files both ways."""

from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from typing import Any, Literal

import pandas as pd
import streamlit as st
from pydantic import ValidationError
from streamlit.delta_generator import DeltaGenerator
from streamlit.elements.lib.mutable_popover_container import PopoverContainer

from fairdash._escaping import as_csv, plain, visible, visible_table
from fairdash._validation import explain_invalid
from fairdash._wording import MINUS, Kpi
from fairdash.datasets import reading
from fairdash.plots import Picture, theme
from fairdash.ui.selection import SharedFields, choose, entry, with_entry
from fairdash.ui.widgets.state import store
from fairdash.ui.widgets.uploads import FURTHER_TABLE_MB

_MARKING = Lock()  # of the theme, on a figure that several windows draw


def context(*facts: str) -> None:
    """Write the one line below the title: data set, rows, seeds."""
    st.caption(plain(" · ".join(fact for fact in facts if fact)))


def controls(columns: int = 4) -> DeltaGenerator:
    """Return the control bar, a grid for at most four controls."""
    return st.grid(
        columns=columns,
        min_column_width=150,
        gap=("xsmall", "medium"),
        vertical_alignment="bottom",  # a button has no label above it
    )


def more(
    label: str = "More", *, icon: str = ":material/tune:", **how: Any
) -> PopoverContainer:
    """Return a popover for the remaining controls, in line with those of the bar.

    ``how`` is what else `streamlit.popover` is told, such as a key that opens it.
    """
    return st.popover(label, icon=icon, **how)


def form_beside(
    key: str, *, answered: bool, form: float = 0.25
) -> tuple[DeltaGenerator, DeltaGenerator]:
    """Return the places of a form, a share of the width, and of its result.

    A phone shows them one above the other, the result first once it is ``answered``.
    """
    if answered:
        columns = f".st-key-{key} > * > [data-testid=stHorizontalBlock]"
        style = f"{columns} {{ flex-wrap: wrap-reverse; }}"
        st.html(f"<style>@media (max-width: 640px) {{ {style} }}</style>")
    with st.container(key=key):
        form_place, result_place = st.columns([form, 1 - form], gap="medium")
    return form_place, result_place


def figure(picture: Picture, *, key: str, caption: str = "", how: str = "") -> None:
    """Draw a picture under its headline, with its caption and table one click away.

    ``caption`` follows the picture's own, ``how`` says how to read it (Markdown).
    """
    caption = " ".join(filter(None, [picture.caption, caption]))
    with st.container(gap="xsmall"):
        heading(picture.headline, how)
        draw_picture(picture, key=key)
        if caption:
            st.caption(plain(caption))
        table_below(picture.table)


def draw_picture(picture: Picture, *, key: str) -> None:
    """Draw a picture and nothing beside it."""
    # Colour tokens are swapped when a figure mounts: a new theme is a new figure.
    # Windows of both themes may draw this one at the same time.
    with _MARKING:
        marked = picture.figure.update_layout(meta=st.context.theme.type)
        alt = visible(picture.alt)
        st.plotly_chart(marked, config=theme.CONFIG, alt=alt, key=key)


def table_below(table: pd.DataFrame) -> None:
    """Draw the numbers of a figure, behind a click."""
    with st.expander("Table", type="compact", icon=":material/table_rows:"):
        show_table(table)


def show_table(
    table: pd.DataFrame, columns: Mapping[str, Any] | None = None, **how: Any
) -> None:
    """Draw a table of numbers, with three decimals of every share.

    ``columns`` are configurations by name of column, ``how`` is for `st.dataframe`.
    """
    three_decimals = st.column_config.NumberColumn(format="%.3f")
    formats: dict[str, Any] = {}
    for name, kind in table.dtypes.items():
        if kind.kind == "f":
            formats[str(name)] = three_decimals
    formats |= columns or {}
    draw_table(table, formats, **how)


def draw_table(
    table: pd.DataFrame, columns: Mapping[str, Any] | None = None, **how: Any
) -> Any:
    """Draw a table, its texts to be read; return what was selected in it.

    ``columns`` are configurations by name of column, ``how`` is for `st.dataframe`.
    """
    how = {"hide_index": True, "placeholder": "–", **how}
    # Names of columns are a user's words: they are made visible as cells are.
    visible_columns = {
        visible(name): config for name, config in (columns or {}).items()
    }
    return st.dataframe(visible_table(table), column_config=visible_columns, **how)


def heading(text: str, how: str = "") -> None:
    """Write the finding of a figure and, behind a question mark, how to read it."""
    with st.container(
        horizontal=True, wrap=False, vertical_alignment="center", gap="small"
    ):
        st.header(plain(text), anchor=False, width="stretch")
        if how:
            popover = st.popover(
                ":material/help:", type="tertiary", help="How to read this figure"
            )
            with popover, st.container(width=340):
                st.markdown(how)


def empty(title: str, body: str, remedies: Mapping[str, Callable[[], None]]) -> None:
    """Draw the box of a page that has nothing to show yet, and the way on."""
    with st.container(border=True, horizontal_alignment="center", gap="small"):
        st.space("small")
        st.markdown(f"## {plain(title)}", text_alignment="center", anchors=False)
        st.caption(plain(body), text_alignment="center", width=520)
        _remedies(remedies, alignment="center")
        st.space("small")


def problem(
    title: str, body: object, remedies: Mapping[str, Callable[[], None]] | None = None
) -> None:
    """Say what did not happen and why, what to change, and offer the remedies.

    The title is such as "compas.csv was not loaded: two columns have the same name",
    the body usually the ValueError; the first remedy is the primary button.
    """
    why = explain_invalid(body) if isinstance(body, ValidationError) else body
    st.error(plain(why), title=plain(title), icon=":material/error:")
    _remedies(remedies or {}, alignment="left")


@st.dialog("Delete for good?")
def confirm_deletion(
    names: Sequence[str],
    note: str,
    delete: Callable[[], None],
    *,
    refused: str = "Not everything was deleted",
) -> None:
    """Ask before ``delete``, which draws the page anew or raises ValueError.

    ``names`` say what goes, ``note`` what goes with it and what stays.
    """
    for name in names:
        st.markdown(f"- {plain(name)}")
    st.caption(plain(note))
    if st.button("Delete", type="primary", icon=":material/delete:"):
        try:
            delete()
        except ValueError as error:
            st.error(plain(error), title=plain(refused))


def _remedies(
    remedies: Mapping[str, Callable[[], None]], alignment: Literal["left", "center"]
) -> None:
    """Draw a button for each remedy, the first as the primary one."""
    kind: Literal["primary", "secondary"] = "primary"
    pressed = []
    with st.container(horizontal=True, horizontal_alignment=alignment):
        for label, action in remedies.items():
            if st.button(label, type=kind):
                pressed.append(action)
            kind = "secondary"
    # After all buttons and outside of their row: an action may draw or open a page.
    for action in pressed:
        action()


def card(item: Kpi) -> None:
    """Draw a number with what makes it honest, in a box."""
    chip: dict[str, Any] = {}
    if item.delta:
        colours: dict[bool | None, str] = {True: "green", False: "red", None: "gray"}
        chip["delta"] = plain(item.delta)
        chip["delta_color"] = colours[item.good]
        # Streamlit's metric reads a typographic minus as positive.
        arrows = {"+": "up", MINUS: "down"}
        chip["delta_arrow"] = arrows.get(item.delta[0], "off")
    st.metric(
        plain(item.label),
        plain(item.value),
        help=plain(item.help) if item.help else None,
        delta_description=plain(item.note) or None,
        border=True,
        height="stretch",
        **chip,
    )


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
    label: str, content: Callable[[], str | bytes] | str, file_name: str, **options: Any
) -> None:
    """Offer a file, made on the click if it is a callable, as an entry of a popover."""
    # A download changes nothing on the page, so a click does not run it again.
    defaults = {"type": "tertiary", "width": "stretch", "on_click": "ignore"}
    st.download_button(label, content, file_name, **{**defaults, **options})


def kept_upload(label: str, role: str) -> str | None:
    """Draw the field for a file; return the digest of its table, None without one.

    ``role`` says what the file is for, its name in `SharedFields.files`. Raises
    ValueError when the file cannot be read as a table.
    """
    key = f"upload {role}"

    def forget_removed() -> None:
        if st.session_state[key] is None:
            choose(files=with_entry(SharedFields.here().files, role, None))

    sent = st.file_uploader(
        label,
        type=list(reading.upload_suffixes()),
        max_upload_size=FURTHER_TABLE_MB,
        key=key,
        on_change=forget_removed,
    )
    current = entry(SharedFields.here().files, role)
    if sent is not None:
        digest = store().add_table(sent.getvalue(), sent.name)
        if digest != current:
            choose(files=with_entry(SharedFields.here().files, role, digest))
        return digest
    names = {table.sha256: table.name for table in store().tables()}
    if current not in names:
        return None
    st.caption(plain(f"{names[current]} is in use; another file replaces it."))
    return current
