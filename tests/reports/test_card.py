"""A model card says what the page says, to readers and to machines."""

import html

import pandas as pd
import pytest
import yaml
from markdown_it import MarkdownIt
from toys import people, train_sweep
from typer.testing import CliRunner

from fairdash.audits import opened_on
from fairdash.cli import app
from fairdash.reports import report
from fairdash.store import open_store

HOSTILE = "</script><script>alert(1)</script> | ![x](http://a.b/c)"


def parsed(card):
    """Return the metadata and the tokens of the Markdown."""
    _, head, body = card.split("---\n", 2)
    return yaml.safe_load(head), MarkdownIt("commonmark").enable("table").parse(body)


def tables(tokens):
    """Return the tables by the title above each."""
    found, title, rows, row = {}, "", [], []
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
            found[title] = pd.DataFrame(rows[1:], columns=rows[0])
            rows = []
    return found


def text(token):
    return "".join(child.content for child in token.children or ())


def test_a_datasheet_says_nothing_of_a_model(swept):
    card = report(*swept, sections=["data", "definitions"]).to_markdown()
    metadata, _ = parsed(card)
    assert metadata["pretty_name"] == "People"
    assert metadata.keys() & {"model-index", "pipeline_tag"} == set()
    assert "\n# People\n" in card
    assert "ROAD λ" not in card


def test_metadata_are_the_test_metrics_of_the_model_it_opens_on(swept):
    store, run = swept
    made = report(store, run)
    metadata, tokens = parsed(made.to_markdown())
    (model,) = metadata["model-index"]
    chosen = opened_on(store, run)
    assert model["name"] == chosen.label
    (result,) = model["results"]
    assert result["dataset"]["name"] == "People"
    assert result["dataset"]["split"] == "test"
    rows = store.snapshot(run).table()
    mine = rows[rows["key"].isin([trial.key for trial in chosen.trials])]
    names = {
        "Accuracy": "test_accuracy",
        "DI": "test_demographic_parity_difference",
        "Worst-1-DI": "test_worst_1_di",
    }
    for metric in result["metrics"]:
        mean = mine[names.pop(metric["name"])].mean()
        assert metric["value"] == pytest.approx(mean, abs=1e-4)
    assert not names
    shown = tables(tokens)["All settings"].set_index("Setting")
    accuracy = float(shown.loc[chosen.label, "Accuracy, test"])
    assert accuracy == pytest.approx(mine["test_accuracy"].mean(), abs=5e-4)


def test_every_section_and_comment_of_the_page_is_in_the_card(swept):
    store, run = swept
    made = report(store, run, comments={"summary": "We keep *this* one."})
    _, tokens = parsed(made.to_markdown())
    headings = [
        text(tokens[at + 1])
        for at, token in enumerate(tokens)
        if token.type == "heading_open" and token.tag == "h2"
    ]
    assert headings == [section.title for section in made.sections]
    assert any("We keep *this* one." in text(t) for t in tokens if t.children)


def test_names_in_a_card_stay_text(store_of_names):
    store, run = store_of_names
    card = report(store, run).to_markdown()
    _, tokens = parsed(card)
    drawn = [child.type for token in tokens for child in token.children or ()]
    assert not {"html_inline", "link_open", "image"} & set(drawn)
    assert "html_block" not in [token.type for token in tokens]
    shown = html.unescape("".join(text(token) for token in tokens if token.children))
    assert HOSTILE in shown.replace("\u2060", "")  # which parts addresses
    for table in tables(tokens).values():
        assert table.notna().all(axis=None)  # no bar in a name parts a cell


@pytest.fixture
def store_of_names(tmp_path):
    store = open_store(tmp_path / "home")
    frame = people().replace({"branch": {"works": HOSTILE}})
    run = train_sweep(store, frame, "[a](http://b.c) `x`")
    yield store, run
    store.close()


def test_the_shell_writes_a_card(swept, tmp_path):
    store, run = swept
    out = tmp_path / "card.md"
    arguments = ["report", run, "--out", str(out), "--home", str(store.home)]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert out.read_text() == report(store, run).to_markdown()
