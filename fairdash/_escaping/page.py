"""A stranger's text on a page: Streamlit reads Markdown, and more, in nearly all texts.

Streamlit 1.67 replaces in three steps. Before it parses, ``:material/`` becomes
``:material_`` anywhere. The parser (remark with GFM, directives and maths) reads marks
of Markdown, which a backslash turns off. Then it replaces in the *text* that came of
parsing, where no backslash is left: emoji and icons in colons, arrows such as "->",
addresses of pages and mail. There only the border of an element keeps the parts of a
pattern from being read as one, so `plain` draws one that holds nothing: ``:color[]`` is
an empty span without a style. No character is added to what is read or copied.
"""

import re

from fairdash._escaping.visible import visible

BORDER = ":color[]"
_MARKS = re.compile(r"[\\$*_\[\]{~<>#|`&]|:(?!\s)")
_INSIDE_PATTERNS = re.compile(
    r"""
    (?<=:)(?=\S)             # an emoji, an icon, the address of a page
    | (?<=[<>~-])(?=[-=>])   # an arrow, a dash, a sign such as "at least"
    | (?<=\S)(?=@)           # an address of mail
    | (?<=[wW]{3})(?=\.)     # the address of a page without its scheme
    """,
    re.VERBOSE,
)
_AT_START = re.compile(r"^(\d*)([-+.)=])(?=\s|$|[-=])")  # a list, a rule, a heading


def plain(text: object) -> str:
    """Return ``text`` so that a page shows its characters, and nothing else.

    For all that Streamlit reads as Markdown: `st.markdown`, captions, headings,
    messages, numbers of `st.metric`, and the labels, the help and the options of
    buttons, pills and radios. Options of a select box and cells of a table are no
    Markdown; those are `visible`.
    """
    parts = _INSIDE_PATTERNS.split(visible(text))
    marked = BORDER.join(_MARKS.sub(r"\\\g<0>", part) for part in parts)
    return _AT_START.sub(r"\1\\\2", marked)
