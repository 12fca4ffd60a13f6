"""A policy: what is asked of a table, and the limits that its numbers must keep."""

from collections.abc import Sequence
from typing import Any, Literal, Self

import pandas as pd
import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from fairdash._counts import RowCounts
from fairdash._metric_names import OPPORTUNITY, PARITY, WORST
from fairdash._parsing import check_entries, parsed
from fairdash._validation import check_one_of, explain_invalid
from fairdash.analysis import JUDGES, Bound, Judge
from fairdash.audits.tables.question import TableQuestion
from fairdash.datasets import (
    Condition,
    Cut,
    Remedy,
    Roles,
    Subgroups,
    quantile_cuts,
)
from fairdash.metrics import MEASURES, catalog, views

EVERY = "every"  # subgroup
_CERTIFIED = {
    ("selection_rate", None): PARITY,
    ("true_positive_rate", None): OPPORTUNITY,
    ("false_positive_rate", None): "false_positive_rate_difference",
    ("selection_rate", EVERY): WORST,
}
_LARGEST_RATIO = 10.0  # a larger one is a percentage
_JUDGED = {True: "sure_keep", False: "sure_break"}  # by the earlier `must_be_sure`
_JUDGE_WORDS = (
    "sure_keep: a limit passes only if the whole interval keeps it, and fails only if "
    "the whole interval is beyond it; in between it is undecided. estimate: the "
    "estimate alone decides, as in the four-fifths rule. sure_break: a limit fails "
    "only if the whole interval is beyond it; if only the estimate is, it is not "
    "surely broken."
)


def _with_judge(content: Any) -> Any:
    """Return fields in which the earlier `must_be_sure` is a `judge`."""
    if not isinstance(content, dict) or "must_be_sure" not in content:
        return content
    fields = dict(content)
    sure = fields.pop("must_be_sure")
    if sure is None:  # of stored limits that followed the policy
        return fields
    if fields.get("judge") is not None or not isinstance(sure, bool):
        raise ValueError(
            "write `judge` in place of `must_be_sure`: sure_keep for true, sure_break "
            f"for false; {' or '.join(JUDGES)}"
        )
    return fields | {"judge": _JUDGED[sure]}


class Limit(BaseModel):
    """One line of a policy; without a feature or a group it is of each."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    measure: str = Field(description="Such as selection_rate, see `fairdash audit`.")
    of: Literal["gap", "ratio", "value"] = Field(
        "gap",
        description="The gap to the group that is best off, its ratio to that group, "
        "or the measure itself.",
    )
    at_most: float | None = Field(
        None, allow_inf_nan=False, description="A share: 0.1 is 10 points."
    )
    at_least: float | None = Field(
        None, allow_inf_nan=False, description="Four fifths of a ratio are 0.8."
    )
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
    judge: Judge | None = Field(None, description="Default: the policy's.")
    name: str = ""

    @model_validator(mode="before")
    @classmethod
    def _read_earlier(cls, content: Any) -> Any:
        return _with_judge(content)

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
        self._check_bound()
        return self

    def _check_bound(self) -> None:
        """Refuse a limit that no estimate can reach, such as 80 for 80 %."""
        name = "at_least" if self.at_most is None else "at_most"
        value, (low, high) = self.bound.value, self._range()
        if low <= value <= high:
            return
        raise ValueError(
            f"`{name}` of a {self.short} is from {low:g} to {high:g}, got {value:g}; "
            "write shares, not percentages: 0.8 for 80 %, 0.1 for 10 points"
        )

    def _range(self) -> tuple[float, float]:
        """Return the least and the largest bound that makes sense."""
        if self.of == "ratio":
            return 0.0, 1.0 if self.at_most is None else _LARGEST_RATIO
        if catalog.error_costs(self.measure):
            least, most = 0.0, 2.0  # costs are scaled to a mean of 1
        else:
            least, most = catalog.measure_of(self.measure).limits
        return (0.0, most - least) if self.of == "gap" else (least, most)

    @property
    def bound(self) -> Bound:
        """The end of the limit."""
        if self.at_most is not None:
            return Bound(self.at_most, upper=True)
        assert self.at_least is not None, "a limit has one end"
        return Bound(self.at_least, upper=False)

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
        position = "".join(f", {part}" for part in (self.feature, self.group) if part)
        inside = f", inside {self.subgroup}" if self.subgroup else ""
        return f"{self.short} {end}{position}{inside}"


class Policy(TableQuestion):
    """A policy, as `fairdash check --policy` reads it."""

    groups: tuple[str, ...] = Field(min_length=1, description="Columns of the groups.")
    confidence: float = Field(0.95, gt=0, lt=1)
    min_rows: int = Field(50, ge=1, description="With fewer a limit is undecided.")
    judge: Judge = Field("sure_keep", description=_JUDGE_WORDS)
    when_undecided: Literal["undecided", "fail"] = "undecided"
    limits: list[Limit] = Field(min_length=1)

    @model_validator(mode="before")
    @classmethod
    def _read_content(cls, content: Any) -> Any:
        if isinstance(content, dict):
            for name in ("limits", "groups", "subgroups", "measures"):
                check_entries(name, content.get(name))
        return _with_judge(content)

    def judge_of(self, limit: Limit) -> Judge:
        """Return how a limit is judged."""
        return limit.judge or self.judge

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
        """The question to the table: every measure that has a limit, and others."""
        fields = {name: getattr(self, name) for name in TableQuestion.model_fields}
        limited = [limit.measure for limit in self.limits]
        fields["measures"] = tuple(dict.fromkeys([*limited, *self.measures]))
        return TableQuestion(**fields)


def first_policy(roles: Roles, frame: pd.DataFrame, subgroups: Subgroups) -> str:
    """Return a policy to begin with, as YAML: on the outcomes that a table records.

    The gap of their share is at most 10 points, over all rows and inside subgroups, and
    the ratio at least four fifths. Subgroups are those that other pages look at, with
    bins of quantiles fixed at the cuts that this table gives.
    """
    rate = {"measure": "selection_rate"}
    limits: list[dict[str, Any]] = [
        {**rate, "of": "gap", "at_most": 0.1},
        {**rate, "of": "ratio", "at_least": 0.8},
    ]
    positive = roles.positive
    outcomes = frame[roles.target]
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
        "judge": "sure_keep",
    }
    policy |= _recipe_of(roles)
    sampling = {
        "unit": roles.unit,
        "weight": roles.sample_weight,
        "count": roles.count,
    }
    policy |= {name: column for name, column in sampling.items() if column is not None}
    inside = [name for name in subgroups.columns if name in frame]
    if inside:
        policy["subgroups"] = inside
        policy |= _bins(subgroups, frame, inside, roles.count)
        limits.append({**limits[0], "subgroup": EVERY})
    return str(yaml.safe_dump(policy | {"limits": limits}, sort_keys=False))


def _bins(
    subgroups: Subgroups, frame: pd.DataFrame, columns: list[str], counted: str | None
) -> dict[str, Any]:
    """Return the fields of a policy for the bins that are chosen, not usual."""
    widths = {name: w for name, w in subgroups.widths.items() if name in columns}
    cuts = {name: list(c) for name, c in subgroups.cuts.items() if name in columns}
    people = None if counted is None else RowCounts.of(counted, frame[counted].array)
    for name, n_bins in subgroups.quantiles.items():
        if name not in columns:
            continue
        points = quantile_cuts(frame[name], n_bins, people)
        if points:
            cuts[name] = list(points)
    fields = {"subgroup_widths": widths, "subgroup_cuts": cuts}
    return {name: bins for name, bins in fields.items() if bins}


def _recipe_of(roles: Roles) -> dict[str, Any]:
    """Return how roles prepare a table, as fields of a policy; no field is empty."""
    negative = ", ".join(roles.negative)
    recipe = {
        "negative": [f"{roles.target}={negative}"] if negative else [],
        "rows": _dumped(roles.conditions()),
        "preparation": _dumped(roles.preparation),
        "types": dict(roles.types),
    }
    return {name: part for name, part in recipe.items() if part}


def _dumped(records: Sequence[Condition | Remedy]) -> list[dict[str, Any]]:
    return [r.model_dump(mode="json", exclude_defaults=True) for r in records]
