import html
import re

import pandas as pd
from hostile_texts import in_every_place, read_back

from fairdash._escaping import Label, as_label, bold, coloured, in_lines, wrap

OURS = re.compile(r"<br>|</?b>|<span style=\"color:#\w+\">|</span>")


def read(label):
    """Return the text that Plotly draws of a label, its lines joined."""
    return html.unescape(OURS.sub("", label))


def test_every_text_is_read_back_from_every_part_of_a_figure():
    for text in in_every_place():
        parts = {"name": text, "text": [text], "hover": pd.Series([text])}
        figure = as_label(parts | {"bold": bold(text)})
        figure["mark"] = as_label(coloured(text, "■", "#000001")).replace(" <", "<")
        labels = [figure["name"], *figure["text"], *figure["hover"], figure["bold"]]
        for label in [*labels, figure["mark"]]:
            assert "<" not in OURS.sub("", label)
            assert "#0000" not in OURS.sub("", label)
            assert read_back(read(label).removesuffix("■")) == text


def test_only_spaces_are_lost_where_a_name_is_wrapped():
    for text in in_every_place():
        lines = as_label(wrap(text, 6)).split("<br>")
        joined = read_back("".join(map(read, lines)))
        assert joined.replace(" ", "") == text.replace(" ", "")


def test_markup_of_a_figure_stays_and_that_of_a_name_is_text():
    label = in_lines(bold("<b>x</b>"), "a & b")
    assert label == "<b>&lt;b&gt;x&lt;/b&gt;</b><br>a &amp; b"
    assert as_label([label, "<br>"]) == [label, "&lt;br&gt;"]
    assert isinstance(as_label(label), Label)


def test_colours_of_a_figure_stay_tokens_of_the_theme():
    marker = {"color": ["#000001"], "line": {"color": "#000037"}}
    assert as_label({"marker": marker}) == {"marker": marker}
    assert as_label({"name": "#000001"}) == {"name": "&#35;000001"}
