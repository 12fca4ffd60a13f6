"""Large tables are trained on a part and described apart; tiny ones are refused."""

import pandas as pd
import pytest
from reading import button, words
from toys import ROLES, people, people_csv

from fairdash import ui
from fairdash.datasets import ScoreColumn, sources
from fairdash.reports._blocks import Facts
from fairdash.reports._facts import data as report_of_data
from fairdash.reports._sections import DataSubject

TOLD = "Trained on 100 of 360 training rows, stratified by outcome and group"
FOUR = pd.DataFrame(
    {
        "age": [20, 30, 40, 50],
        "skill": [0.1, 0.2, 0.3, 0.4],
        "branch": ["office", "office", "works", "works"],
        "origin": ["here", "there", "there", "here"],
        "hired": ["yes", "no", "yes", "no"],
        "p": [0.2, 0.4, 0.6, 0.8],
    }
)


@pytest.fixture
def large(monkeypatch, dataset_id):
    """Applicants of whom 360 are trained on, where 300 are many already."""
    monkeypatch.setattr("fairdash.ui.widgets.runs.LARGE", 300)
    monkeypatch.setattr("fairdash.ui.widgets.runs.PROPOSED", 100)
    return dataset_id


def test_pages_train_on_a_sample_of_many_rows_and_say_so(visit, large):
    page = visit("Train", data=large)
    assert TOLD in words(page)
    page.selectbox(key="selection form method").set_value("fair_log_loss").run()
    button(page, "Train 3 seeds").click().run()
    assert not page.exception
    (run,) = ui.store().runs()
    assert run.spec["train_rows"] == 100
    page = visit("Train", run=run.id)
    assert f"{TOLD}; evaluated on all." in words(page)
    assert "120 test rows" in words(page)
    assert TOLD in words(visit("Sweep", data=large))


@pytest.fixture
def four(inline):
    """Data sets of four rows, to train and with scores."""
    table = ui.store().add_table(FOUR.to_csv(index=False).encode(), "four.csv")
    scores = (ScoreColumn(column="p", kind="probability"),)
    scored = ROLES.model_copy(update={"scores": scores})
    return [ui.store().add_dataset(table, roles, "Four") for roles in (ROLES, scored)]


def test_no_page_fails_on_four_rows(four, visit, page_names, thorough):
    for place, data in enumerate(four):  # in a sample each page is on one of both
        for name in page_names if thorough else page_names[place::2]:
            page = visit(name, data=data)
            assert not page.exception, name
            assert "incident" not in words(page)


@pytest.mark.parametrize("name", ["Data", "Limits", "Local fairness", "Train"])
def test_every_page_on_a_sample_says_so_and_the_report_too(
    inline, visit, tmp_path, name
):
    folder = tmp_path / "people"
    folder.mkdir()
    people().to_parquet(folder / "people.parquet")
    with sources.table_file(folder, roles=ROLES, sample_rows=300) as (file, title):
        table = ui.store().add_table(file, title)
    whole = ui.store().add_table(people_csv(), "people.csv")
    sample, all_rows = (ui.store().add_dataset(t, ROLES, "P") for t in (table, whole))
    words = "A sample: 300 of 600 rows, in proportion to hired and origin"
    for data, expected in ((sample, True), (all_rows, False)):
        page = visit(name, data=data)
        assert not page.exception
        texts = [item.value for item in page.caption if words in item.value]
        assert bool(texts) == expected
        subject = DataSubject(ui.store(), data)
        facts = [b for b in report_of_data(subject) if isinstance(b, Facts)]
        assert ("Sample" in facts[0].items) == expected
