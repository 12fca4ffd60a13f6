"""A question to a table: groups, decisions, outcomes, and which rows count."""

from typing import Any, Self

import pandas as pd
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    field_serializer,
    field_validator,
    model_validator,
)

from fairdash.datasets import (
    Condition,
    Remedy,
    Subgroups,
    column_kinds,
    read_conditions,
    remedies,
)


class TableQuestion(BaseModel):
    """A question to a table.

    A column of groups is named with all its values or some: "race=White,Black". Neither
    a decision nor a score is needed where a model scores the rows.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    groups: tuple[str, ...] = Field(description="Columns of the groups.")
    decision: str | None = Field(
        default=None, description="Column=value, or values: hired=yes, status=1,2."
    )
    score: str | None = Field(default=None, description="Column of scores, instead.")
    threshold: float | None = None
    outcome: str | None = Field(
        default=None, description="Column=value, or values: repaid=yes."
    )
    unit: str | None = Field(default=None, description="Column of a row's unit.")
    weight: str | None = Field(default=None, description="Column of sampling weights.")
    count: str | None = Field(
        default=None, description="Column of how many people a row stands for."
    )
    subgroups: tuple[str, ...] = Field(
        default=(), description="Columns, crossed; numbers of many values in bins."
    )
    subgroup_widths: dict[str, float] = Field(
        default={}, description="Width of the bins of a number, such as age: 10."
    )
    subgroup_cuts: dict[str, tuple[float, ...]] = Field(
        default={}, description="Lower ends of the bins of a number, but the first."
    )
    measures: tuple[str, ...] = Field(
        default=(), description="Default: all; in a policy those with a limit."
    )
    reference: str | None = Field(default=None, description="Group to compare with.")
    favourable: bool = Field(default=True, description="A positive decision is good.")
    rows: tuple[Condition, ...] = Field(
        default=(),
        description="Conditions that rows must meet to count, or the values that a "
        "column may have, by column.",
    )
    negative: tuple[str, ...] = Field(
        default=(),
        description="Column=values of the decision or the outcome that count as not "
        "positive; rows with other values do not count. Without it all but the "
        "positive ones do: action_taken=3.",
    )
    preparation: tuple[Remedy, ...] = Field(
        default=(), description="Changes of the table before anything else."
    )
    types: dict[str, column_kinds.ColumnKind] = Field(
        default={}, description="Columns read as another kind than the file has."
    )

    @field_validator("rows", mode="before")
    @classmethod
    def _read_rows(cls, content: Any) -> Any:
        return read_conditions(content)

    @field_serializer("rows", "preparation")
    def _write_records(self, records: tuple[Any, ...]) -> list[dict[str, Any]]:
        return [r.model_dump(mode="json", exclude_defaults=True) for r in records]

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if len(set(self.groups)) < len(self.groups):
            raise ValueError("A column of `--group` is named twice; name each once.")
        if self.decision is not None and self.score is not None:
            raise ValueError("Give one of `--decision` and `--score`.")
        if self.count is not None and (self.weight or self.unit):
            raise ValueError(
                "`--count` says how many people a row stands for; give no `--weight` "
                "and no `--unit` beside it."
            )
        for name in (*self.subgroup_widths, *self.subgroup_cuts):
            if name not in self.subgroups:
                raise ValueError(
                    f"{name!r} has bins but makes no subgroups; add it to `subgroups`."
                )
        return self

    @property
    def inside(self) -> Subgroups | None:
        """The subgroups that are looked at; None without columns."""
        if not self.subgroups:
            return None
        return Subgroups(
            columns=self.subgroups,
            widths=self.subgroup_widths,
            cuts=self.subgroup_cuts,
        )

    def prepared(self, frame: pd.DataFrame) -> tuple[pd.DataFrame, Self]:
        """Return a table as it is prepared, and the question without the steps."""
        table = remedies.apply_steps(frame, self.preparation, self.types)
        return table, self.model_copy(update={"preparation": (), "types": {}})

    @property
    def decided(self) -> str:
        """A positive decision, as sentences name it."""
        if self.decision:
            return f"decided {self.decision}"
        return f"predicted {self.outcome or 'positive'}"
