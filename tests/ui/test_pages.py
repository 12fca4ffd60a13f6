"""The list of pages: each has a file, and a page that is added is in the menu."""

import re
import shutil

import documents
import pytest
from opening import ROOT, prepared_pages
from streamlit.runtime.scriptrunner import magic
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.testing.v1 import AppTest

from fairdash.ui import pages

TOY = """\
import streamlit as st

from fairdash import ui
from fairdash.ui import pages

view = ui.page(pages.TOY)
st.write("Heads.")
"""


@pytest.fixture
def toy_page(monkeypatch):
    """A page in the list, as long as a test lasts."""
    monkeypatch.setattr(pages, "_PAGES", dict(pages._PAGES))
    page = pages.Page(
        "pages/14_Toss_a_coin.py",
        question="Heads or tails?",
        icon="casino",
        section="Stress-test",
        about="Is a coin fair?",
        pick="data",
    )
    monkeypatch.setattr(pages, "TOY", pages.add(page), raising=False)
    return page


def test_the_list_and_the_files_are_the_same_pages():
    files = {path.relative_to(ROOT).as_posix() for path in ROOT.glob("pages/*.py")}
    listed = {page.path for page in pages.pages()} - {"app.py"}
    unlisted = sorted(files - listed)
    assert unlisted == [], "add(Page(...)) each of these in fairdash/ui/pages.py"
    assert sorted(listed - files) == [], "fairdash/ui/pages.py names files, not there"


def test_each_file_draws_the_frame_of_its_own_page():
    constants = {
        page.path: name
        for name, page in vars(pages).items()
        if isinstance(page, pages.Page)
    }
    for page in pages.pages():
        drawn = re.findall(r"ui\.page\(pages\.(\w+)\)", (ROOT / page.path).read_text())
        assert drawn == [constants[page.path]], page.path


def test_each_page_but_home_stands_under_a_heading_and_in_the_readme():
    alone = {page.name for page in pages.pages() if not (page.section and page.about)}
    assert alone == {"Home"}


def test_a_second_page_of_a_name_is_refused(toy_page):
    twin = pages.Page("pages/15_Toss_a_coin.py", question="Again?", icon="casino")
    with pytest.raises(ValueError, match=r"Toss a coin.*pages/14_.*another name"):
        pages.add(twin)


def test_a_page_is_a_file_and_a_line(toy_page, inline, tmp_path):
    (tmp_path / "pages").mkdir()
    for path in ["app.py", *(page.path for page in pages.pages())]:
        if path != toy_page.path and not (tmp_path / path).exists():
            shutil.copy(ROOT / path, tmp_path / path)
    (tmp_path / toy_page.path).write_text(TOY)
    with prepared_pages():
        app = AppTest.from_file(tmp_path / "app.py", default_timeout=60).run()
        menu = {link.proto.label: link.proto.page for link in app.get("page_link")}
        assert menu["Toss a coin"] == toy_page.url_path
        page = app.switch_page(toy_page.path).run()
    assert not page.exception
    assert page.title[0].value == "Heads or tails?"
    assert page.markdown[-1].value == "Heads."


def test_the_readme_lists_it(toy_page):
    assert "|Toss a coin|Is a coin fair?|" in documents.tables().filled("../README.md")


def test_a_page_is_compiled_without_parsing_it_for_bare_values(monkeypatch):
    """Beside another thread, Python 3.11 can fail to parse: gh-106905."""
    monkeypatch.setattr(magic, "add_magic", None)  # a call would raise
    cache = ScriptCache()
    for page in pages.pages():
        assert cache.get_bytecode(str(ROOT / page.path))
