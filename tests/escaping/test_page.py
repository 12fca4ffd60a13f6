"""`tests/browser/test_text_on_a_page.py` reads in the browser what this writes."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdash._escaping import plain


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("sex: Female", "sex: Female"),
        ("`a_b` and a_b cost $5", r"\`a\_b\` and a\_b cost \$5"),
        ("1. Loans", r"1\. Loans"),
        ("team:red", r"team\::color[]red"),
        ("me@a.b", "me:color[]@a.b"),
        ("a -> b", r"a -:color[]\> b"),
    ],
)
def test_marks_of_markdown_are_turned_off(text, written):
    assert plain(text) == written


@given(st.text())
def test_text_from_a_file_never_starts_a_formula_or_a_link(text):
    ours = plain(text).replace(":color[]", "")
    assert re.search(r"(?<!\\)(\\\\)*[$\[`<*_]", ours) is None


@given(st.text(), st.text())
def test_two_texts_are_never_written_alike(one, other):
    assert (plain(one) == plain(other)) == (one == other)
