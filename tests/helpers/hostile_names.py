"""Names that a user may give and that code is easily misled by.

A user's word is a value: every table, page and export shows it as it was written. An
empty cell of a file is a missing value, so `several_names` has no empty name unless it
is asked for one.
"""

from hypothesis import strategies as st

FIELDS = (  # of the package's own tables, and words that it writes beside users' ones
    "other", "gap", "group", "groups", "Rows", "rows", "n", "index", "value", "values",
    "model", "seed", "subgroup", "measure", "low", "high", "method", "reason", "key",
    "n_a", "value_a", "rate_x", "level_0", "All rows", "All others",
)  # fmt: skip
PYTHON = ("self", "__class__", "__init__", "None", "True", "class", "lambda", "print()")
MARKUP = (
    "<b>bold</b>", "<script>alert(1)</script>", "[a](http://evil.invalid)",
    "![a](b.png)", "$x_1$", ":red[text]", "*a* _b_ `c`", "a | b", "# a", "&amp;",
)  # fmt: skip
SYNTAX = (
    "'", '"', '"""', "it's", 'say "no"', "{}", "{0}", "{value}", "{{", "%", "%s",
    "100 %", "%(n)s", "a,b", "a;b", "a\tb", "a\nb", "a\r\nb", "back\\slash", "../../a",
    "a/b", "a=b&c=d", "=1+1", "-1", "1", "1.0", "a · b", "a: b",
)  # fmt: skip
SCRIPTS = ("👩‍🚀", "naïve café", "男性", "مرد", "\u202eabc", "e\u0301", "x" * 300)
NAMES = ("", *FIELDS, *PYTHON, *MARKUP, *SYNTAX, *SCRIPTS)


def hostile_names(*, empty=False):
    """Return a strategy of one name: of `NAMES`, two of them joined, or any text."""
    listed = st.sampled_from([name for name in NAMES if name])
    joined = st.tuples(listed, listed).map(" ".join)
    text = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=9)
    strategy = listed | joined | text
    return strategy | st.just("") if empty else strategy


def several_names(n, *, empty=False):
    """Return a strategy of ``n`` names that differ, also without case and spaces."""
    return st.lists(
        hostile_names(empty=empty),
        min_size=n,
        max_size=n,
        unique_by=lambda name: " ".join(name.casefold().split()),
    )
