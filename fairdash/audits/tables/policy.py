"""A policy: what is asked of a table, and the limits that its numbers must keep."""

from typing import Any, Literal, Self

import pandas as pd
import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from fairdash._parsing import check_entries, parsed
from fairdash._validation import check_one_of, explain_invalid
from fairdash.audits.tables.counting import TableQuestion
from fairdash.datasets import Cut, Roles
from fairdash.metrics import MEASURES, catalog, views

EVERY = "every"  # subgroup
_CERTIFIED = {
    ("selection_rate", None): "demographic_parity_difference",
    ("true_positive_rate", None): "equal_opportunity_difference",
    ("false_positive_rate", None): "false_positive_rate_difference",
    ("selection_rate", EVERY): "worst_1_di",
}
_FEW_VALUES = 8  # of a column whose values are subgroups as they are


class Limit(BaseModel):
    """One line of a policy; without a feature or a group it is of each."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    measure: str = Field(description="Such as selection_rate, see `fairdash audit`.")
    of: Literal["gap", "ratio", "value"] = Field(
        "gap",
        description="The gap to the group that is best off, its ratio to that group, "
        "or the measure itself.",
    )
    at_most: float | None = None
    at_least: float | None = None
    feature: str | None = Field(
        None, description='A column of groups, or several crossed: "sex × race".'
    )
    group: str | None = None
    subgroup: str | None = Field(
        None,
        description='Name of a subgroup, or "every"; without it the limit is on all '
        "rows. Inside subgroups there are gaps only.",
    )
    min_rows: int | None = Field(None, ge=1, description="Default: the policy's.")
    must_be_sure: bool | None = Field(None, description="Default: the policy's.")
    name: str = ""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if (self.at_most is None) == (self.at_least is None):
            raise ValueError("give one of at_most and at_least")
        if not catalog.error_costs(self.measure):
            check_one_of("measure", self.measure, MEASURES)
        if self.subgroup is not None and self.of != "gap":
            raise ValueError("inside subgroups there are gaps only: of: gap")
        if self.subgroup is not None and self.group is not None:
            raise ValueError("the gap inside a subgroup is of no one group")
        return self

    @property
    def estimate(self) -> str:
        """The measure as estimates name it."""
        if self.of == "value":
            return self.measure
        name = views.gap_of if self.of == "gap" else views.ratio_of_measure
        return name(self.measure)

    @property
    def short(self) -> str:
        """The estimate in words, such as "selection rate gap"."""
        return self.estimate.replace("_", " ")

    @property
    def words(self) -> str:
        """The limit in words, or the name that it was given."""
        if self.name:
            return self.name
        if self.at_most is not None:
            end = f"at most {self.at_most:g}"
        else:
            end = f"at least {self.at_least:g}"
        where = "".join(f", {part}" for part in (self.feature, self.group) if part)
        inside = f", inside {self.subgroup}" if self.subgroup else ""
        return f"{self.short} {end}{where}{inside}"


class Policy(TableQuestion):
    """What `fairdash check --policy` reads."""

    groups: tuple[str, ...] = Field(min_length=1, description="Columns of the groups.")
    confidence: float = Field(0.95, gt=0, lt=1)
    min_rows: int = Field(50, ge=1, description="With fewer a limit is undecided.")
    must_be_sure: bool = Field(
        True,
        description="A limit passes only if the whole interval keeps it. Without, it "
        "fails only if the whole interval breaks it.",
    )
    when_undecided: Literal["undecided", "fail"] = "undecided"
    limits: list[Limit] = Field(min_length=1)

    @model_validator(mode="before")
    @classmethod
    def _short(cls, content: Any) -> Any:
        if isinstance(content, dict):
            for name in ("limits", "groups", "subgroups", "measures"):
                check_entries(name, content.get(name))
        return content

    @classmethod
    def parse(cls, text: bytes, name: str) -> Self:
        """Return the policy of YAML text; ValueError names ``name``."""
        try:
            return cls.model_validate(parsed(text, "YAML"))
        except ValidationError as error:
            raise ValueError(f"{name}: {explain_invalid(error)}") from error
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from error

    def certifiable(self) -> dict[str, float]:
        """Return the limits as `fairdash.choose_certified` takes them.

        Raises ValueError for a limit that it cannot test: it tests gaps of all groups,
        over all rows or in every subgroup.
        """
        limits: dict[str, float] = {}
        for limit in self.limits:
            name = _CERTIFIED.get((limit.measure, limit.subgroup))
            narrower = limit.feature is not None or limit.group is not None
            if name is None or limit.of != "gap" or limit.at_most is None or narrower:
                raise ValueError(
                    f"The limit {limit.words!r} cannot be certified. Only gaps of all "
                    "groups can: in selection, true or false positive rates, and in "
                    f"selection rates in {EVERY!r} subgroup."
                )
            limits[name] = min(limit.at_most, limits.get(name, limit.at_most))
        return limits

    @property
    def question(self) -> TableQuestion:
        """What the table is asked: of every measure that has a limit, and others."""
        fields = {name: getattr(self, name) for name in TableQuestion.model_fields}
        limited = [limit.measure for limit in self.limits]
        fields["measures"] = tuple(dict.fromkeys([*limited, *self.measures]))
        return TableQuestion(**fields)


def first_policy(roles: Roles, frame: pd.DataFrame) -> str:
    """Return a policy to begin with, as YAML: on the outcomes that a table records.

    The gap of their share is at most 10 points, over all rows and inside subgroups, and
    the ratio at least four fifths. Subgroups are those of columns with few values.
    """
    rate = {"measure": "selection_rate"}
    limits: list[dict[str, Any]] = [
        {**rate, "of": "gap", "at_most": 0.1},
        {**rate, "of": "ratio", "at_least": 0.8},
    ]
    positive, outcomes = roles.positive, frame[roles.target]
    if isinstance(positive, Cut) and positive.sign.startswith(">"):
        lowest = float(outcomes[positive.holds(outcomes)].min())
        decided: dict[str, Any] = {"score": roles.target, "threshold": lowest}
    else:
        value = ", ".join(positive) if isinstance(positive, tuple) else positive
        decided = {"decision": f"{roles.target}={value}"}
    policy = decided | {
        "favourable": roles.positive_is != "unfavourable",
        "groups": [roles.sensitive_feature, *roles.crossed_with],
        "min_rows": 50,
        "must_be_sure": True,
    }
    if roles.unit is not None:
        policy["unit"] = roles.unit
    inside = [c for c in roles.subgroup_columns if frame[c].nunique() <= _FEW_VALUES]
    if inside:
        policy["subgroups"] = inside
        limits.append({**limits[0], "subgroup": EVERY})
    return str(yaml.safe_dump(policy | {"limits": limits}, sort_keys=False))
