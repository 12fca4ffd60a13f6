"""The frame of a page with a result: one screen, one answer.

From top to bottom: verdict, one row of at most four controls, one figure with cards
beside it, and a row of openers for the evidence. What is open stands in the address.

    page = ui.result_page("weights")
    with page.controls:
        ...  # at most four, such as ``measure = ui.pick_measure()``
    page.show(answer)
    page.evidence(ui.Evidence("epochs", "By epoch", draw_epochs))
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from fairdash import plots
from fairdash._escaping import plain
from fairdash.audits import Answer
from fairdash.plots import CONFIG, Picture
from fairdash.ui.selection import bound, selection
from fairdash.ui.widgets.blocks import kpi_row, show_table

_CARDS = [3, 1]  # widths of figure and cards


@dataclass(frozen=True)
class Evidence:
    """One opener: its name in the address, its label, and what draws it once open."""

    name: str
    label: str
    draw: Callable[[], None]


@dataclass
class ResultPage:
    """The places of a page; what is drawn in them may come in any order."""

    name: str
    verdict: DeltaGenerator
    controls: DeltaGenerator
    figure: DeltaGenerator
    cards: DeltaGenerator
    below: DeltaGenerator
    _own: list[Evidence] = field(default_factory=list)

    def show(
        self, answer: Answer, *, on_select: Callable[[], None] | None = None
    ) -> None:
        """Draw verdict, figure and cards of an answer; the rest becomes evidence."""
        with self.verdict:
            say(answer)
        if answer.figure is not None:
            picture = answer.figure.finished(plots)
            with self.figure:
                bare_figure(picture, key=self.name, on_select=on_select)
            self._note(picture, answer)
        if answer.cards:
            with self.cards:
                kpi_row(answer.cards)

    def evidence(self, *openers: Evidence) -> None:
        """Draw the openers, and below them what is open."""
        every = {each.name: each for each in (*openers, *self._own)}
        if not every:
            return

        def shown(names: tuple[str, ...]) -> list[str]:
            return [name for name in names if name in every]

        def meant(names: list[str]) -> tuple[str, ...]:
            others = [name for name in selection().opened if name not in every]
            return (*others, *names)

        with self.below:
            now = st.pills(
                "Evidence",
                list(every),
                selection_mode="multi",
                format_func=lambda name: every[name].label,
                **bound("opened", [], shown=shown, meant=meant, key=self.name),
            )
            for name in now or []:
                every[name].draw()

    def _note(self, picture: Picture, answer: Answer) -> None:
        """Keep the numbers of the figure, and how to read it, for the evidence."""
        assert answer.figure is not None, "only answers with a figure come here"
        numbers = answer.figure.numbers
        caption = " ".join(filter(None, [picture.caption, answer.caption]))

        def table() -> None:
            if numbers is None:
                show_table(picture.table, picture.sent)
            else:
                show_table(numbers)

        def how() -> None:
            st.markdown(answer.how)
            st.caption(plain(f"{picture.headline}. {caption}"))

        self._own.append(Evidence("table", "Table", table))
        self._own.append(Evidence("how", "How this is computed", how))


def result_page(name: str) -> ResultPage:
    """Return the places of a page; ``name`` is the identity of its figure."""
    verdict = st.container(horizontal=True, vertical_alignment="center", gap="small")
    controls = st.container(horizontal=True, vertical_alignment="bottom", gap="small")
    figure, cards = st.columns(_CARDS, gap="medium")
    below = st.container()
    return ResultPage(name, verdict, controls, figure, cards, below)


def say(answer: Answer) -> None:
    """Write the verdict and, behind "how sure?", its intervals, rows and seeds."""
    st.header(plain(answer.verdict), anchor=False, width="content")
    sure = " ".join(filter(None, [answer.details, " · ".join(answer.facts)]))
    if sure:
        with st.popover("how sure?", type="tertiary"), st.container(width=360):
            st.markdown(plain(sure))


def bare_figure(
    picture: Picture, *, key: str, on_select: Callable[[], None] | None = None
) -> None:
    """Draw a picture without headline and caption, which the page says elsewhere."""
    # colour tokens are swapped when a figure mounts: a new theme is a new figure
    drawing = picture.finished().figure.with_meta(st.context.theme.type)
    selecting: dict[str, Any] = {}
    if on_select is not None:
        selecting = {"on_select": on_select, "selection_mode": "points"}
    st.plotly_chart(drawing, config=CONFIG, alt=picture.alt, key=key, **selecting)
