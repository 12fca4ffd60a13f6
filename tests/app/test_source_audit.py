"""A source of the operator's list is audited on the Data page without its rows."""

import numpy as np
import pandas as pd
import pytest
import yaml
from reading import button, figures, numbers, widget, words

from fairdash import ui
from fairdash.audits import tables
from fairdash.datasets import read_table

N = 3_000


def loans():
    rng = np.random.default_rng(3)
    race = rng.choice(["White", "Black"], N)
    approved = rng.random(N) < np.where(race == "Black", 0.3, 0.6)
    return pd.DataFrame(
        {
            "race": race,
            "branch": rng.choice(["north", "south"], N),
            "status": np.where(approved, "1", rng.choice(["2", "3"], N)),
            "repaid": rng.choice(["no", "yes"], N),
            "score": rng.integers(0, 101, N) / 100,
            "secret": [f"person {i}" for i in range(N)],
        }
    )


@pytest.fixture
def source(visit, tmp_path, monkeypatch):
    """Folder of a listed source whose column of names may not be read."""
    folder = tmp_path / "loans"
    folder.mkdir()
    loans().to_parquet(folder / "0.parquet")
    fields = {
        "address": str(folder),
        "columns": ["race", "branch", "status", "repaid", "score"],
    }
    (tmp_path / "sources.yaml").write_text(yaml.safe_dump({"Loans": fields}))
    monkeypatch.setenv("FAIRDASH_SOURCES", str(tmp_path / "sources.yaml"))
    return folder


@pytest.fixture
def asked(visit, source):
    """The Data page with the form for the source, nothing chosen yet."""
    page = visit("Data")
    widget(page, "selectbox", "Or read a table of this server").set_value("Loans").run()
    return button(page, "Audit without loading").click().run()


def choose(page, **chosen):
    for label, value in chosen.items():
        kind = "multiselect" if isinstance(value, list) else "selectbox"
        widget(page, kind, label.replace("__", ", ").replace("_", " ")).set_value(value)
        page.run()
        assert not page.exception
    return page


def test_the_first_visit_asks_what_to_count(asked):
    assert not asked.exception
    groups = widget(asked, "multiselect", "Columns of groups")
    assert groups.options == ["race", "branch", "status", "repaid", "score"]
    assert button(asked, "Count and audit").disabled
    assert "To train a model" in words(asked)
    assert figures(asked) == 0


def test_the_answer_is_that_of_the_rows_and_none_is_kept(asked, source):
    page = choose(asked, Columns_of_groups=["race"], Decision_or_score="status")
    accepted = widget(page, "multiselect", "Positive decisions")
    n_positive = int((loans()["status"] == "1").sum())
    assert accepted.options[0] == f"1 ({n_positive:,})"
    page = choose(
        page, Positive_decisions=["1"], **{"Outcome,_for_error_rates": "repaid"}
    )
    page = choose(page, Positive_outcomes=["yes"], Subgroups_by=["branch"])
    button(page, "Count and audit").click().run()
    assert not page.exception
    rows = read_table(source)
    question = tables.TableQuestion(
        groups=("race",),
        decision="status=1",
        outcome="repaid=yes",
        subgroups=("branch",),
    )
    of_rows = tables.Source.of_frame("rows", "", rows)
    answer = tables.table_answer(tables.audit_table(rows, question, of_rows))
    assert page.header[-1].value == answer.verdict
    assert "Black is decided status=1" in answer.verdict
    assert numbers(page) == {card.label: card.value for card in answer.cards}
    assert figures(page) == 1
    assert "3,000 rows counted where they lie" in words(page)
    assert ui.store().tables() == []
    # another question: the answer to the last one is gone
    page = choose(page, Columns_of_groups=["race", "branch"])
    assert figures(page) == 0


def test_scores_have_a_threshold(asked):
    page = choose(asked, Columns_of_groups=["race"], Decision_or_score="score")
    widget(page, "number_input", "Positive from").set_value(0.8).run()
    button(page, "Count and audit").click().run()
    assert not page.exception
    assert figures(page) == 1
    assert page.query_params["source_threshold"] in ("0.8", ["0.8"])


def test_what_a_source_cannot_answer_is_said(asked, source):
    page = choose(asked, Columns_of_groups=["race"], Decision_or_score="status")
    page = choose(page, Positive_decisions=["1"])
    (source / "0.parquet").unlink()
    button(page, "Count and audit").click().run()
    assert not page.exception
    assert [box.proto.title for box in page.error] == ["Loans was not audited"]
    assert "holds no Parquet file" in words(page)
    assert figures(page) == 0


def test_a_link_to_the_source_of_another_user_says_no_more_than_there_is_none(
    visit, source, tmp_path, monkeypatch
):
    fields = {"address": str(source), "users": ["bob@example.org"]}
    (tmp_path / "sources.yaml").write_text(yaml.safe_dump({"Loans": fields}))
    for name in ("Loans", "Nothing"):
        page = visit("Data", source=name)
        assert not page.exception
        assert f"There is no source '{name}' that you may read." in words(page)


def test_a_column_of_many_texts_is_no_decision(visit, source, tmp_path, monkeypatch):
    fields = {"address": str(source)}
    (tmp_path / "sources.yaml").write_text(yaml.safe_dump({"Loans": fields}))
    page = visit("Data", source="Loans")
    page = choose(page, Columns_of_groups=["race"], Decision_or_score="secret")
    assert "holds 3,000 different texts" in words(page)
    assert button(page, "Count and audit").disabled
