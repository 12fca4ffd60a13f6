"""What stands on one page only: losses, promises, limits, checks, runs, the report."""

import re
from collections import Counter

import pytest
from cases import THOROUGH, sampled
from reading import drawn, widget
from walk_facts import PLAIN
from walk_reading import Reading
from walk_rules import ALIKE, UNSPOKEN
from walk_tables import TABLES

from fairdash._wording import each_sentence
from fairdash.reports import report

tables = pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in ("turned", "counts") else THOROUGH)
        for name in TABLES
    ],
)


@pytest.mark.parametrize(
    "label",
    sampled(["ROAD λ 6 τ 0.6", "Unconstrained", "Zhang λ 6"], 3),
)
@pytest.mark.parametrize("name", ["plain is best"])
def test_losses_are_those_of_the_model_looked_at(walk, name, label):
    through = walk(name)
    page = through.open("Train", label, opened="training")
    assert not page.exception
    facts = through.facts
    curves = [
        facts.store.artifact(trial.key).history().set_index("epoch")["loss"]
        for trial in facts.models[label].trials
    ]
    losses = sum(curves) / len(curves)
    lines = [trace.get("y") for trace in drawn(page, -1)["data"]]
    assert pytest.approx(losses.tolist()) in lines


@tables
def test_runs_shows_the_numbers_of_a_model_of_the_sweep(walk, name):
    through = walk(name)
    reading = through.read("Runs")
    assert reading.failures == []
    row = reading.tables[0].iloc[0]
    opened = through.facts.label_of(through.read("Sweep").chip)
    means = through.facts.model(opened).means()
    values = [row["Accuracy"], row["Gap"]]
    expected = [100 * means["accuracy"], 100 * means["gap"]]
    assert values == pytest.approx(expected)


@tables
def test_noisy_groups_opens_on_what_the_sweep_was_trained_for(walk, name):
    through = walk(name)
    reading = through.read("Noisy groups")
    assert reading.controls["Promise"] == "demographic_parity"
    says_nothing = "no promise to keep" in reading.prose
    cards = [card.value for card in reading.cards.values()]
    assert not (says_nothing and any(re.search(r"\d", value) for value in cards))


@tables
def test_individual_fairness_says_nothing_only_of_models_that_do_not_distinguish(
    walk, name
):
    through = walk(name)
    reading = through.read("Individual fairness")
    card = reading.cards["Similar, other result"].value
    assert not ("says nothing" in reading.prose and re.search(r"[1-9]", card))


@tables
def test_limits_are_judged_inside_the_subgroups_of_the_sweep(walk, name):
    through = walk(name)
    reading = through.read("Limits", opened="table")
    subgroups = set(reading.tables[0]["Subgroup"].dropna())
    labels = set(through.facts.model(PLAIN).rows["subgroup"].dropna())
    assert subgroups == labels


@pytest.mark.parametrize(
    "name, column", [("three groups", "dialect"), ("turned", "height")]
)
def test_data_warns_of_a_feature_that_tells_the_group(walk, name, column):
    page = walk(name).open("Data")
    evidence = widget(page, "button_group", "Evidence")
    evidence.set_value(["checks"]).run()
    reading = Reading.of("Data", page)
    cells = [str(cell) for frame in reading.tables for cell in frame.to_numpy().flat]
    problems = [text for text in [*reading.sentences, *cells] if column in text]
    sensitive = TABLES[name].roles.sensitive_feature
    assert any(sensitive in text for text in problems), problems


@tables
def test_a_report_says_each_thing_once_and_what_is_so(walk, name):
    through = walk(name)
    facts = through.facts
    opened = facts.label_of(through.read("Sweep").chip)
    # as pages export it, which say what they are about
    model = facts.models[opened].id
    text = report(facts.store, facts.run, model=model).to_markdown()
    for words in ("asked for by name", "picked instead"):
        assert words not in text  # nobody chose one
    prose, _, _ = text.partition("### config.yaml")
    lines = [line for line in prose.splitlines() if line and line[0] not in "|#"]
    lines = [re.sub(r"^(- |\*\*|(Before|After): )+", "", line) for line in lines]
    sentences = [part for line in lines for part in each_sentence(line.strip("*"))]
    counts = Counter(part for part in sentences if len(part.split()) > 4)
    assert [part for part, times in counts.items() if times > 1] == []
    assert [item for item in sentences if UNSPOKEN.search(item)] == []
    for sentence in sentences:
        if ALIKE.search(sentence.replace(facts.table.name, "the table")):
            for label in facts.named_in(sentence):
                parts = (facts.model(label, part) for part in ("test", "validation"))
                assert any(model.decides_alike for model in parts), sentence
