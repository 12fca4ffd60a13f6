"""Names of columns as options of a menu."""

from hypothesis import given
from hypothesis import strategies as st

from fairdash._escaping import in_menu, visible
from fairdash._escaping.menu import MENU_LETTERS

# long ones that are equal at both ends, and any others
LONG = st.builds(
    "{}{}{}".format, st.just("a" * 200), st.text(max_size=3), st.just("z" * 200)
)


@given(st.sets(st.one_of(st.text(max_size=200), LONG), max_size=8))
def test_no_two_names_of_a_menu_read_the_same(names):
    label = in_menu(names)
    labels = {label(name) for name in names}
    assert len(labels) == len(names)
    assert all(label(name) == visible(name) for name in names if len(name) < 15)


def test_a_long_name_is_cut_in_its_middle():
    names = [f"begin{number}{'x' * 1_000}end" for number in range(2_000)]
    label = in_menu(names)
    assert sum(len(label(name)) for name in names) <= MENU_LETTERS * len(names)
    assert label(names[7]).startswith("begin7x")
    assert label(names[7]).endswith("xend")
    assert "…" in label(names[7])


def test_a_name_is_whole_where_another_one_reads_like_its_cut():
    long = "a" * 500 + "b" * 500
    cut = in_menu([long])(long)
    assert len(cut) < len(long)
    label = in_menu([long, cut])
    assert (label(long), label(cut)) == (long, cut)
