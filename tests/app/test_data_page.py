import numpy as np
import pandas as pd
import pytest
from reading import button, figures, labels, numbers, widget, words
from toys import people, people_csv

from fairdash import ui
from fairdash.datasets import guessing, overviews
from fairdash.ui.data import computed
from fairdash.ui.data import review as check_forms


def upload(page, content, name="people.csv"):
    page.file_uploader[0].upload(name, content, "text/csv")
    return page.run()


def findings(page):
    tables = [d.value for d in page.dataframe if "Finding" in d.value]
    return [row for table in tables for row in table.to_dict("records")]


def test_first_visit_asks_for_a_table(visit):
    page = visit("Data")
    assert not page.exception
    assert len(page.file_uploader) == 1
    assert figures(page) == 0


def test_an_upload_shows_guessed_roles_and_base_rates(visit):
    page = upload(visit("Data"), people_csv())
    assert not page.exception
    (record,) = ui.store().datasets()
    assert page.query_params["data"] in (record.id, [record.id])
    assert numbers(page)["Rows used"] == "600"
    rate = (people()["hired"] == "yes").mean()
    assert numbers(page)["Base rate P(y = 1)"] == f"{rate:.1%}"
    assert widget(page, "selectbox", "Outcome (y)").value == "hired"
    assert figures(page) == 1


@pytest.fixture
def unguessed(visit):
    """Data with a table whose only other column names each person."""
    table = people()[["hired"]].assign(name=[f"person {i}" for i in range(600)])
    page = upload(visit("Data"), table.to_csv(index=False).encode())
    assert not page.exception
    return page


def test_a_table_without_a_guess_says_why_and_what_to_do(unguessed):
    page = unguessed
    (text,) = (box.value for box in page.warning if "No guess" in box.value)
    assert "by hand" in text
    assert "also the only one to compare groups by" in text
    assert not page.error
    assert not findings(page)
    assert "Discard" not in labels(page)
    assert widget(page, "selectbox", "Outcome (y)").value is None
    assert not numbers(page)
    assert not figures(page)


def test_a_table_without_a_guess_is_used_once_its_roles_are_chosen(unguessed):
    page = unguessed
    widget(page, "selectbox", "Outcome (y)").set_value("hired").run()
    assert not page.exception
    assert "No guess" in words(page)
    widget(page, "selectbox", "Sensitive column").set_value("name").run()
    assert not page.exception
    assert "No guess" not in words(page)
    assert numbers(page)["Rows used"] == "600"


def test_a_guess_is_no_finding_until_it_is_confirmed(visit):
    table = people()
    table.insert(0, "passed", np.tile(["yes", "no", "no"], 200))
    page = upload(visit("Data"), table.to_csv(index=False).encode())
    assert "Guessed" in words(page)
    assert "Base rates, if the guess is right" in words(page)
    assert "Gap in base rate" not in numbers(page)
    button(page, "Outcome: passed").click().run()
    assert not page.exception
    chosen = next(s for s in page.selectbox if s.label == "Outcome (y)")
    assert chosen.value == "passed"
    (features,) = (m for m in page.multiselect if m.label == "Columns the model sees")
    assert "hired" in features.value
    assert "Outcome: hired" in labels(page)
    button(page, "Looks right").click().run()
    assert not page.exception
    assert "Looks right" not in labels(page)
    assert "Gap in base rate" in numbers(page)
    assert "if the guess is right" not in words(page)


def test_a_guess_that_is_right_is_no_edit(visit):
    page = upload(visit("Data"), people().to_csv(index=False).encode())
    button(page, "Looks right").click().run()
    assert not {"Looks right", "Use these roles", "Discard"} & {*labels(page)}
    widget(page, "selectbox", "Sensitive column").set_value("branch").run()
    assert {"Use these roles", "Discard"} <= {*labels(page)}


def test_how_many_people_a_row_stands_for_is_no_outcome(visit):
    levels = [["admitted", "rejected"], ["female", "male"], [*"ABCDEF"]]
    names = ["admit", "gender", "dept"]
    table = pd.MultiIndex.from_product(levels, names=names).to_frame(index=False)
    table["freq"] = np.random.default_rng(1).integers(20, 400, len(table))
    page = upload(visit("Data"), table.to_csv(index=False).encode())
    assert "Looks right" in labels(page)
    assert numbers(page)["People used"] == f"{table['freq'].sum():,}"
    assert not {"Outcome: freq", "Groups: freq"} & {*labels(page)}


def test_a_sample_opens_with_its_roles(visit):
    page = visit("Data")
    page.button(key="open loans").click().run()
    assert not page.exception
    assert ui.store().datasets()[0].name == "Loans"


def spoiled_csv():
    table = people()
    table["skill"] = table["skill"].where(table.index % 60 > 0, -999)
    return table.to_csv(index=False).encode()


@pytest.fixture
def choose(monkeypatch):
    """Return a function that chooses findings by their check, as clicks do."""
    draw = check_forms._selected

    def choose_checks(*names):
        def selected(checks, key):
            draw(checks, key)
            return [i for i, name in enumerate(checks["check"]) if name in names]

        monkeypatch.setattr(check_forms, "_selected", selected)

    return choose_checks


def test_remedies_of_findings_are_applied_undone_and_kept_with_the_roles(visit, choose):
    page = upload(visit("Data"), spoiled_csv())
    choose("looks missing")
    widget(page, "button_group", "Evidence").set_value(["checks"]).run()
    button(page, "Apply remedies").click().run()
    assert not page.exception
    assert "looks missing" not in [row["Check"] for row in findings(page)]
    assert "**Applied**: Read '-999' in skill as missing" in words(page)
    (record,) = ui.store().datasets()
    assert record.roles.preparation == ()
    button(page, "Undo").click().run()
    assert "Use these roles" not in labels(page)
    page.run()
    button(page, "Apply remedies").click().run()
    button(page, "Use these roles").click().run()
    assert not page.exception
    newest = ui.store().datasets()[0]
    kinds = {remedy.kind for remedy in newest.roles.preparation}
    assert kinds == {"missing"}
    frame = ui.store().dataset(newest.id).frame
    assert frame["skill"].isna().sum() == 10


def test_a_column_that_makes_the_groups_leaves_the_subgroups_by_itself(
    visit, dataset_id
):
    page = visit("Data", data=dataset_id)
    assert widget(page, "multiselect", "Subgroup columns").value == ["branch"]
    widget(page, "selectbox", "Sensitive column").set_value("branch").run()
    assert not page.exception
    assert not page.error
    assert widget(page, "multiselect", "Subgroup columns").value == []
    assert "Makes the groups now, no subgroups: branch." in words(page)
    assert figures(page) == 1
    button(page, "Use these roles").click().run()
    assert not page.exception
    newest = ui.store().datasets()[0]
    assert newest.roles.sensitive_feature == "branch"
    assert newest.subgroups.columns == ()


def test_edited_roles_survive_a_refresh_until_discarded_or_kept(visit, dataset_id):
    page = visit("Data", data=dataset_id)
    assert "Use these roles" not in labels(page)
    widget(page, "multiselect", "Subgroup columns").set_value([]).run()
    again = visit("Data", data=dataset_id)
    assert not again.exception
    assert numbers(again)["Subgroups"] == "1 of 1"
    button(again, "Discard").click().run()
    assert "Use these roles" not in labels(again)
    assert numbers(again)["Subgroups"] == "2 of 2"
    widget(again, "multiselect", "Subgroup columns").set_value([]).run()
    assert ui.store().dataset_record(dataset_id).subgroups.columns == ("branch",)
    button(again, "Use these roles").click().run()
    assert not again.exception
    assert ui.store().dataset_record(dataset_id).subgroups.columns == ()


def test_the_rows_of_one_person_are_said_and_kept_with_the_roles(visit):
    table = people()
    table["case_id"] = np.arange(len(table)) // 3
    page = upload(visit("Data"), table.to_csv(index=False).encode())
    unit = widget(page, "selectbox", "Rows of one person or household share")
    assert unit.value == "case_id"  # an identifier that repeats is offered
    (record,) = ui.store().datasets()
    assert record.roles.unit == "case_id"
    unit.set_value(None).run()
    assert not page.exception
    button(page, "Use these roles").click().run()
    assert None in [record.roles.unit for record in ui.store().datasets()]


def test_conditions_and_outcome_values_are_chosen_by_clicks_and_counted(visit):
    table = people().assign(year=np.tile([2022, 2023, 2023], 200))
    table["status"] = np.repeat([1, 2, 3, 4, 5, 8], 100)
    page = upload(visit("Data"), table.to_csv(index=False).encode())
    widget(page, "selectbox", "Outcome (y)").set_value("status").run()
    assert widget(page, "button_group", "How it is read").value == "By value"
    widget(page, "multiselect", "Positive values").set_value(["1", "2"]).run()
    widget(page, "multiselect", "Negative values").set_value(["3"]).run()
    assert "Left out: 4, 5, 8." in words(page)
    widget(page, "multiselect", "Only rows by").set_value(["year"]).run()
    widget(page, "multiselect", "year is").set_value(["2023"]).run()
    assert not page.exception
    wanted_rows = table[(table["year"] == 2023) & table["status"].isin([1, 2, 3])]
    assert numbers(page)["Rows used"] == f"{len(wanted_rows)}"
    assert "400 of 600 rows. 200 left out: outside the row filter (year 2022)" in words(
        page
    )
    assert "left out: outcome neither positive nor negative (status 4, 5, 8)" in words(
        page
    )
    button(page, "Use these roles").click().run()
    assert not page.exception
    newest = ui.store().datasets()[0]
    assert newest.roles.rows_words() == "year = 2023"
    assert newest.roles.negative == ("3",)
    assert ui.store().dataset(newest.id).n_rows == len(wanted_rows)


def test_any_of_several_conditions_may_hold(visit, dataset_id):
    page = visit("Data", data=dataset_id)
    conditions = widget(page, "multiselect", "Only rows by")
    conditions.set_value(["branch", "age"]).run()
    branch = people()["branch"].iloc[0]
    widget(page, "multiselect", "branch is").set_value([branch]).run()
    widget(page, "number_input", "age from").set_value(40.0).run()
    widget(page, "button_group", "Rows must meet").set_value("Any of these").run()
    assert not page.exception
    table = people()
    wanted_rows = (table["branch"] == branch) | (table["age"] >= 40)
    assert numbers(page)["Rows used"] == f"{wanted_rows.sum()}"
    again = visit("Data", data=dataset_id)
    assert widget(again, "button_group", "Rows must meet").value == "Any of these"


def refuse(*args, **options):
    raise AssertionError("computed by the process that serves pages")


def test_the_first_look_at_an_upload_is_computed_in_the_box(visit, monkeypatch):
    # in an upload, after a confirmed guess, and by a link in another window
    for name in ("check_table", "find_wide_counts", "_few_valued", "_features"):
        monkeypatch.setattr(computed, name, refuse)
    for name in ("rank_roles", "more_roles", "zero_one_columns"):
        monkeypatch.setattr(guessing, name, refuse)
    monkeypatch.setattr(overviews, "overview_of", refuse)
    page = upload(visit("Data"), people_csv())
    assert not page.exception
    assert widget(page, "selectbox", "Outcome (y)").value == "hired"
    button(page, "Looks right").click().run()
    assert not page.exception
    (record,) = ui.store().datasets()
    again = visit("Data", data=record.id)
    assert not again.exception
    assert numbers(again)["Rows used"] == "600"
