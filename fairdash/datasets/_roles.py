"""What the columns of a table mean."""

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, model_validator

from fairdash._validation import value_label


def _labels(values: Any) -> Any:
    return (
        tuple(map(value_label, values)) if isinstance(values, list | tuple) else values
    )


Label = Annotated[str, BeforeValidator(value_label)]
Labels = Annotated[tuple[str, ...], BeforeValidator(_labels)]


class Roles(BaseModel):
    """What the columns of a table mean: outcome, sensitive feature, features.

    Values are named by their labels: ``1``, ``1.0`` and ``True`` are all ``"1"``.

    Attributes
    ----------
    target : str
        Column of the outcome.
    positive : str
        The value of the outcome that counts as 1; the other value is 0.
    sensitive_feature : str
        Column whose values, or unions of values, are the groups that are compared.
        Never a feature.
    groups : dict of str to tuple of str, optional
        Values of each group, by name. An empty tuple stands for all remaining values;
        rows whose value is in no group are left out. None makes each value a group.
    features : tuple of str
        Columns the models see.
    subgroup_columns : tuple of str
        Columns that describe subgroups; they may be features as well.
    keep : dict of str to tuple of str
        Only rows with these values are used, for example
        ``{"propublica_filter": ("1",)}``.
    missing : {"impute", "exclude"}
        What happens to rows in which a feature is missing. "impute" gives a category a
        level of its own, a number the training median and an indicator column;
        "exclude" leaves the rows out.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    target: str
    positive: Label
    sensitive_feature: str
    groups: dict[str, Labels] | None = None
    features: tuple[str, ...]
    subgroup_columns: tuple[str, ...] = ()
    keep: dict[str, Labels] = {}
    missing: Literal["impute", "exclude"] = "impute"

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.target == self.sensitive_feature:
            message = f"{self.target!r} cannot be outcome and sensitive feature at once"
            raise ValueError(f"{message}; choose two columns.")
        if not self.features:
            raise ValueError("`features` is empty; choose at least one column.")
        for name, role in [
            (self.target, "outcome"),
            (self.sensitive_feature, "sensitive feature"),
        ]:
            if name in self.features:
                message = f"{name!r} is the {role}, so it cannot be a feature"
                raise ValueError(f"{message}; remove it from `features`.")
        if self.sensitive_feature in self.subgroup_columns:
            message = f"{self.sensitive_feature!r} is the sensitive feature"
            raise ValueError(f"{message}; subgroups by it would hold one group each.")
        for role in ("features", "subgroup_columns"):
            names = getattr(self, role)
            twice = sorted({name for name in names if names.count(name) > 1})
            if twice:
                raise ValueError(f"`{role}` names {twice} more than once.")
        self._check_groups()
        return self

    def _check_groups(self) -> None:
        if self.groups is None:
            return
        if len(self.groups) < 2:
            message = f"`groups` needs at least two groups, got {list(self.groups)}."
            raise ValueError(message)
        rests = [name for name, values in self.groups.items() if not values]
        if len(rests) > 1:
            message = f"`groups` {rests} all stand for the remaining values"
            raise ValueError(f"{message}; only one may.")
        values = [value for values in self.groups.values() for value in values]
        twice = sorted({value for value in values if values.count(value) > 1})
        if twice:
            raise ValueError(f"`groups` has {twice} in more than one group.")

    def columns(self) -> tuple[str, ...]:
        """Return every column the roles name, without repeats."""
        return tuple(
            dict.fromkeys(
                (
                    self.target,
                    self.sensitive_feature,
                    *self.features,
                    *self.subgroup_columns,
                    *self.keep,
                )
            )
        )
