"""The checks of a table and its roles: one registry.

`check_table`, the Data page and the table of ``docs/data.md`` read it. A new check is a
function in a file of this folder, which yields problems of an `Examined` table, and one
`add(Check(...))` here.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from fairdash.datasets._problems import Problem
from fairdash.datasets.checks.examined import Examined
from fairdash.datasets.checks.features import value_findings
from fairdash.datasets.checks.groups import header_findings
from fairdash.datasets.checks.leakage import leak_findings
from fairdash.datasets.checks.proxies import proxy_findings
from fairdash.datasets.checks.rows import (
    date_findings,
    repeated_findings,
    small_group_findings,
    width_findings,
)


@dataclass(frozen=True)
class CheckNote:
    """A finding of a check, for the documentation: its name, when, and the remedy."""

    name: str
    when: str
    remedy: str


@dataclass(frozen=True)
class Check:
    """A check of a table that is free of errors, but for those of single features.

    Attributes
    ----------
    find : function of `Examined`
        Yields a `Problem` for each thing that it finds.
    notes : tuple of CheckNote
        The ``check`` of each problem that it may yield.
    """

    find: Callable[[Examined], Iterator[Problem]]
    notes: tuple[CheckNote, ...]


_CHECKS: list[Check] = []


def add(check: Check) -> Check:
    """Add a check after the others; raise ValueError if another finds the same."""
    names = {note.name for check in _CHECKS for note in check.notes}
    for note in check.notes:
        if note.name in names:
            raise ValueError(
                f"Another check finds {note.name!r} already. Name it otherwise."
            )
    _CHECKS.append(check)
    return check


def checks() -> tuple[Check, ...]:
    """Return all checks, in the order in which their findings are listed."""
    return tuple(_CHECKS)


LEAK = add(
    Check(
        lambda table: leak_findings(table.used, table.features),
        (
            CheckNote(
                "leak",
                "a feature alone has AUC ≥ .95 for the outcome, or tells it by being "
                "filled in",
                "exclude",
            ),
        ),
    )
)
PROXY = add(
    Check(
        lambda table: proxy_findings(table.used, table.roles, table.features),
        (
            CheckNote(
                "proxy",
                "a feature alone has AUC ≥ .8 for a group, or saves half of the wrong "
                "guesses of the group",
                "exclude",
            ),
        ),
    )
)
VALUES = add(
    Check(
        lambda table: value_findings(table.used, table.roles),
        (
            CheckNote(
                "spellings",
                "values differ by capitals or spaces only",
                "write each in its usual way",
            ),
            CheckNote(
                "numbers as text",
                "half of the cells or more are numbers",
                "read as number",
            ),
            CheckNote(
                "ranges as text",
                "values such as 20–29 and 30–39",
                "read in their order",
            ),
            CheckNote(
                "looks missing",
                "`?`, `-`, `n/a`; 9999, -1 and other codes far from all else",
                "read as missing",
            ),
            CheckNote(
                "may stand for missing",
                '"Prefer not to say", "Not available", "Exempt"',
                "read as missing, or keep it as an answer",
            ),
        ),
    )
)
HEADER = add(
    Check(
        lambda table: header_findings(table.frame, frozenset(table.roles.columns())),
        (
            CheckNote(
                "duplicate header",
                "a name stands twice in the header; the later one is `age.1`",
                "use the one that is meant",
            ),
        ),
    )
)
DATES = add(
    Check(
        date_findings,
        (CheckNote("dates as groups", "each date is a group", "use years or ranges"),),
    )
)
SMALL_GROUPS = add(
    Check(
        small_group_findings,
        (
            CheckNote(
                "small group",
                "fewer than 50 rows, or 10 of an outcome",
                "put groups together",
            ),
        ),
    )
)
REPEATED = add(
    Check(
        repeated_findings,
        (
            CheckNote(
                "repeated rows",
                "equal in every column; a warning where each stands k times",
                "exclude repeated rows",
            ),
        ),
    )
)
WIDTH = add(
    Check(
        width_findings,
        (
            CheckNote(
                "wide table",
                "more than 200 columns, of which the first were looked at",
                "exclude features, or add those that you need",
            ),
        ),
    )
)
