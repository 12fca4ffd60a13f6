"""Tables as people have them, prepared by clicks on Data: the same rows as by hand."""

import io

import numpy as np
import pandas as pd
import pytest
from mortgages import approved_by_hand, mortgages
from reading import button, numbers, widget, words

from fairdash import ui


def upload(page, table, name):
    content = table.to_csv(index=False).encode()
    page.file_uploader[0].upload(name, content, "text/csv")
    return page.run()


def dataset_of(page):
    value = page.query_params["data"]
    return ui.store().dataset(value if isinstance(value, str) else value[0])


@pytest.fixture
def one_hot():
    rng = np.random.default_rng(0)
    group = rng.choice(["black", "hispan", "none", "two"], 800, p=[0.3, 0.2, 0.4, 0.1])
    return pd.DataFrame(
        {
            "age": rng.integers(18, 70, 800),
            "black": np.isin(group, ["black", "two"]).astype(int),
            "hispan": np.isin(group, ["hispan", "two"]).astype(int),
            "hired": rng.integers(0, 2, 800),
        }
    )


def test_mortgages_are_read_by_their_layout_from_upload_to_rates(visit):
    table = mortgages(2_000)
    page = upload(visit("Data"), table, "hmda.csv")
    assert not page.exception
    text = words(page)
    assert "This looks like HMDA" in text
    assert "left out: outcome neither positive nor negative" in text
    assert "4–8" in text
    dataset = dataset_of(page)
    rates = pd.Series(dataset.y).groupby(dataset.sensitive_features).mean()
    by_hand = approved_by_hand(table)
    assert rates[by_hand.index].to_dict() == pytest.approx(by_hand.to_dict())
    assert dataset.n_rows + dataset.excluded["rows"].sum() == len(table)
    assert numbers(page)["Rows used"] == f"{dataset.n_rows:,}"


def test_a_chip_makes_groups_of_one_hot_columns(visit, one_hot):
    page = upload(visit("Data"), one_hot, "jobs.csv")
    button(page, "Groups from black, hispan").click().run()
    assert not page.exception
    n_yes = one_hot[["black", "hispan"]].sum(axis=1)
    text = words(page)
    assert f"none {(n_yes == 0).sum()}" in text
    assert f"several {(n_yes > 1).sum()}" in text
    assert widget(page, "selectbox", "Sensitive column").value == "race"
    assert numbers(page)["Rows used"] == "800"


def test_the_form_of_several_columns_counts_before_it_is_applied(visit, one_hot):
    page = upload(visit("Data"), one_hot, "jobs.csv")
    widget(page, "multiselect", "Columns, one for each group").set_value(
        ["black", "hispan"]
    ).run()
    n_yes = one_hot[["black", "hispan"]].sum(axis=1)
    assert f"{(n_yes == 0).sum()} none, {(n_yes > 1).sum()} several" in words(page)
    widget(page, "text_input", "Who is in two or more").set_value("").run()
    assert f"{(n_yes > 1).sum()} (left out)" in words(page)
    button(page, "Compare these groups").click().run()
    assert not page.exception
    assert f"{(n_yes > 1).sum()} left out: sensitive feature missing" in words(page)


def test_a_second_file_is_joined_by_a_click(visit, one_hot):
    loans = one_hot.drop(columns=["black", "hispan"]).assign(person=range(800))
    loans["person"] += 1_000
    people = pd.DataFrame(
        {"person": range(1_100, 1_900), "race": ["White", "Black"] * 400}
    )
    page = upload(visit("Data"), loans, "loans.csv")
    second = io.BytesIO()
    people.to_parquet(second)
    page.file_uploader(key="upload join").upload(
        "people.parquet", second.getvalue(), "application/octet-stream"
    )
    page.run()
    assert widget(page, "multiselect", "Joined by").value == ["person"]
    button(page, "Join").click().run()
    assert not page.exception
    dataset = dataset_of(page)
    assert dataset.roles.sensitive_feature == "race"
    merged = loans.merge(people, on="person")
    assert dataset.n_rows == len(merged) == 700
    assert "100 of 800 rows have no match; not used of it: 100." in words(page)
    rates = pd.Series(dataset.y).groupby(dataset.sensitive_features).mean()
    by_hand = merged.groupby("race")["hired"].mean()
    assert rates.to_dict() == pytest.approx(by_hand.to_dict())


def test_keys_that_stand_twice_are_refused_on_the_page(visit, one_hot):
    loans = one_hot.assign(person=range(800))
    page = upload(visit("Data"), loans, "loans.csv")
    twice = b"person,race\n1,White\n1,Black\n2,White\n"
    page.file_uploader(key="upload join").upload("people.csv", twice, "text/csv")
    page.run()
    button(page, "Join").click().run()
    assert not page.exception
    (error,) = (box.value for box in page.error)
    assert r"person = 1 in the rows \[1, 2\]" in error  # as Markdown
    assert "Keep one row for each person" in error


def test_counts_in_columns_become_rows_of_counts_by_a_click(visit):
    colleges = pd.DataFrame(
        {
            "UNITID": range(1, 41),
            "state": ["OH", "NY", "TX", "CA"] * 10,
            "APPLCNM": range(100, 140),
            "ADMSSNM": range(60, 100),
            "APPLCNW": range(200, 240),
            "ADMSSNW": range(90, 130),
        }
    )
    page = upload(visit("Data"), colleges, "adm2022.csv")
    assert "This looks like IPEDS, admissions of colleges" in words(page)
    button(page, "Make rows of counts").click().run()
    assert not page.exception
    dataset = dataset_of(page)
    assert dataset.n_people == colleges[["APPLCNM", "APPLCNW"]].sum().sum()
    assert dataset.roles.count == "people"
    n_admitted = colleges[["ADMSSNM", "ADMSSNW"]].sum().sum()
    assert dataset.n_positive == n_admitted
    assert "Made of 40 rows with counts by sex in columns" in words(page)
    assert dataset.roles.subgroup_columns == ("state",)
