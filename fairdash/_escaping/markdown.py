"""A stranger's text in a Markdown file, such as a model card.

Whoever reads the file may make links of addresses and pictures of names in colons, long
after its marks were read. A character without width parts these; `visible` has written
out those that a text brought along.
"""

import re

from fairdash._escaping.visible import visible

NO_WIDTH = "\u2060"
_MARKS = re.compile(r"[\\$*_\[\]~<>#|`&]")
_INSIDE_PATTERNS = re.compile(
    r"""
    (?<=:)(?=//)             # the address of a page
    | (?<=:)(?=[\w+/-]+:)    # an emoji
    | (?<=\S)(?=@)           # an address of mail
    | (?<=[wW]{3})(?=\.)     # the address of a page without its scheme
    """,
    re.VERBOSE,
)
_AT_START = re.compile(r"^(\d*)([-+.)=])(?=\s|$|[-=])")  # a list, a rule, a heading


def as_markdown(text: object) -> str:
    """Return ``text`` so that Markdown shows its characters, on one line."""
    parts = _INSIDE_PATTERNS.split(visible(text))
    marked = _MARKS.sub(r"\\\g<0>", NO_WIDTH.join(parts))
    return _AT_START.sub(r"\1\\\2", marked)
