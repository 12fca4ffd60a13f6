"""A result page, top to bottom: one screen, one answer.

Verdict with "how sure?", tray of models, at most four controls, one figure with the
cards beside it, and everything else under Evidence, one click away. On a phone the same
order stands in one column.

    screen = ui.result_page()
    with screen.tray:
        models = ui.pick_models(models, view.run)
    with screen.bar:
        measure = ui.pick_measure()
    screen.show(answer, "local")
    screen.evidence(answer, {"measures": ("Every measure", draw_measures)})
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from fairdash import plots
from fairdash._escaping import plain
from fairdash.audits import Answer, Setting
from fairdash.ui.selection import Fields, bound, selection
from fairdash.ui.widgets.answers import show_numbers
from fairdash.ui.widgets.blocks import card, draw_picture, heading, table_below

_MOST_CARDS = 4
_SHOWN = {"before": "Before", "both": "Before and after", "after": "After"}
Draw = Callable[[], None]


@dataclass(frozen=True)
class ScreenFields(Fields):
    """What the address says beside what every page knows."""

    # Which models the figure shows: see `Screen.before_after`.
    shown: str | None = None


class Screen(NamedTuple):
    """The places of a result page."""

    top: DeltaGenerator
    tray: DeltaGenerator
    bar: DeltaGenerator
    switch: DeltaGenerator
    figure: DeltaGenerator
    cards: DeltaGenerator
    below: DeltaGenerator

    def before_after(self, models: Sequence[Setting]) -> list[Setting]:
        """Draw the switch; return the models that the figure shows.

        The first is before, the last after; with one there is nothing to switch.
        """
        if len(models) < 2:
            return list(models)
        with self.switch:
            chosen = st.segmented_control(
                "Models in the figure",
                required=True,
                label_visibility="collapsed",
                **bound("shown", "both", named=_SHOWN),
            )
        kept = {"before": models[:1], "after": models[-1:]}
        return list(kept.get(str(chosen), models))

    def show(
        self,
        answer: Answer,
        key: str,
        *,
        shown: Answer | None = None,
        on_select: Callable[[], None] | None = None,
    ) -> None:
        """Draw verdict, cards and figure; the figure is that of ``shown``, if given."""
        with self.top:
            self._verdict(answer)
        with self.cards, st.grid(columns=2, min_column_width=140, gap=10):
            for item in answer.cards[:_MOST_CARDS]:
                card(item)
        drawing = (shown or answer).figure
        if drawing is not None:
            with self.figure:
                draw_picture(drawing.finished(plots), key=key, on_select=on_select)

    def _verdict(self, answer: Answer) -> None:
        with st.container(
            horizontal=True, vertical_alignment="center", gap="small", wrap=False
        ):
            st.header(plain(answer.finding), anchor=False, width="stretch")
            with (
                st.popover("how sure?", type="tertiary"),
                st.container(width=420),
            ):
                drawn = answer.figure and answer.figure.finished(plots)
                headline = f"{drawn.headline}." if drawn else ""
                for words in (answer.details, headline, answer.caption):
                    if words:
                        st.markdown(plain(words))
                st.caption(plain(" · ".join(filter(None, answer.facts))))

    def evidence(
        self, answer: Answer, sections: Mapping[str, tuple[str, Draw]]
    ) -> None:
        """Draw the line of openers, and each section that is open.

        ``sections`` have by a word for the address a title and what draws them. Table
        and method of the answer come after them.
        """
        own: dict[str, tuple[str, Draw]] = {
            "table": ("Table", lambda: _table(answer)),
            "how": ("How this is computed", lambda: _how(answer)),
        }
        offered = {**sections, **own}
        titles = {name: title for name, (title, _) in offered.items()}
        elsewhere = tuple(x for x in selection().opened if x not in titles)
        with self.below:
            opened = st.pills(
                "Evidence",
                selection_mode="multi",
                **bound(
                    "opened",
                    [],
                    named=titles,
                    shown=lambda names: [x for x in names if x in titles],
                    meant=lambda names: (*elsewhere, *names),
                ),
            )
            for name, (_, draw) in offered.items():
                if name in opened:
                    draw()


def result_page() -> Screen:
    """Lay out a result page and return its places, to be filled in any order."""
    top, tray = st.container(), st.container()
    with st.container(
        horizontal=True,
        horizontal_alignment="distribute",
        vertical_alignment="bottom",
        gap="small",
    ):
        bar = st.container(horizontal=True, vertical_alignment="bottom", gap="small")
        switch = st.container(width="content")
    left, cards = st.columns([3, 1], gap="medium")
    return Screen(top, tray, bar, switch, left, cards, st.container())


def _table(answer: Answer) -> None:
    if answer.figure is not None and answer.table is None:
        picture: Any = answer.figure.finished(plots)
        table_below(picture.table, picture.sent)
    show_numbers(answer)


def _how(answer: Answer) -> None:
    heading("How this is computed")
    st.markdown(answer.how)
    st.caption(plain(answer.caption))
