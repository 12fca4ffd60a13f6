"""The meaning of a table's columns, as an analyst chooses it."""

from dataclasses import field
from typing import Any, Literal

from fairdash._record import Record, default
from fairdash._validation import CROSS, Count
from fairdash._wording import PEOPLE, ROWS, Noun, spoken_outcome, value_spans
from fairdash.datasets._remedy import Remedy
from fairdash.datasets._scores import ScoreColumn
from fairdash.datasets._values import Cut, Labels, Positive
from fairdash.datasets.column_kinds import ColumnKind
from fairdash.datasets.conditions import Condition, Conditions, conditions_words

# No part of a data set's identity: they change no row and no model
_NO_IDENTITY = {
    "subgroup_columns", "left_out", "feature_order", "positive_name", "positive_is",
    "guessed", "scores",
}  # fmt: skip
# At their defaults these are not part of it either, so that keys made before stand.
_LATER = (
    "sample_weight",
    "sensitive_cuts",
    "crossed_with",
    "sensitive_missing",
    "min_level_rows",
    "max_levels",
    "types",
    "preparation",
    "unit",
    "rows",
    "negative",
    "count",
    "test_rows",
)


def _some_column(name: str | None) -> tuple[str, ...]:
    """Return the columns of a role that one column may have."""
    return () if name is None else (name,)


class Roles(Record):
    """The meaning of a table's columns: outcome, sensitive feature, features.

    Values are named by their labels: ``1``, ``1.0`` and ``True`` are all ``"1"``.

    Attributes
    ----------
    positive : str, tuple of str or Cut
        The value that counts as 1: the outcome has one other, which is 0. Or several
        values in a tuple, or a cut such as ``{"sign": ">", "value": 50000}``: all else
        is 0, unless ``negative`` names the values.
    negative : tuple of str
        Values of the outcome that count as 0; rows with any other value are excluded.
        Without it all but the positive ones are 0.
    sensitive_feature : str
        Column whose values, unions of values or ranges are the groups that are
        compared. Never a feature.
    groups : dict of str to tuple of str, optional
        Values of each group, by name. An empty tuple stands for all remaining values;
        rows whose value is in no group are excluded. None makes each value a group.
    sensitive_cuts : tuple of float
        Cuts a sensitive number in ranges, each with its lower end: ``(25,)`` gives
        "under 25" and "25 or more". Instead of ``groups``.
    crossed_with : tuple of str
        Further sensitive columns; their values cross the groups, as in race and sex.
    sensitive_missing : {"exclude", "group"}
        Whether rows without a sensitive value are excluded or a group of their own.
    features : tuple of str
        Columns that models see. Without any, rates and existing scores can be audited
        and nothing trained.
    subgroup_columns : tuple of str
        Columns that describe subgroups; they may be features as well.
    scores : tuple of ScoreColumn
        Scores or decisions of models that exist already, which can be audited. Never
        features.
    sample_weight : str, optional
        Column of sampling weights, which measures of models use; no feature.
    count : str, optional
        Column that says how many people a row stands for, as in a table of counts: n is
        their number, and everything is as if each row were repeated. No feature, and no
        sampling weight or unit beside it.
    unit : str, optional
        Column that says whose a row is where rows are not independent: a person with
        several visits, a household, a branch. A split keeps a unit in one part. No
        feature.
    rows : tuple of Condition
        Only rows that meet all of these conditions are used, once the table is
        prepared: ``({"column": "age", "at_least": 18},)``.
    keep : dict of str to tuple of str
        Values by column that rows must have as well; ``rows`` says more.
    missing : {"keep", "impute", "exclude"}
        The treatment of rows in which a feature is missing. "impute" gives a category a
        level of its own, a number the training median and an indicator column. "keep"
        does so, but methods and base models that take missing numbers see these.
        "exclude" excludes the rows.
    min_level_rows : int, default=10
        Fewest training rows of a level of a category that gets a column of its own; the
        rest share the column "(other)". 1 keeps all levels.
    max_levels : int, default=50
        Most levels of a category with a column of their own, the commonest.
    preparation : tuple of Remedy
        Changes of the table, applied in this order before anything else.
    types : dict of str to str
        Columns read as another kind than the file has, after the preparation.
    left_out : dict of str to str
        Why a column was excluded from the features.
    feature_order : tuple of str
        Not used any more; roles stored by earlier versions hold it.
    positive_name : str
        The outcome 1 in words, such as "recidivated".
    positive_is : {"favourable", "unfavourable"}, optional
        Whether the outcome 1 is good or bad for the person.
    test_rows : {"by_seed", "shared"}
        Whether each seed has test rows of its own, or all seeds the same ones. A test
        row of one seed is a validation row of another, so what is chosen over several
        seeds has seen them: a table that is added has "shared" ones. "by_seed" is what
        configurations and runs of earlier versions mean, which do not say it.
    guessed : bool
        Whether nobody has confirmed yet what `guess_roles` proposed.
    """

    target: str
    positive: Positive
    negative: Labels = ()
    sensitive_feature: str
    groups: dict[str, Labels] | None = None
    sensitive_cuts: tuple[float, ...] = ()
    crossed_with: tuple[str, ...] = ()
    sensitive_missing: Literal["exclude", "group"] = "exclude"
    features: tuple[str, ...]
    subgroup_columns: tuple[str, ...] = ()
    scores: tuple[ScoreColumn, ...] = ()
    sample_weight: str | None = None
    count: str | None = None
    unit: str | None = None
    rows: Conditions = ()
    keep: dict[str, Labels] = field(default_factory=dict)
    missing: Literal["keep", "impute", "exclude"] = "keep"
    min_level_rows: Count = 10
    max_levels: Count = 50
    preparation: tuple[Remedy, ...] = ()
    types: dict[str, ColumnKind] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    feature_order: tuple[str, ...] = ()
    positive_name: str = ""
    positive_is: Literal["favourable", "unfavourable"] | None = None
    test_rows: Literal["by_seed", "shared"] = "by_seed"
    guessed: bool = False

    def _check(self) -> None:
        if not isinstance(self.positive, Cut) and not self.positive:
            raise ValueError("`positive` is empty; choose at least one value.")
        self._check_negative()
        self._check_uses()
        self._check_subgroup_columns()
        self._check_groups()
        if self.count is not None and (self.sample_weight or self.unit):
            role = self.sample_weight or self.unit
            raise ValueError(
                f"{self.count!r} says how many people a row stands for, so {role!r} "
                "cannot be a weight or a unit beside it; remove one of them."
            )

    def _check_uses(self) -> None:
        """Raise ValueError if a column has two roles that exclude each other."""
        role_of: dict[str, str] = {}
        for role, names in self._uses().items():
            for name in names:
                if name in role_of:
                    raise ValueError(
                        f"{name!r} is {role_of[name]}, so it cannot be {role}; choose "
                        "another column."
                    )
                role_of[name] = role

    def _check_subgroup_columns(self) -> None:
        for name in self.subgroup_columns:
            if name in self.sensitive_columns():
                raise ValueError(
                    f"{name!r} is the sensitive feature; subgroups by it would hold "
                    "one group each."
                )
            if self.subgroup_columns.count(name) > 1:
                raise ValueError(f"`subgroup_columns` names {name!r} more than once.")

    def _uses(self) -> dict[str, tuple[str, ...]]:
        """Return the columns of each role, by its name in an error."""
        return {
            "the outcome": (self.target,),
            "the sensitive feature": self.sensitive_columns(),
            "a score of a model": tuple(score.column for score in self.scores),
            "the sampling weight": _some_column(self.sample_weight),
            "the count of people": _some_column(self.count),
            "the unit": _some_column(self.unit),
            "a feature": self.features,
        }

    def _check_negative(self) -> None:
        if self.negative and isinstance(self.positive, Cut):
            raise ValueError(
                "`negative` names values, and `positive` is a cut, whose other side is "
                "negative. Give values as `positive`, or no `negative`."
            )
        shared = sorted(set(self.negative) & set(self.positive_values()))
        if shared:
            raise ValueError(
                f"{shared} of {self.target!r} count as positive and as negative; "
                "remove them from one of the two."
            )

    def _check_groups(self) -> None:
        if self.sensitive_cuts and self.groups is not None:
            raise ValueError("Give `groups` or `sensitive_cuts`, not both.")
        if list(self.sensitive_cuts) != sorted(set(self.sensitive_cuts)):
            raise ValueError(f"`sensitive_cuts` must rise, got {self.sensitive_cuts}.")
        if self.groups is None:
            return
        if len(self.groups) < 2:
            raise ValueError(
                f"`groups` needs at least two groups, got {list(self.groups)}."
            )
        rests = [name for name, values in self.groups.items() if not values]
        if len(rests) > 1:
            raise ValueError(
                f"`groups` {rests} all stand for the remaining values; only one may."
            )
        values = [value for values in self.groups.values() for value in values]
        twice = sorted({value for value in values if values.count(value) > 1})
        if twice:
            raise ValueError(f"`groups` has {twice} in more than one group.")

    def sensitive_columns(self) -> tuple[str, ...]:
        """Return the columns that make the groups."""
        return (self.sensitive_feature, *self.crossed_with)

    @property
    def noun(self) -> Noun:
        """The word for rows of the table where they are counted."""
        return ROWS if self.count is None else PEOPLE

    def group_column(self) -> str:
        """Return what the groups are values of: a column, or crossed columns."""
        return CROSS.join(self.sensitive_columns())

    def group_prefix(self) -> str:
        """Return the column that stands before a group in "sex: Female".

        Empty for crossed columns: "Female · White" says both values already.
        """
        return "" if self.crossed_with else self.sensitive_feature

    def columns(self) -> tuple[str, ...]:
        """Return every column the roles name, without repeats."""
        named = [name for names in self._uses().values() for name in names]
        filters = [name for part in self.conditions() for name in part.columns()]
        return tuple(dict.fromkeys([*named, *self.subgroup_columns, *filters]))

    def conditions(self) -> tuple[Condition, ...]:
        """Return what rows must meet: those of ``keep``, then ``rows``."""
        listed = [
            Condition(column=column, among=values)
            for column, values in self.keep.items()
        ]
        return (*listed, *self.rows)

    def rows_words(self) -> str:
        """Return which rows are used, in words: "year = 2023 and age ≥ 18"."""
        conditions = self.conditions()
        return conditions_words(conditions) if conditions else "all"

    def positive_values(self) -> tuple[str, ...]:
        """Return the values that count as 1; none of a cut."""
        if isinstance(self.positive, Cut):
            return ()
        if isinstance(self.positive, str):
            return (self.positive,)
        return self.positive

    def negative_words(self) -> str:
        """Return what counts as 0: "action_taken = 3", or "all other values"."""
        if not self.negative:
            return "all other values"
        return f"{self.target} = {value_spans(self.negative)}"

    def outcome(self) -> str:
        """Return what counts as 1: "two_year_recid = 1", "income > 50,000"."""
        if isinstance(self.positive, Cut):
            return f"{self.target} {self.positive}"
        if isinstance(self.positive, str):
            return f"{self.target} = {self.positive}"
        return f"{self.target} = {' or '.join(self.positive)}"

    def spoken_outcome(self) -> str:
        """Return what sentences call 1, in quotes: its typed name, else `outcome`."""
        return self.positive_name or self.outcome()

    def outcome_verb(self) -> str:
        """Return what people with the outcome 1 do: "are approved", "have x = 1"."""
        value = self.positive if isinstance(self.positive, str) else None
        return spoken_outcome(self.target, self.outcome(), value)

    def positive_words(self) -> str:
        """Return the outcome 1 in words: "recidivated: the unfavourable outcome"."""
        name = self.spoken_outcome()
        if self.positive_is is None:
            return name
        return f"{name}: the {self.positive_is} outcome"

    def test_rows_words(self) -> str:
        """Return which test rows the seeds have, in a sentence."""
        if self.test_rows == "shared":
            return "All seeds have the same test rows."
        return (
            "Each seed has test rows of its own, which other seeds have for validation."
        )

    def identity(self) -> dict[str, Any]:
        """Return all that decides rows, outcomes, groups and features, as plain data.

        Fields that came later are excluded at their defaults.
        """
        fields = self.model_dump(mode="json", exclude=_NO_IDENTITY)
        for name in _LATER:
            if getattr(self, name) == default(type(self), name):
                del fields[name]
        if self.preparation:
            fields["preparation"] = [step.identity() for step in self.preparation]
        return fields
