"""What the names of a table's columns say of one another."""

import re
from collections.abc import Collection, Iterator

from fairdash.datasets.column_kinds import READ_LETTERS

NUMBERED = re.compile(r"(?P<stem>.*?[A-Za-z_.])[_.]?(?P<number>\d{1,4})")
FEWEST_LETTERS = 4  # of a name that others are made from
JOINTS = "_."  # between such a name and its addition
TRANSFORMS = {"l", "ln", "log", "z", "c", "d", "s", "sq", "sqrt", "lag", "std", "hr"}


def derived_names(names: Collection[str]) -> set[str]:
    """Return the names that begin with another one, or are a transform of it."""
    lowered = {name: name[:READ_LETTERS].lower() for name in names}
    long_names = {name for name in lowered.values() if len(name) >= FEWEST_LETTERS}
    bare_names = {name.lstrip(JOINTS) for name in long_names} - {""}
    longer_names = set(_longer_names(long_names))
    derived: set[str] = set()
    for name, lower in lowered.items():
        is_transform = not bare_names.isdisjoint(_originals(lower))
        if is_transform or lower in longer_names:
            derived.add(name)
    return derived


def _longer_names(names: Collection[str]) -> Iterator[str]:
    """Yield the names that begin with another one."""
    beginnings: list[str] = []
    # In order, a name follows all that it begins with.
    for name in sorted(names):
        while beginnings and not name.startswith(beginnings[-1]):
            beginnings.pop()
        if beginnings:
            yield name
        beginnings.append(name)


def _originals(name: str) -> Iterator[str]:
    """Yield what a name may be a transform of: "log_age" of "age"."""
    for transform in TRANSFORMS:
        if name.startswith(transform) and name != transform:
            yield name[len(transform) :].lstrip(JOINTS)


def latest_numbers(names: Collection[str]) -> dict[tuple[str, int], int]:
    """Return the largest number behind each stem, by its digits: year_99, year_2001."""
    latest: dict[tuple[str, int], int] = {}
    for name in names:
        match = NUMBERED.fullmatch(name)
        if match is None:
            continue
        number = match["number"]
        key = (match["stem"], len(number))
        latest[key] = max(latest.get(key, 0), int(number))
    return latest


def is_earlier(name: str, latest: dict[tuple[str, int], int]) -> bool:
    """Return whether a name comes again with a larger number: year_01, year_02."""
    match = NUMBERED.fullmatch(name)
    if match is None:
        return False
    digits = match["number"]
    # One digit counts persons or questions, no years.
    if len(digits) < 2:
        return False
    return latest[match["stem"], len(digits)] > int(digits)


def is_numbered(name: str, names: Collection[str]) -> bool:
    """Return whether ``gender1`` has a twin ``gender2``, or ``gender`` beside it."""
    twin_digit = {"1": "2", "2": "1"}.get(name[-1:])
    if twin_digit is None:
        return False
    stem = name[:-1]
    return stem in names or f"{stem}{twin_digit}" in names
