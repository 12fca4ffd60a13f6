"""A model card says what the page says, to readers and to machines."""

import pandas as pd
import pytest
import yaml
from markdown_it import MarkdownIt

from fairdash.audits import choices
from fairdash.reports import report
from fairdash.reports._blocks import Figure


def parsed(card):
    """Return the metadata and the tokens of the Markdown."""
    _, head, body = card.split("---\n", 2)
    return yaml.safe_load(head), MarkdownIt("commonmark").enable("table").parse(body)


def tables(tokens):
    """Return the tables by the title above each."""
    results = {}
    title = ""
    rows = []
    row = []
    for at, token in enumerate(tokens):
        if token.type == "heading_open":
            title = text(tokens[at + 1])
        elif token.type == "tr_open":
            row = []
        elif token.type in ("th_open", "td_open"):
            row.append(text(tokens[at + 1]))
        elif token.type == "tr_close":
            rows.append(row)
        elif token.type == "table_close":
            results[title] = pd.DataFrame(rows[1:], columns=rows[0])
            rows = []
    return results


def text(token):
    return "".join(child.content for child in token.children or ())


def test_the_card_has_the_sections_and_the_numbers_of_the_page(swept):
    store, run = swept
    document = report(store, run)
    metadata, tokens = parsed(document.to_markdown())
    assert metadata["pipeline_tag"] == "tabular-classification"
    headings = [
        text(tokens[at + 1])
        for at, token in enumerate(tokens)
        if token.type == "heading_open" and token.tag == "h2"
    ]
    assert headings == [section.title for section in document.sections]
    chosen = choices.opened_on(store, run)
    rows = store.snapshot(run).table()
    mine = rows[rows["key"].isin([trial.key for trial in chosen.trials])]
    shown = tables(tokens)["All settings"].set_index("Setting")
    pictures = [
        block.picture.headline
        for section in document.sections
        for block in section.blocks
        if isinstance(block, Figure)
    ]
    prose = "\n".join(map(text, (t for t in tokens if t.type == "inline")))
    assert pictures
    assert all(f"{headline}." in prose for headline in pictures)
    accuracy = float(shown.loc[chosen.label, "Accuracy, test"])
    assert accuracy == pytest.approx(mine["test_accuracy"].mean(), abs=5e-4)
