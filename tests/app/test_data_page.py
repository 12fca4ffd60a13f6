from reading import button, figures, labels, numbers, words
from toys import people, people_csv

from fairdash import ui


def upload(page, content, name="people.csv"):
    page.file_uploader[0].upload(name, content, "text/csv")
    return page.run()


def findings(page):
    (table,) = [d.value for d in page.dataframe if "Finding" in d.value]
    return table.to_dict("records")


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
    assert page.selectbox[1].label == "Outcome (y)"
    assert page.selectbox[1].value == "hired"
    assert figures(page) == 1


def test_a_sample_opens_with_its_roles(visit):
    page = visit("Data")
    page.button(key="open loans").click().run()
    assert not page.exception
    assert ui.store().datasets()[0].name == "Loans"


def test_a_file_that_is_no_table_is_refused_with_its_reason(visit):
    page = upload(visit("Data"), b"a,b\n1,2\n3\n", "broken.csv")
    assert not page.exception
    assert page.error[0].proto.title == "broken.csv was not loaded"
    assert "row 2" in page.error[0].value
    assert ui.store().datasets() == []


def test_a_table_of_one_column_is_refused(visit):
    page = upload(visit("Data"), b"a\n1\n0\n1\n", "one.csv")
    assert not page.exception
    assert "columns" in words(page)


def test_a_table_without_an_outcome_can_be_given_one_by_its_rows(visit):
    table = people()[["age", "skill", "hired", "origin"]]
    table["origin"] = ["here", "there", "far"] * 200
    table["hired"] = table["hired"].where(table["age"] < 50, "maybe")
    page = upload(visit("Data"), table.to_csv(index=False).encode())
    assert not page.exception
    assert "cannot be used with these roles" in page.error[0].proto.title
    assert "exactly two" in words(page) or "two are needed" in words(page)
    assert button(page, "Audit a plain model").disabled
    for label, value in [("Outcome (y)", "hired"), ("Sensitive column", "origin")]:
        next(s for s in page.selectbox if s.label == label).set_value(value).run()
    rows = "Use only rows with certain values in"
    next(m for m in page.multiselect if m.label == rows).set_value(["hired"]).run()
    values = next(m for m in page.multiselect if m.label == "Values of hired to keep")
    values.set_value(["yes", "no"]).run()
    assert not page.exception
    assert not page.error
    assert not button(page, "Audit a plain model").disabled


def test_edited_roles_are_kept_only_when_asked(visit, dataset_id):
    page = visit("Data", data=dataset_id)
    assert "Use these roles" not in labels(page)
    page.multiselect[0].set_value([]).run()
    assert not page.exception
    assert numbers(page)["Subgroups estimable"] == "1 of 1"
    assert ui.store().dataset_record(dataset_id).subgroups.columns == ("branch",)
    button(page, "Use these roles").click().run()
    assert not page.exception
    kept = ui.store().dataset_record(dataset_id)
    assert kept.subgroups.columns == ()


def test_rows_left_out_are_counted(visit):
    table = people()
    table.loc[:9, "hired"] = None
    page = upload(visit("Data"), table.to_csv(index=False).encode())
    assert not page.exception
    assert numbers(page)["Rows used"] == "590"
    assert "600 rows read · 10 left out, see Checks" in words(page)
    (row,) = [row for row in findings(page) if row["Check"] == "rows left out"]
    assert "10 of 600 rows are left out: outcome missing" in row["Finding"]


def test_an_audit_trains_the_plain_model(visit, dataset_id):
    page = visit("Data", data=dataset_id)
    button(page, "Audit a plain model").click().run()
    assert not page.exception
    (run,) = ui.store().runs()
    assert run.status == "finished"
    assert [entry["method"] for entry in run.summary] == ["unconstrained"]


def test_an_unknown_data_set_has_a_way_out(visit):
    page = visit("Data", data="0123456789abcdef")
    assert not page.exception
    assert page.error[0].proto.title == "The data set 0123456789abcdef was not found"
    button(page, "Show what is here").click().run()
    assert not page.error


def test_many_groups_and_odd_names_need_no_special_care(visit):
    table = people()
    table["origin"] = [f"g$roup_{i % 8}" for i in range(len(table))]
    table.columns = ["age $", "sk[i]ll", "bra*nch_x", "or|igin", "hi`red"]
    page = upload(visit("Data"), table.to_csv(index=False).encode(), "o_dd$.csv")
    assert not page.exception
    next(s for s in page.selectbox if s.label == "Sensitive column").set_value(
        "or|igin"
    )
    page.run()
    assert not page.exception
    assert figures(page) == 1
    button(page, "Audit a plain model").click().run()
    assert not page.exception
    assert ui.store().runs()[0].status == "finished"
