"""Texts that a page, a figure, a report or a terminal might read otherwise."""

import itertools
import re

# what Streamlit, Markdown, HTML, Plotly, rich, a terminal or a spreadsheet acts on
MARKS = (
    # directives of Streamlit, also those that vanish without a label
    *(":red", ":primary", ":rainbow", ":small", ":gray-badge", ":red-background"),
    *(":help", ":color", ":shimmer", ":blue[x]", ":help[x]", ":small[x]{a=b}"),
    *("::red", ":::note", ":a:b:c", ":x", ":9"),
    # emoji, icons, the logo, arrows
    *(":smile:", ":+1:", ":100:", ":material/home:", ":material_home:", ":streamlit:"),
    *("->", "<-", "<->", "--", ">=", "<=", "~=", "==", "=>", "-->", ">-"),
    # Markdown
    *("[x]", "[x](y)", "![x](y)", "[^1]", "[x]: y", "<x>", "<http://a.invalid>"),
    *("*x*", "**x**", "_x_", "__x__", "~x~", "~~x~~", "`x`", "``x``", "`", "```"),
    *("# x", "#", "- x", "+ x", "* x", "1. x", "1) x", "> x", "|", "| x |", "---"),
    *("***", "===", "$", "$x$", "$$x$$", "\\", "\\*", "\\$x\\$", "!", "a\\", "- [ ] x"),
    *("www.a.invalid", "http://a.invalid/x", "me@a.invalid", "mailto:me@a.invalid"),
    # HTML and entities
    *("<b>x</b>", "<br>", "<i>", "<span>", "<!-- x -->", "</script>", "<img src=x>"),
    *("&amp;", "&lt;", "&#58;", "&nbsp;", "&", "]]>", '"', "'"),
    # Plotly, formats, templates
    *("%{x}", "%{text}", "<extra></extra>", "{}", "{x}", "{{ x }}", "{% x %}", "%s"),
    *(".2f", "#000001", "<sup>x</sup>", '<a href="x">y</a>'),
    # rich, terminals, spreadsheets
    *("[red]", "[/red]", "[bold]x", "\x1b[31m", "\x1b]0;x\x07", "\x9b31m", "\r"),
    *("=1+1", "+1", "-1", "@x", "x;=1", "x\t=1", "a,b", 'a"b'),
    # spaces and what cannot be seen
    *(" ", "  ", "\t", "\n", "\n\n", "\r\n", "\x0b", "\x00", "\x7f", "\x85"),
    *("\xa0", "\u2003", "\u202f", "\u3000", "\u200b", "\u2060", "\ufeff", "\xad"),
    *("\u202e", "\u2066", "\u2069", "\u200f", "\u200d", "\u200c", "\u2028", "\ufe0f"),
    *("\u0301", "\u0338", "\u20dd", "\u115f", "\u2800", "\u3164", "\U000e0041"),
    *("\ue000", "\ufffe", "\ufffd", "␣", "↵", "⟨U+202E⟩", "⟨", "⟩"),
)
PLACES = ("{}", "team{}", "{}team", "te{}am", "team {}", "{} team", "te {} am")
# every text begins and ends with a letter that a page writes nowhere else
FIRST = "Ж"
LAST = "Щ"
_IN_A_TEXT = 4  # marks
_IN_NO_TABLE = set("\x00\r\ufeff")  # a CSV file keeps none of these
_SIGN = re.compile("␣|↵|⟨U\\+([0-9A-F]{4,6})⟩")


def in_every_place(marks=MARKS, places=PLACES):
    """Return every mark in every place, no text twice."""
    pairs = itertools.product(marks, places)
    return list(dict.fromkeys(place.replace("{}", mark, 1) for mark, place in pairs))


def marked_texts():
    """Return texts between `FIRST` and `LAST` that hold every mark a table can."""
    marks = [mark for mark in MARKS if not set(mark) & _IN_NO_TABLE]
    parts = [marks[at : at + _IN_A_TEXT] for at in range(0, len(marks), _IN_A_TEXT)]
    return [f"{FIRST}{'x '.join(part)}{LAST}" for part in parts]


def marked_in(text):
    """Return the parts of what is shown that are whole texts of `marked_texts`."""
    whole = re.findall(f"{FIRST}[^{FIRST}{LAST}]*{LAST}", text)
    assert len(whole) == text.count(FIRST), f"part of a text is lost: {text!r}"
    return whole


def without_spaces(shown):
    """Return what is read, but for spaces at which a label may begin another line."""
    return read_back(shown.replace(" ", ""))


def read_back(shown):
    """Return the text that somebody reads in what is shown of it."""

    def meant(sign):
        if sign[1]:
            return chr(int(sign[1], 16))
        return {"␣": " ", "↵": "\n"}[sign[0]]

    return _SIGN.sub(meant, shown)
