"""The Data page says how a file was read, and reads it as the reader says."""

import pytest
import yaml
from reading import button, widget, words
from statements import ANY, DUCKDB, SQLITE, Bank
from toys import people, people_csv

from fairdash import ui

GERMAN = people().assign(skill=people()["skill"].round(3))


def upload(page, content, name="people.csv"):
    page.file_uploader[0].upload(name, content, "text/csv")
    return page.run()


def newest():
    data = ui.store().datasets()[0]
    return ui.store().table(data.table_sha256)


def test_the_page_says_how_the_file_was_read(visit):
    table = GERMAN.replace({"branch": {"office": "Büro"}})
    content = table.to_csv(index=False, sep=";", decimal=",").encode("cp1252")
    page = upload(visit("Data"), content)
    assert not page.exception
    sentence = "semicolon-separated, decimal comma, Windows-1252"
    assert f"Read as {sentence}." in words(page)
    assert (newest()["skill"] == GERMAN["skill"]).all()


def test_a_file_is_read_as_the_reader_says(visit):
    content = people_csv().replace(b"office", "Łódź".encode())
    page = visit("Data")
    widget(page, "toggle", "Found automatically").set_value(False).run()
    widget(page, "selectbox", "Encoding").set_value("latin-1").run()
    page = upload(page, content)
    assert not page.exception
    assert "comma-separated, Latin-1" in words(page)
    assert "Łódź".encode().decode("latin-1") in set(newest()["branch"])


def test_a_file_that_cannot_be_read_is_refused_and_not_kept(visit):
    page = upload(visit("Data"), b"a,b\n1,2\n3\n", "broken.csv")
    assert not page.exception
    assert page.error[0].proto.title == "broken.csv was not loaded"
    assert "has 1 cells but the header has 2" in words(page)
    assert ui.store().tables() == ui.store().datasets() == []


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


@pytest.mark.parametrize(
    "kind, statements",
    [("duckdb", {**ANY, **DUCKDB}), ("sqlite", {**ANY, **SQLITE})],
)
def test_no_statement_of_a_listed_source_writes_or_reads_a_file(
    visit, tmp_path, monkeypatch, kind, statements, thorough
):
    (tmp_path / "bank").mkdir()
    bank = Bank(tmp_path / "bank", kind)
    listed = {
        name: {"address": bank.address(query=text)}
        for name, text in list(statements.items())[:: 1 if thorough else 5]
    }
    (tmp_path / "sources.yaml").write_text(yaml.safe_dump(listed))
    monkeypatch.setenv("FAIRDASH_SOURCES", str(tmp_path / "sources.yaml"))
    page = visit("Data")
    for name in listed:
        widget(page, "selectbox", "Or read a table of this server").set_value(name)
        button(page.run(), "Read it").click().run()
        assert not page.exception
        assert page.error[0].proto.title.endswith("was not read")
        bank.assert_untouched(words(page))
    assert ui.store().tables() == []
