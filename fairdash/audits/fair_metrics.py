"""Which fair metric models are asked about."""

from typing import Any, Self

from pydantic import BaseModel, ConfigDict

from fairdash.audits.audited_model import AuditRows
from fairdash.metrics import FairMetric, group_directions, ignore_columns
from fairdash.store import TrialRecord


class FairMetricSpec(BaseModel):
    """The sensitive directions of a fair metric: people may differ along them for free.

    Attributes
    ----------
    columns : tuple of str
        Features whose values do not count; also those that are flipped.
    predicts_group : bool
        Whether the direction that predicts the group does not count either.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    columns: tuple[str, ...] = ()
    predicts_group: bool = True

    @classmethod
    def of_trial(cls, trial: TrialRecord, features: tuple[str, ...] = ()) -> Self:
        """Return the metric a model was trained with; of others the usual one.

        Columns that are not among ``features`` are excluded.
        """
        kind = trial.params.get("metric", "group_direction")
        named = str(trial.params.get("columns", "")).split(",")
        columns = tuple(c for c in map(str.strip, named) if c in features)
        if kind == "group_direction" or not columns:
            return cls()
        return cls(columns=columns, predicts_group=kind == "both")

    @classmethod
    def parse(cls, text: str | None, features: tuple[str, ...]) -> Self | None:
        """Return the metric that `text` wrote; None for anything else."""
        try:
            found = cls.model_validate_json(text or "")
        except ValueError:
            return None
        return found if set(found.columns) <= set(features) else None

    def text(self) -> str:
        """Return the metric as text, for an address or a cache."""
        return self.model_dump_json(exclude_defaults=True)

    def changed(self, **fields: Any) -> Self:
        """Return the metric with some fields changed."""
        return self.model_copy(update=fields)

    def build(self, rows: AuditRows) -> FairMetric:
        """Return the metric, learned on the training rows where it predicts the group.

        Raises ValueError when nothing was chosen, or a column is not a feature of the
        models.
        """
        names = rows.encoder.feature_names
        if self.predicts_group:
            return group_directions(
                rows.train, rows.train_groups, names, columns=self.columns
            )
        if self.columns:
            return ignore_columns(self.columns, names)
        raise ValueError(
            "There is no sensitive direction. Choose columns that should not count."
        )
