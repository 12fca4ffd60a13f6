"""What Data shows first of a table: its guessed roles, and what follows from these.

All of it follows from the cells and the name of the file, so it is computed once, where
the table is read, and kept with it. A page reads it instead of computing for a second
while other sessions wait.
"""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import field
from typing import Any

import pandas as pd

from fairdash._code import version_of
from fairdash._record import Record
from fairdash.datasets._problems import Problem
from fairdash.datasets._remedy import Remedy
from fairdash.datasets._roles import Roles
from fairdash.datasets._values import Cut
from fairdash.datasets.checks.table import check_table
from fairdash.datasets.column_kinds import count_values
from fairdash.datasets.guessing.features import guess_features
from fairdash.datasets.guessing.offers import more_roles
from fairdash.datasets.guessing.ranking import Candidate
from fairdash.datasets.guessing.roles import RoleGuess, rank_roles
from fairdash.datasets.guessing.several import zero_one_columns
from fairdash.datasets.remedies import prepare
from fairdash.datasets.wide_counts import find_wide_counts

FEW_VALUES = 8  # of a column that groups may be crossed with
STEPS = {"preparation", "types"}  # of roles: what changes the table
# Parts of roles that no check is about.
UNCHECKED = {"subgroup_columns", "positive_name", "positive_is", "guessed", "scores"}


class RankedColumn(Record):
    """A column that outcome or sensitive feature could be: see `Candidate`."""

    column: str
    score: float


class Finding(Record):
    """A finding of `check_table`, by the names of its columns."""

    severity: str
    check: str
    column: str
    rows: int
    message: str
    remedy: str
    action: Remedy | None


class Overview(Record):
    """What a page shows first of a table.

    Attributes
    ----------
    file : str
        Name of the table's file, which a guess goes by too.
    refusal : str
        Why no roles could be guessed; the fields about roles are empty then.
    roles, outcomes, sensitive, layout
        The guess: see `fairdash.datasets.guessing.RoleGuess`.
    offers : dict of str to Roles
        Of `fairdash.datasets.guessing.more_roles` with the guessed roles.
    features : tuple of str, optional
    reasons : dict of str to str
        Of `fairdash.datasets.guessing.guess_features` in the prepared table; None where
        the guessed roles do not fit the table.
    findings : tuple of Finding
        Of `check_table` with the guessed roles.
    few_valued : tuple of str
        Columns of the prepared table with at most `FEW_VALUES` values.
    zero_one : tuple of str
        Columns that hold yes and no.
    has_wide_counts : bool
        Whether `find_wide_counts` finds groups in columns.
    """

    file: str
    zero_one: tuple[str, ...]
    has_wide_counts: bool
    refusal: str = ""
    roles: Roles | None = None
    outcomes: tuple[RankedColumn, ...] = ()
    sensitive: tuple[RankedColumn, ...] = ()
    layout: str = ""
    offers: dict[str, Roles] = field(default_factory=dict)
    features: tuple[str, ...] | None = None
    reasons: dict[str, str] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    few_valued: tuple[str, ...] = ()

    @property
    def guess(self) -> RoleGuess | str:
        """The guess with its runners-up, or why there is none."""
        if self.roles is None:
            return self.refusal
        return RoleGuess(
            roles=self.roles,
            outcomes=_candidates(self.outcomes),
            sensitive=_candidates(self.sensitive),
            layout=self.layout,
        )

    def is_prepared_as(self, roles: Roles) -> bool:
        """Return whether roles change the table as the guessed roles do."""
        if self.roles is None or self.features is None:
            return False
        return _are_equal(self.roles, roles, STEPS)

    def is_checked_as(self, roles: Roles) -> bool:
        """Return whether the checks find of roles what they find of the guess."""
        if self.roles is None:
            return False
        return _are_equal(self.roles, roles, vars(roles).keys() - UNCHECKED)

    def features_for(
        self, target: str, positive: str | tuple[str, ...] | Cut, sensitive: str
    ) -> tuple[str, ...] | None:
        """Return the features for an outcome and groups, None for others than guessed.

        They are those of a table that `is_prepared_as` the guessed roles say.
        """
        guessed = self.roles
        if guessed is None:
            return None
        pair = (guessed.target, guessed.positive, guessed.sensitive_feature)
        return self.features if pair == (target, positive, sensitive) else None

    def offers_beside(self, roles: Roles) -> dict[str, Roles] | None:
        """Return what `more_roles` offers beside roles, None for others than guessed.

        That somebody has confirmed a guess changes no offer.
        """
        sure = {"guessed": roles.guessed}
        if self.roles is None or self.roles.model_copy(update=sure) != roles:
            return None
        return {
            words: changed.model_copy(update=sure)
            for words, changed in self.offers.items()
        }

    def checks(self) -> pd.DataFrame:
        """Return what `check_table` finds of the guessed roles."""
        rows = [tuple(vars(finding).values()) for finding in self.findings]
        return pd.DataFrame(rows, columns=list(Problem._fields))


def overview_of(frame: pd.DataFrame, file: str = "") -> Overview:
    """Return what a page shows first of a table, whose file has this name."""
    facts: dict[str, Any] = {
        "file": file,
        "zero_one": tuple(zero_one_columns(frame)),
        "has_wide_counts": find_wide_counts(frame) is not None,
    }
    try:
        guess = rank_roles(frame, file)
    except ValueError as error:
        return Overview(**facts, refusal=str(error))
    roles = guess.roles
    checks = check_table(frame, roles)
    with suppress(ValueError):  # the page says what does not fit
        facts |= _prepared_facts(frame, roles)
    return Overview(
        **facts,
        roles=roles,
        outcomes=_ranked(guess.outcomes),
        sensitive=_ranked(guess.sensitive),
        layout=guess.layout,
        offers=more_roles(frame, roles),
        findings=tuple(
            Finding(**dict(zip(Problem._fields, row, strict=True)))
            for row in checks.itertuples(index=False, name=None)
        ),
    )


def _prepared_facts(frame: pd.DataFrame, roles: Roles) -> dict[str, Any]:
    """Return the fields about the table as the guessed roles prepare it."""
    prepared = prepare(frame, roles)
    features, reasons = guess_features(
        prepared, roles.target, roles.positive, roles.sensitive_feature
    )
    return {
        "features": tuple(features),
        "reasons": reasons,
        "few_valued": few_valued_columns(prepared),
    }


def overview_version() -> str:
    """Return the version of the code that `overview_of` follows from."""
    return version_of("datasets", "_wording")


def few_valued_columns(frame: pd.DataFrame) -> tuple[str, ...]:
    """Return the columns with at most `FEW_VALUES` values."""
    return tuple(
        str(name)
        for name in frame
        if count_values(frame[name], FEW_VALUES) <= FEW_VALUES
    )


def read_overview(content: bytes, file: str) -> Overview | None:
    """Return an overview from its JSON, None where it does not hold for a file.

    It was computed by another name of the file, or is damaged.
    """
    try:
        overview = Overview.model_validate_json(content)
    except ValueError:
        return None
    return overview if overview.file == file else None


def _ranked(candidates: tuple[Candidate, ...]) -> tuple[RankedColumn, ...]:
    return tuple(RankedColumn(column=c.column, score=c.score) for c in candidates)


def _candidates(ranked: tuple[RankedColumn, ...]) -> tuple[Candidate, ...]:
    return tuple(Candidate(column.column, column.score) for column in ranked)


def _are_equal(one: Roles, other: Roles, parts: Iterable[str]) -> bool:
    """Return whether some parts of two roles are equal."""
    return all(getattr(one, part) == getattr(other, part) for part in parts)
