"""The text of a configuration becomes plain data, within bounds.

Every configuration is read here: sweeps, benchmarks, policies, roles, lists of sources,
thresholds. An alias of YAML makes a short text a long list, so what is counted is what
the text spells out.
"""

import json
from collections.abc import Iterator
from functools import cache
from typing import Any, Literal, NamedTuple

from fairdash._lazy import load
from fairdash._validation import brief

MOST_NESTED = 50  # lists and mappings in one another
MOST_ENTRIES = 200  # of a list each of whose entries is checked, or trained


class Bounds(NamedTuple):
    """Upper bounds on a text.

    ``text`` is in characters; ``items`` are names, values, lists and mappings, those
    of aliases too.
    """

    text: int
    items: int


CONFIGURATION = Bounds(text=500_000, items=50_000)


class _Refused(ValueError):
    """A text that is valid, and not read: it says so itself."""


def parsed(
    text: str | bytes,
    form: Literal["YAML", "JSON"],
    bounds: Bounds = CONFIGURATION,
) -> Any:
    """Return what a text says.

    Raises ValueError with the line of the mistake, in words of no library, or when the
    text is beyond its bounds or nested deeper than `MOST_NESTED`.
    """
    if len(text) > bounds.text:
        raise ValueError(f"It is too large: more than {bounds.text:,} characters.")
    failures: tuple[type[Exception], ...] = (ValueError,)
    if form == "YAML":
        failures = (ValueError, load("yaml").YAMLError)
    try:
        if form == "YAML":
            _check_events(load("yaml").parse(text, _plain_loader()), bounds.items)
            return load("yaml").load(text, _plain_loader())
        content = json.loads(text, object_pairs_hook=_distinct)
        _check_content(content, bounds.items)
        return content
    except _Refused:
        raise
    except RecursionError as error:
        raise ValueError(f"Not valid {form}: it is nested too deeply.") from error
    except failures as error:
        mark = getattr(error, "problem_mark", None)
        line = getattr(error, "lineno", mark and mark.line + 1)
        position = f", line {line}" if line else ""
        raise ValueError(f"Not valid {form}{position}.") from error


def check_entries(name: str, entries: Any) -> None:
    """Raise ValueError when a list of a configuration has too many entries.

    What is no list is left to whoever reads it.
    """
    if isinstance(entries, list | tuple) and len(entries) > MOST_ENTRIES:
        raise ValueError(
            f"`{name}` can have at most {MOST_ENTRIES:,} entries, got {len(entries):,}"
        )


def _check_events(events: Iterator[Any], most: int) -> None:
    """Raise ValueError when a YAML text is too long, spelled out, or nested too deeply.

    Nothing is built yet, so an alias costs its few letters.
    """
    yaml = load("yaml")
    begins = (yaml.SequenceStartEvent, yaml.MappingStartEvent)
    ends = (yaml.SequenceEndEvent, yaml.MappingEndEvent)
    n_items = 0
    opened: list[tuple[str | None, int]] = []  # anchor, and items before it
    sizes: dict[str, int] = {}  # items of what an anchor names
    for event in events:
        if isinstance(event, ends):
            anchor, before = opened.pop()
            if anchor is not None:
                sizes[anchor] = n_items - before
            continue
        if isinstance(event, yaml.AliasEvent):
            # of an anchor that is still open, the text would hold itself
            n_items += sizes.get(event.anchor, most)
        elif isinstance(event, begins):
            opened.append((event.anchor, n_items))
            n_items += 1
            _check_depth(len(opened))
        elif isinstance(event, yaml.ScalarEvent):
            n_items += 1
            if event.anchor is not None:
                sizes[event.anchor] = 1
        _check_items(n_items, most)


def _check_content(content: Any, most: int) -> None:
    """Raise ValueError when JSON holds too many items, or is nested too deeply."""
    n_items = 0
    depth = 0
    level = [content]
    while level:
        n_items += len(level)
        _check_items(n_items, most)
        inner: list[Any] = []
        for value in level:
            if isinstance(value, dict):
                n_items += len(value)  # its names
                inner += value.values()
            elif isinstance(value, list):
                inner += value
        depth += 1
        _check_depth(depth - 1)
        level = inner


def _check_items(n_items: int, most: int) -> None:
    if n_items > most:
        raise _Refused(f"It is too large: more than {most:,} names and values.")


def _check_depth(depth: int) -> None:
    if depth > MOST_NESTED:
        raise _Refused(
            f"It is nested too deeply: more than {MOST_NESTED} lists and mappings in "
            "one another."
        )


@cache
def _plain_loader() -> Any:
    """Return a loader of plain values: what ``<<`` merges can grow without end."""
    yaml = load("yaml")
    # libyaml's is twenty times faster; it comes with nearly every build of PyYAML
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

    class PlainLoader(loader):  # type: ignore[misc, valid-type]
        def flatten_mapping(self, node: Any) -> None:
            """Leave merges as fields, which nobody asks for."""

    return PlainLoader


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object; ValueError if it gives a name twice."""
    entries: dict[str, Any] = {}
    for name, value in pairs:
        if name in entries:
            raise _Refused(f"{brief(name)} stands there twice, and only one can hold.")
        entries[name] = value
    return entries
