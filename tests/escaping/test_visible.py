import unicodedata

import pandas as pd
import pytest
from hostile_texts import MARKS, in_every_place, read_back
from hypothesis import given
from hypothesis import strategies as st

from fairdash._escaping import as_printed, visible, visible_table

ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"])) | st.sampled_from(
    in_every_place()
)


@given(ANY_TEXT)
def test_a_text_is_read_back_from_what_is_shown_of_it(text):
    assert read_back(visible(text)) == text


@given(ANY_TEXT)
def test_nothing_that_is_shown_acts_on_a_screen_or_is_lost_by_it(text):
    content = visible(text)
    assert content == content.strip()
    assert "  " not in content
    for mark in content:
        kind = unicodedata.category(mark)
        assert kind not in ("Cc", "Cs", "Co", "Zl", "Zp")
        assert unicodedata.bidirectional(mark) not in {
            *("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
        }


@pytest.mark.parametrize(
    "text",
    [
        "Female", "sex: Female", "Zoë", "naïve café", "18–24", "ŷ = 1", "≥ 65 %",
        "男性", "山田\u3000太郎", "مرد", "نمی\u200cخواهم", "क\u094d\u200dष",
        "👩\u200d🚀", "❤\ufe0f", "1\u20e3", "e\u0301", "it's “so”",
        "C:\\data", "x" * 300,
    ],
)  # fmt: skip
def test_a_text_that_can_be_read_stays_as_it_is(text):
    assert visible(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (" a", "␣a"),
        ("a  b ", "a ␣b␣"),
        ("a\nb", "a↵b"),
        ("a\r\nb", "a⟨U+000D⟩↵b"),
        ("a\u202eb", "a⟨U+202E⟩b"),
        ("a\xa0b", "a⟨U+00A0⟩b"),
        ("a\u200db", "a⟨U+200D⟩b"),
        ("=\u0338", "=⟨U+0338⟩"),
        ("␣⟨", "⟨U+2423⟩⟨U+27E8⟩"),
        ("\udc80", "⟨U+DC80⟩"),
        ("\U000e0041", "⟨U+E0041⟩"),
    ],
)
def test_what_cannot_be_seen_becomes_a_sign(text, shown):
    assert visible(text) == shown


def test_a_table_is_read_back_with_its_names():
    texts = in_every_place()
    table = pd.DataFrame({name: [name, "x"] for name in texts})
    frame = visible_table(table)
    assert [read_back(name) for name in frame] == texts
    assert [read_back(cell) for cell in frame.iloc[0]] == texts
    assert list(table) == texts  # the table itself is another


def test_numbers_and_missing_cells_of_a_table_stay():
    table = pd.DataFrame({"n": [1.5, None], "s": ["a", None], "l": [["x "], []]})
    frame = visible_table(table)
    pd.testing.assert_series_equal(frame["n"], table["n"])
    assert frame["s"].isna().tolist() == [False, True]
    assert frame["l"].tolist() == [["x␣"], []]


@pytest.mark.parametrize("mark", MARKS)
def test_nothing_is_sent_to_a_terminal_but_what_is_read(mark):
    printed = as_printed(f"team {mark} x")
    assert all(c == "\n" or unicodedata.category(c)[0] != "C" for c in printed)
    assert read_back(printed) == f"team {mark} x"
