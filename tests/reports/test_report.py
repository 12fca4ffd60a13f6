"""A report says what the store holds, hides small groups, and names in it stay text."""

import re
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from fairlearn.metrics import demographic_parity_difference
from hypothesis import given
from hypothesis import strategies as st
from reading import ReportPage, value
from toys import people, prisoners, train_sweep
from typer.testing import CliRunner

from fairdash.audits import (
    Answer,
    DecisionRule,
    choices,
    portable,
    recommendation,
    sweeps,
    trials,
)
from fairdash.cli import app
from fairdash.datasets import Roles, ScoreColumn, split
from fairdash.reports import (
    _questions,
    _small_groups,
    blocks_of,
    report,
    score_report,
)
from fairdash.store import open_store


@pytest.fixture(scope="module")
def page(swept):
    return ReportPage(report(*swept).to_html())


def test_the_settings_are_those_of_the_store(page, swept):
    store, run = swept
    rows = store.snapshot(run).table()
    table = page.table("All settings")
    labels = {
        known_model.label: known_model
        for known_model in trials.known_models_of(store, [run])
    }
    assert sorted(table.index) == sorted(labels)
    assert len(table) == 5
    columns = {
        "Accuracy": "accuracy",
        "Gap": "demographic_parity_difference",
        "Largest local gap": "worst_1_di",
    }
    for label, model in labels.items():
        mine = rows[rows["key"].isin([trial.key for trial in model.trials])]
        for part in ("validation", "test"):
            for title, name in columns.items():
                cell = value(table.loc[label, f"{title}, {part}"])
                assert cell == pytest.approx(mine[f"{part}_{name}"].mean(), abs=5e-4)
    sweep = sweeps.finished_sweep(store, run)
    best = recommendation.recommend(sweep, 0.05)
    opened = choices.opened_on(store, run)
    assert best.beside(sweep.models.index(opened)) in page.texts["p"]
    assert "Within the limit of 5 points on the gap" in table
    assert opened.label in page.texts["p"]


def decided(store, run, model):
    """Return group, branch and decision of the test rows of every seed of a model."""
    dataset = store.dataset(store.run(run).dataset_id)
    for trial in model.trials:
        test_rows = split(dataset, trial.seed).test
        rows = dataset.frame.iloc[test_rows][["origin", "branch"]]
        scores = store.artifact(trial.key).scores()[test_rows]
        yield rows.assign(y=dataset.y[test_rows], positive=(scores > 0.5).astype(int))


def test_models_and_subgroups_are_those_of_the_stored_scores(page, swept):
    store, run = swept
    models = {
        known_model.label: known_model
        for known_model in trials.known_models_of(store, [run])
    }
    chosen = choices.opened_on(store, run).label
    table = page.table("Models on test rows")
    assert list(table.columns) == list(dict.fromkeys(["Unconstrained", chosen]))
    for label in table.columns:
        parts = list(decided(store, run, models[label]))
        right = np.mean([(rows["y"] == rows["positive"]).mean() for rows in parts])
        gap = np.mean(
            [
                demographic_parity_difference(
                    rows["y"], rows["positive"], sensitive_features=rows["origin"]
                )
                for rows in parts
            ]
        )
        assert value(table.loc["Accuracy", label]) == pytest.approx(right, abs=5e-4)
        assert value(table.loc["Gap", label]) == pytest.approx(gap, abs=5e-4)
    local = page.table(f"Subgroups of {chosen} by gap")
    rates = [
        rows.pivot_table("positive", "branch", "origin")
        for rows in decided(store, run, models[chosen])
    ]
    for branch in ("office", "works"):
        mine = [known_model.loc[branch] for known_model in rates]
        gap = np.mean([known_model.max() - known_model.min() for known_model in mine])
        assert value(local.loc[branch, "Gap"]) == pytest.approx(gap, abs=5e-4)
        rate_here = np.mean([known_model["here"] for known_model in mine])
        cell = value(local.loc[branch, "P(ŷ = 1) origin: here"])
        assert cell == pytest.approx(rate_here, abs=5e-4)


def test_scores_in_the_table_are_audited_by_every_measure(tmp_path, monkeypatch):
    frame = prisoners(700)
    frame.loc[frame["age_cat"] == "25 - 45", "age_cat"] = "older"
    young = frame.index[(frame["age_cat"] != "older")]
    frame.loc[young[8:], "age_cat"] = "older"  # a subgroup of eight
    roles = Roles(
        target="two_year_recid",
        positive="1",
        positive_is="unfavourable",
        sensitive_feature="race",
        features=("priors_count", "age_cat"),
        subgroup_columns=("age_cat",),
        scores=(ScoreColumn(column="decile_score", kind="score", threshold=5),),
    )
    store = open_store(tmp_path / "home")
    run = train_sweep(store, frame, "Rated", roles, subgroups=("age_cat",))
    page = ReportPage(report(store, run, sections=["audited"]).to_html())
    with monkeypatch.context() as patch:
        patch.setattr(_small_groups, "SMALLEST_GROUP", 400)
        few = ReportPage(report(store, run, sections=["audited"]).to_html())
    data = store.snapshot(run).run.dataset_id
    alone = ReportPage(score_report(store, data).to_html())  # which needs no run
    store.close()
    assert alone.headings[0] == ("h1", "Rated")
    for name, table in page.tables.items():
        assert alone.tables[name] == table
    assert "Base rates" in alone.tables
    table = page.table("Every measure of decile_score ≥ 5 by group")
    high = frame["decile_score"] >= 5
    for race, rows in frame.groupby("race"):
        wrong = high[rows.index][rows["two_year_recid"] == 0].mean()
        cell = value(table.loc["False positive rate", f"race: {race}"])
        assert cell == pytest.approx(wrong, abs=5e-4)
    assert "race: African-American is predicted “two_year_recid = 1”" in page.texts["p"]
    assert "False positive rate of decile_score ≥ 5 by subgroup" not in page.tables
    assert "2 subgroups are suppressed for decile_score" in page.texts["p"]
    assert not few.tables
    assert "measures by group are suppressed" in few.texts["p"]


def test_sections_are_chosen_and_ordered(swept):
    store, run = swept
    document = report(store, run, sections=("data", "summary"))
    page = ReportPage(document.to_html())
    titles = [text for tag, text in page.headings if tag == "h2"]
    assert titles == ["The data, without rows", "What was found"]
    assert "All settings" not in page.tables
    chosen = choices.opened_on(store, run).label
    models = trials.known_models_of(store, [run])
    model = [candidate for candidate in models if candidate.label != chosen][-1]
    named = report(store, run, model=model.label).to_html()
    assert f"The report is about {model.label}, which was picked instead." in named
    for wrong, message in (
        ({"sections": ["rows"]}, "no section 'rows'"),
        ({"model": "SenSeI"}, "has no model 'SenSeI'"),
        ({"model": "ROAD"}, "has several that begin so: .*ROAD.*, .*ROAD"),
    ):
        with pytest.raises(ValueError, match=message):
            report(store, run, **wrong)


def test_the_model_a_sweep_opens_on_was_not_picked_though_a_page_names_it(swept):
    store, run = swept
    opened = choices.opened_on(store, run)
    named = report(store, run, model=opened.id, sections=("tried",)).to_html()
    usual = report(store, run, sections=("tried",)).to_html()
    page = ReportPage(named)
    usual_page = ReportPage(usual)
    assert page.texts["p"] == usual_page.texts["p"]
    assert "picked instead" not in named


def test_a_report_and_an_export_decide_by_the_rule(swept):
    store, run = swept
    rule = DecisionRule("top", 20)
    document = report(store, run, rule=rule)
    model = choices.opened_on(store, run, rule)
    assert {model.label, f"decided 1: {rule.words()}"} <= {*document.facts}
    page = ReportPage(document.to_html())
    table = page.table("Models on test rows")
    sweep = sweeps.finished_sweep(store, run, rule)
    rows = sweep.result.means.iloc[sweep.ids.index(model.id)]
    cell = value(table.loc["Accuracy", model.label])
    assert cell == pytest.approx(rows["test_accuracy"], abs=5e-4)
    table = portable.predictions(store, run, rule=rule)
    scores = table["probability"]
    cut = portable.exported(store, run, rule=rule).threshold
    assert ((scores > cut) == table["decision"]).all()
    learned = scores[table["part"] == "validation"]
    assert (learned > cut).mean() == pytest.approx(0.2, abs=0.01)


@pytest.fixture(scope="module")
def scarce(tmp_path_factory):
    """A run on a table where one branch has five applicants from there."""
    frame = people(900)
    rng = np.random.default_rng(1)
    frame["branch"] = rng.choice(["home", "office", "works"], 900, p=[0.2, 0.3, 0.5])
    rows_there = np.flatnonzero(
        (frame["branch"] == "home") & (frame["origin"] == "there")
    )
    frame.loc[rows_there[25:], "origin"] = "here"  # five of them in a fifth of the rows
    store = open_store(tmp_path_factory.mktemp("scarce") / "home")
    yield store, train_sweep(store, frame, "Scarce")
    store.close()


def test_small_groups_are_suppressed_in_tables_and_figures(scarce, monkeypatch):
    store, run = scarce
    label = choices.opened_on(store, run).label
    page = ReportPage(report(store, run).to_html())
    table = page.table(f"Subgroups of {label} by gap")
    assert (table.loc[["home", "office"], "Not estimable"] == "suppressed").all()
    numbers = table.drop(columns=["Not estimable"])
    assert (numbers.loc[["home", "office"]] == "–").all(axis=None)
    counts = [name for name in table if name.startswith("Rows ")]
    assert table.loc["works", counts].astype(int).min() >= 10
    assert "2 subgroups are suppressed on test rows" in page.texts["p"]
    bars = [t for figure in page.figures for t in figure["data"] if t["type"] == "bar"]
    assert len(bars) == 2  # rows by group
    assert all(np.sum([x is None for x in bar["x"]]) == 2 for bar in bars)
    monkeypatch.setattr(_small_groups, "SMALLEST_GROUP", 1)
    document = ReportPage(report(store, run).to_html())
    table = document.table(f"Subgroups of {label} by gap")
    assert table.loc["home", counts].astype(int).min() < 10
    assert not table.eq("suppressed").any(axis=None)


@given(st.lists(st.lists(st.integers(0, 30), min_size=2, max_size=2), min_size=1))
def test_no_small_count_is_shown_or_left_to_subtraction(counts):
    least = _small_groups.SMALLEST_GROUP
    table = pd.DataFrame(counts, index=[str(i) for i in range(len(counts))])
    long = table.melt(ignore_index=False, value_name="n").rename_axis("subgroup")
    hidden = _small_groups.hidden_names(long.reset_index())
    visible_rows = table.drop(index=hidden)
    assert (visible_rows >= least).all(axis=None)
    assert len(hidden) != 1 or len(table) == 1
    if (table >= least).all(axis=None):
        assert hidden == []


def sentences_of(made):
    """Return the sentences of a report, without "Before:" and "After:"."""
    texts = []
    for block in (block for section in made.sections for block in section.blocks):
        texts += [getattr(block, name, "") for name in ("text", "caption")]
        if getattr(block, "table", None) is not None:
            texts.append(block.table.caption)
    parts = re.split(r"(?<=[.])\s+|Before: |After: ", " ".join(texts))
    return [part for part in parts if part.strip()]


@pytest.mark.parametrize("model", [None, "Unconstrained"])
def test_no_sentence_stands_twice_in_a_report(swept, model):
    store, run = swept
    sentences = sentences_of(report(store, run, model=model))
    assert len(sentences) > 10
    assert [sentence for sentence, n in Counter(sentences).items() if n > 1] == []


def test_the_shell_writes_a_report(swept, tmp_path, monkeypatch):
    store, run = swept
    out = tmp_path / "report.html"

    def call(*arguments):
        home = ("--home", str(store.home))
        return CliRunner().invoke(app, ["report", *arguments, *home])

    done = call(run, "--out", str(out), "--decided", "top 20")
    assert done.exit_code == 0, done.output
    page = ReportPage(out.read_text())
    assert "decided 1: the top 20% of scores" in page.texts["p"]
    for wrong in (
        ("none", "--out", str(out)),
        (run, "--out", str(out), "--decided", "often"),
        (run, "--out", str(tmp_path / "report.pdf")),
    ):
        refused = call(*wrong)
        assert refused.exit_code == 2
        assert len(refused.stderr.strip().splitlines()) == 1


def test_a_question_of_one_entry_is_a_section(swept, monkeypatch):
    monkeypatch.setattr(_questions, "_QUESTIONS", dict(_questions._QUESTIONS))

    def how_many(subject):
        return blocks_of(Answer(f"{subject.dataset.name} is looked at.", []))

    toy = _questions.ReportQuestion("toy", "Which table it is", how_many)
    _questions.add(toy)
    with pytest.raises(ValueError, match=r"'toy' already, .*Give another `name`"):
        _questions.add(toy)
    store, run = swept
    document = report(store, run, sections=["toy", "definitions"])
    assert [section.title for section in document.sections] == [
        "Which table it is",
        "What the words mean",
    ]
    assert "People is looked at." in ReportPage(document.to_html()).texts["p"]
    with pytest.raises(ValueError, match=r"no section 'coin'.*reproduce and toy"):
        report(store, run, sections=["coin"])
