"""An answer on a page: one form for every question."""

from collections.abc import Callable
from contextlib import nullcontext

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from fairdash import plots
from fairdash._escaping import plain
from fairdash.audits import Answer
from fairdash.ui.widgets.blocks import (
    context,
    figure,
    heading,
    kpi_row,
    show_table,
    table_download,
    verdict,
)

_COLUMNS = {"Rows": st.column_config.NumberColumn(format="localized")}


def show_answer(
    answer: Answer,
    key: str,
    *,
    top: DeltaGenerator | None = None,
    beside: DeltaGenerator | None = None,
    below: DeltaGenerator | None = None,
    control: Callable[[], None] | None = None,
    table_control: Callable[[], None] | None = None,
) -> None:
    """Draw an answer: context line, verdict, cards, figure, table, download.

    The long form of the verdict stands behind "How sure?".

    What a method changed stands on the cards.

    Parameters
    ----------
    key : str
        Identity of the figure between reruns.
    top, beside, below : container, optional
        Where context line and verdict, the figure, and the table stand; by default
        below each other.
    control, table_control : callable, optional
        Draw a control of the figure, and of the table, under its headline.
    """
    with top or nullcontext():
        if answer.facts:
            context(*answer.facts)
        if answer.verdict:
            verdict(answer.verdict)
        if answer.details:
            with st.popover("How sure?", type="tertiary"):
                st.markdown(plain(answer.details))
    if answer.cards:
        kpi_row(answer.cards)
    if answer.figure is not None:
        with beside or nullcontext():
            figure(
                answer.figure.finished(plots),
                key=key,
                caption=answer.caption,
                how=answer.how,
                table=answer.figure.numbers,
                control=control,
            )
    with below or nullcontext():
        show_numbers(answer, table_control)


def show_numbers(answer: Answer, control: Callable[[], None] | None = None) -> None:
    """Draw the table of an answer, and the download of all its numbers."""
    if answer.table is not None:
        heading(answer.table.title, answer.table.how)
        if control is not None:
            control()
        show_table(answer.table.frame, columns=_COLUMNS)
        if answer.table.note:
            st.caption(plain(answer.table.note))
    if answer.data is not None:
        table_download(
            "Download",
            answer.data,
            answer.file,
            icon=":material/download:",
            type="secondary",
        )
