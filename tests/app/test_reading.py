"""The Data page says how a file was read, and reads it as the reader says."""

import yaml
from reading import button, numbers, widget, words
from toys import people, people_csv

from fairdash import ui
from fairdash.jobs import submit
from fairdash.sweep import SweepSpec

GERMAN = people().assign(skill=people()["skill"].round(3))


def uploaders(page):
    """Return those of tables; a model and scores have theirs beside them."""
    starts = ("Upload a table", "Then upload the file")
    return [each for each in page.file_uploader if each.label.startswith(starts)]


def upload(page, content, name="people.csv", place=0):
    uploaders(page)[place].upload(name, content, "text/csv")
    return page.run()


def german_csv(encoding="cp1252"):
    table = GERMAN.replace({"branch": {"office": "Büro"}})
    text = table.to_csv(index=False, sep=";", decimal=",")
    return text.encode(encoding)


def pick(page, label):
    (found,) = [box for box in page.selectbox if box.label == label]
    return found


def newest():
    data = ui.store().datasets()[0]
    return ui.store().table(data.table_sha256)


def test_the_page_says_how_the_file_was_read(visit):
    page = upload(visit("Data"), german_csv())
    assert not page.exception
    said = "semicolon-separated, decimal comma, Windows-1252"
    assert f"Read as {said}." in words(page)
    for label, value in [
        ("Delimiter", "semicolon-separated"),
        ("Encoding", "Windows-1252"),
        ("Numbers", "decimal comma"),
        ("Thousands", "no thousands separator"),
    ]:
        assert pick(page, label).value == value
    assert (newest()["skill"] == GERMAN["skill"]).all()


def test_a_file_is_read_as_the_reader_says(visit):
    content = people_csv().replace(b"office", "Łódź".encode())
    page = upload(visit("Data"), content)
    assert uploaders(page)[0].proto.disabled
    pick(page, "Encoding").set_value("Latin-1").run()
    assert not uploaders(page)[0].proto.disabled
    assert "This data set is replaced." in words(page)
    page = upload(page, content)
    assert not page.exception
    assert [data.name for data in ui.store().datasets()] == ["people"]
    assert len(ui.store().tables()) == 1
    assert [toast.value for toast in page.toast] == [
        "people was read anew and replaces what was read before."
    ]
    assert "comma-separated, Latin-1" in words(page)
    assert "Łódź".encode().decode("latin-1") in set(newest()["branch"])


def reread_as_latin_1(page, content):
    pick(page, "Encoding").set_value("Latin-1").run()
    said = words(page)
    return upload(page, content), said


def test_what_a_run_was_trained_on_stays_beside_the_file_read_anew(visit):
    page = upload(visit("Data"), people_csv())
    (before,) = ui.store().datasets()
    spec = SweepSpec.model_validate(
        {
            "data": {"table": before.table_sha256, "roles": before.roles},
            "methods": [{"method": "unconstrained", "params": {"n_epochs": 1}}],
        }
    )
    submit(ui.store(), spec)
    page, said = reread_as_latin_1(page.run(), people_csv())
    assert "This data set stays beside the new one: 1 run on it." in said
    assert not page.exception
    assert len(ui.store().datasets()) == 2
    assert len(ui.store().runs(before.id)) == 1
    (toast,) = page.toast
    assert toast.value == "people as it was read before stays: 1 run on it."


def test_a_file_that_was_refused_can_be_read_as_said(visit):
    # at first every row has as many commas as a table of seven columns would
    place = "branch, town, street, house, floor, desk, chair"
    table = people().rename(columns={"branch": place})
    table[place] = "A, B, C, 1, 2, 3, 4"
    table.loc[300:, place] = "elsewhere"
    content = table.to_csv(index=False, sep="|").encode()
    page = upload(visit("Data"), content)
    assert page.error[0].proto.title == "people.csv was not loaded"
    assert "Read as comma-separated, UTF-8. Is it written differently?" in words(page)
    pick(page, "Delimiter").set_value("bar-separated")
    (press,) = [b for b in page.button if b.label == "Read it like this"]
    press.click().run()
    assert not page.exception
    assert numbers(page)["Rows used"] == "600"
    assert set(newest()[place]) == {"A, B, C, 1, 2, 3, 4", "elsewhere"}


def test_a_format_that_does_not_fit_is_refused_with_its_reason(visit):
    page = upload(visit("Data"), b"a,b\n1,2\n3\n", "broken.csv")
    pick(page, "Delimiter").set_value("semicolon-separated")
    (press,) = [b for b in page.button if b.label == "Read it like this"]
    press.click().run()
    assert not page.exception
    assert "It has too few columns, 1" in words(page)
    assert ui.store().tables() == []  # what is refused is not kept either
    assert ui.store().datasets() == []


def test_a_source_of_the_operators_list_is_read_by_its_name(
    visit, tmp_path, monkeypatch
):
    assert not [box for box in visit("Data").selectbox if "of this server" in box.label]
    people().to_parquet(tmp_path / "people.parquet")
    listed = {
        "People": {"address": f"{tmp_path}/*.parquet", "most_rows": 400},
        "Others": {"address": f"{tmp_path}/*.parquet", "users": ["bob@example.org"]},
    }
    (tmp_path / "sources.yaml").write_text(yaml.safe_dump(listed))
    monkeypatch.setenv("FAIRDASH_SOURCES", str(tmp_path / "sources.yaml"))
    page = visit("Data")
    box = widget(page, "selectbox", "Or read a table of this server")
    assert box.options == ["People"]
    box.set_value("People").run()
    button(page, "Read it").click().run()
    assert not page.exception
    (record,) = ui.store().datasets()
    assert record.n_rows == 400
    assert record.name.startswith("People (400 of 600 rows, in proportion to hired and")
