"""The frame of a page with a result: one screen, one answer.

From top to bottom: verdict with "how sure?", tray of models, one row of at most four
controls, one figure with at most four cards beside it, and a row of openers for the
evidence. What is open stands in the address.

    page = ui.result_page("weights")
    with page.tray:
        model = ui.pick_model(models, view.run)
    page.show(answer)
    page.evidence(ui.Evidence("epochs", "By epoch", draw_epochs))
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from fairdash import plots
from fairdash._escaping import plain
from fairdash._wording import without_sentences
from fairdash.audits import Answer, Looks, Setting
from fairdash.plots import Picture
from fairdash.ui.selection import Fields, SharedFields, bound
from fairdash.ui.widgets import blocks
from fairdash.ui.widgets.state import store

_WIDTHS = [3, 1]  # of figure and cards
_MOST_CARDS = 4  # in one row below a figure
_MOST_CARDS_BESIDE = 6  # in two columns beside it
_COLUMNS = dict.fromkeys(
    ("Rows", "People"), st.column_config.NumberColumn(format="localized")
)
_LOOKS = "looks"  # in the session, as the store has them: by run, or by data set
_SHOWN = {"before": "Before", "both": "Before and after", "after": "After"}


@dataclass(frozen=True)
class ResultFields(Fields):
    """Choices in the address of pages with a result."""

    # Which models the figure shows: see `ResultPage.before_after`.
    shown: str | None = None


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
    tray: DeltaGenerator
    controls: DeltaGenerator
    switch: DeltaGenerator
    figure: DeltaGenerator
    beside: DeltaGenerator
    cards: DeltaGenerator
    below: DeltaGenerator
    most_cards: int
    _answer_evidence: list[Evidence] = field(default_factory=list)

    def before_after(self, models: Sequence[Setting]) -> list[Setting]:
        """Draw the switch beside the controls; return the models the figure shows.

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
        parts = {"before": models[:1], "after": models[-1:]}
        return list(parts.get(str(chosen), models))

    def show(
        self,
        answer: Answer,
        *,
        shown: Answer | None = None,
    ) -> None:
        """Draw verdict, cards and figure of an answer; the rest becomes evidence.

        The figure is that of ``shown``, if given.
        """
        with self.verdict:
            say(answer)
        with self.cards:
            for item in answer.cards[: self.most_cards]:
                blocks.card(item)
        drawing = (shown or answer).figure
        picture = None
        if drawing is not None:
            picture = drawing.picture(plots)
            with self.figure:
                blocks.draw_picture(picture, key=self.name)
        self._note(picture, answer)

    def evidence(self, *openers: Evidence, first: str = "") -> None:
        """Draw the openers, and below them what is open.

        ``first`` is open until the user opens anything, or closes it.
        """
        by_name = {opener.name: opener for opener in (*openers, *self._answer_evidence)}
        if not by_name:
            return

        # A URL without any name opens the first again, so a closed one has a name too.
        closed = f"no {first}"

        def opened_here(names: tuple[str, ...]) -> list[str]:
            return [name for name in names if name in by_name]

        def opened_on_all_pages(names: list[str]) -> tuple[str, ...]:
            of_this_page = {*by_name, closed}
            elsewhere = [
                name for name in SharedFields.here().opened if name not in of_this_page
            ]
            if first and not names:
                names = [closed]
            return (*elsewhere, *names)

        with self.below:
            opened = st.pills(
                "Evidence",
                list(by_name),
                selection_mode="multi",
                format_func=lambda name: by_name[name].label,
                **bound(
                    "opened",
                    [first] if first in by_name else [],
                    shown=opened_here,
                    meant=opened_on_all_pages,
                    key=self.name,
                ),
            )
            # In the order of the pills, whatever the order of clicks.
            for name, opener in by_name.items():
                if name in (opened or []):
                    opener.draw()

    def _note(self, picture: Picture | None, answer: Answer) -> None:
        """Keep table and method as evidence: each needs no figure."""
        numbers = picture.table if picture else None
        if answer.figure is not None and answer.figure.numbers is not None:
            numbers = answer.figure.numbers

        def table() -> None:
            if answer.table is not None or answer.data is not None:
                show_numbers(answer)
            elif numbers is not None:
                blocks.show_table(numbers)

        def how() -> None:
            blocks.heading("How this is computed")
            st.markdown(answer.how)

        parts = (answer.table, answer.data, numbers)
        if any(part is not None for part in parts):
            self._answer_evidence.append(Evidence("table", "Table", table))
        if answer.how:
            self._answer_evidence.append(Evidence("how", "How this is computed", how))


def result_page(name: str, *, beside: bool = True) -> ResultPage:
    """Return the places of a page; ``name`` is the identity of its figure.

    Cards stand ``beside`` the figure, or in one row below it.
    """
    verdict = st.container(
        horizontal=True,
        vertical_alignment="center",
        gap="small",
        wrap=False,
        key="verdict",
    )
    tray = st.container()
    with st.container(
        horizontal=True,
        horizontal_alignment="distribute",
        vertical_alignment="bottom",
        gap="small",
    ):
        controls = st.container(
            horizontal=True, vertical_alignment="bottom", gap="small", key="controls"
        )
        switch = st.container(width="content")
    if beside:
        figure, column = st.columns(_WIDTHS, gap="medium")
        most_cards = _MOST_CARDS_BESIDE
        n_columns = 2
    else:
        figure = st.container()
        column = st.container()
        most_cards = _MOST_CARDS
        n_columns = _MOST_CARDS
    cards = column.grid(columns=n_columns, min_column_width=140, gap=10)
    below = st.container()
    return ResultPage(
        name,
        verdict,
        tray,
        controls,
        switch,
        figure,
        column,
        cards,
        below,
        most_cards,
    )


def say(answer: Answer) -> None:
    """Write the verdict and, behind "how sure?", its intervals, rows and seeds."""
    st.header(plain(answer.verdict), anchor=False, width="stretch")
    parts = [answer.details, _looked(answer)]
    if answer.figure is not None:
        picture = answer.figure.picture(plots)
        parts += [f"{picture.headline}.", picture.caption]
    parts.append(answer.caption)
    with st.popover("how sure?", type="tertiary"), st.container(width=380):
        for part in parts:
            # Details begin with the verdict, which stands above already.
            words = without_sentences(part, answer.verdict)
            if words:
                st.markdown(plain(words))
        st.caption(plain(" · ".join(filter(None, answer.facts))))


def _looked(answer: Answer) -> str:
    """Return what stays of a finding among all that was asked of its rows."""
    if answer.difference is None:
        return ""
    fields = SharedFields.here()
    looks_by_rows = st.session_state.setdefault(_LOOKS, {})
    owner = fields.run or fields.data
    if owner not in looks_by_rows:
        # An answer of no run and no data set has nothing to be kept with.
        looks_by_rows[owner] = Looks(store=store(), owner=owner) if owner else Looks()
    looks: Looks = looks_by_rows[owner]
    return looks.words(answer)


def show_numbers(answer: Answer) -> None:
    """Draw the table of an answer, and the download of all its numbers."""
    if answer.table is not None:
        blocks.heading(answer.table.title, answer.table.how)
        blocks.show_table(answer.table.frame, columns=_COLUMNS)
        if answer.table.note:
            st.caption(plain(answer.table.note))
    if answer.data is not None:
        blocks.table_download(
            "Download",
            answer.data,
            answer.file,
            icon=":material/download:",
            type="secondary",
        )
