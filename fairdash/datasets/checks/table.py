"""Everything an analyst should know about a table before trusting its results."""

from collections.abc import Iterator

import pandas as pd

from fairdash.datasets._problems import FEATURE_ERRORS, Problem, error, find_errors
from fairdash.datasets._remedy import Remedy
from fairdash.datasets._roles import Roles
from fairdash.datasets.checks.catalog import checks
from fairdash.datasets.checks.examined import Examined
from fairdash.datasets.remedies import prepare

SEVERITIES = ("error", "warning", "note")


def check_table(frame: pd.DataFrame, roles: Roles) -> pd.DataFrame:
    """List what is wrong, doubtful or worth knowing about a table and its roles.

    Returns
    -------
    DataFrame
        One row per finding, the gravest first: ``severity`` ("error": ``make_dataset``
        refuses the table; "warning": results may mislead; "note"), ``check``,
        ``column``, ``rows`` (how many are concerned), ``message``, ``remedy`` (in
        words) and ``action`` (the `Remedy` to pass to `apply_remedy`, or None where
        only a person can decide). Empty if there is nothing to say, and while no
        outcome is chosen (""). Never raises for what the table holds.

    Notes
    -----
    Counts are over all rows. In a table of more than 20,000 rows a random sample
    decides which columns give the outcome or the group away. Where more than 200
    columns have a role, the first are checked for doubtful values, and a note says so;
    every error is found.
    """
    problems = list(_find(frame, roles)) if roles.target else []
    problems.sort(key=lambda problem: SEVERITIES.index(problem.severity))
    return pd.DataFrame(problems, columns=list(Problem._fields))


def readable_checks(checks: pd.DataFrame) -> pd.DataFrame:
    """Return findings as text and numbers, for the screen and for a file.

    ``Severity``, ``Check``, ``Column``, ``Rows``, ``Finding`` and ``One click``: what
    the remedy does, "" where there is none.
    """
    actions = [
        action.words() if isinstance(action, Remedy) else ""
        for action in checks["action"]
    ]
    return pd.DataFrame(
        {
            "Severity": checks["severity"],
            "Check": checks["check"],
            "Column": checks["column"],
            "Rows": checks["rows"],
            "Finding": checks["message"],
            "One click": actions,
        }
    )


def _find(frame: pd.DataFrame, roles: Roles) -> Iterator[Problem]:
    if frame.columns.is_unique:  # else find_errors says so
        try:
            frame = prepare(frame, roles)
        except ValueError as refusal:
            remedy = "Undo the change, or change it."
            yield error("change does not fit", "", str(refusal), remedy)
            return
    errors = list(find_errors(frame, roles))
    yield from errors
    if not all(problem.check in FEATURE_ERRORS for problem in errors):
        return
    examined = Examined.of(frame, roles, {problem.column for problem in errors})
    for check in checks():
        yield from check.find(examined)
