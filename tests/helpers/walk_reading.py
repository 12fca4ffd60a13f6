"""A page as a reader has it: headline, chip, cards, figures, tables and sentences."""

import re
from dataclasses import dataclass
from typing import Any

import pandas as pd
from reading import drawn, place_of, sent
from walk_question import Question

from fairdash.ui import pages

_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_MENU = set(pages.sections())


@dataclass(frozen=True)
class Card:
    """One number of a page as text, with its note and its change."""

    value: str
    note: str = ""
    delta: str = ""


@dataclass(frozen=True, eq=False)
class Reading:
    """What a page shows in one state; texts are as a reader has them on screen.

    ``failures`` are bugs, ``refusals`` say that and why a question has no answer.
    ``chip`` is the model looked at, by the value of its control: a label, or an id on
    the Sweep page. ``settings`` are what the linked pictures of a sweep draw,
    ``nothing`` is what the front says where it has no mark.
    """

    page: str
    failures: list[str]
    refusals: list[str]
    headlines: list[str]
    texts: list[str]
    chip: str | None
    cards: dict[str, Card]
    figures: list[dict[str, Any]]
    tables: list[pd.DataFrame]
    settings: list[dict[str, Any]]
    nothing: str
    controls: dict[str, Any]

    @classmethod
    def of(cls, name: str, page: Any) -> "Reading":
        """Read a page of `AppTest`."""
        boxes = [*page.error, *page.warning, *page.info]
        messages = [f"{box.proto.title} {box.value}" for box in page.error]
        failures = [element.value for element in page.exception]
        failures += [words for words in messages if "incident" in words]
        paragraphs = [*page.markdown, *page.caption, *boxes]
        texts = [as_read(element.value) for element in paragraphs]
        texts += [as_read(box.proto.title) for box in boxes]
        pills = [group for group in page.get("button_group") if group.label == "Model"]
        n_figures = len(page.get("plotly_chart"))
        return cls(
            page=name,
            failures=failures,
            refusals=[words for words in messages if words not in failures],
            headlines=[as_read(header.value) for header in page.header],
            texts=[text for text in texts if text and text not in _MENU],
            chip=pills[0].value if pills else None,
            cards=_cards(page),
            figures=[drawn(page, place) for place in range(n_figures)],
            tables=[frame.value for frame in page.dataframe],
            settings=_settings(page),
            nothing=(sent(page, "linked") or {}).get("none_decides", ""),
            controls=_controls(page),
        )

    @property
    def question(self) -> Question:
        """What the controls of the page ask."""
        return Question.of(self.page, self.controls)

    @property
    def sentences(self) -> list[str]:
        """Every sentence of the page, headlines first."""
        paragraphs = [*self.headlines, *self.texts]
        lines = [line for text in paragraphs for line in text.splitlines()]
        return [part for line in lines for part in _SENTENCE.split(line) if part]

    @property
    def prose(self) -> str:
        """All texts of the page, one after another."""
        return "\n".join([*self.headlines, *self.texts])


def as_read(text: str) -> str:
    """Return what a reader sees of a text that Streamlit shows as Markdown."""
    text = text.replace(":color[]", "").replace("**", "")
    return re.sub(r"\\(?=[\W_])", "", text)


def _cards(page: Any) -> dict[str, Card]:
    cards = {
        as_read(metric.label): Card(
            as_read(metric.value),
            as_read(metric.proto.delta_description),
            as_read(metric.delta),
        )
        for metric in page.metric
    }
    pictures = sent(page, "linked")
    if pictures is None:
        return cards
    place = place_of(page)
    labels = [card["label"] for card in pictures["cards"]]
    for label, value in zip(labels, pictures["values"][str(place)], strict=True):
        cards[label] = Card(value["value"], value["note"], value["delta"])
    cards["Model"] = Card(_settings(page)[place]["label"])
    return cards


def _settings(page: Any) -> list[dict[str, Any]]:
    pictures = sent(page, "linked")
    return [] if pictures is None else pictures["summary"]["settings"]


def _controls(page: Any) -> dict[str, Any]:
    kinds = ("selectbox", "slider", "number_input", "select_slider", "radio")
    kinds += ("multiselect", "button_group", "toggle", "checkbox")
    widgets = [widget for kind in kinds for widget in page.get(kind)]
    # of two with one label the first is that of the question
    return {as_read(widget.label): widget.value for widget in reversed(widgets)}
