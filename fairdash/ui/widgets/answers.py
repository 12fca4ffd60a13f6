"""An answer on a page: one form for every question."""

import streamlit as st

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


def show_answer(answer: Answer, key: str) -> None:
    """Draw an answer: context line, verdict, cards, figure, table, download.

    The long form of the verdict stands behind "How sure?". ``key`` is the identity of
    the figure between reruns.
    """
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
        figure(
            answer.figure.finished(plots),
            key=key,
            caption=answer.caption,
            how=answer.how,
            table=answer.figure.numbers,
        )
    show_numbers(answer)


def show_numbers(answer: Answer) -> None:
    """Draw the table of an answer, and the download of all its numbers."""
    if answer.table is not None:
        heading(answer.table.title, answer.table.how)
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
