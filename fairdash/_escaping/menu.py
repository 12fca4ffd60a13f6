"""Names of columns as options of a menu, which are sent to the browser each time."""

from collections import Counter
from collections.abc import Callable, Iterable

from fairdash._escaping.visible import visible

MENU_LETTERS = 120  # of a name; a menu is narrower
_GAP = "…"


def in_menu(names: Iterable[str]) -> Callable[[str], str]:
    """Return what labels these names in a menu: no two of them alike.

    A long name is cut in its middle, unless another one would then read the same.
    """
    # cut before it is made visible, which costs time for each letter
    short = {name: _cut(visible(_cut(name))) for name in names}
    often = Counter(short.values())
    labels = {
        name: label if often[label] == 1 else visible(name)
        for name, label in short.items()
    }
    return labels.__getitem__


def _cut(label: str) -> str:
    if len(label) <= MENU_LETTERS:
        return label
    half = (MENU_LETTERS - len(_GAP)) // 2
    return label[:half] + _GAP + label[-half:]
