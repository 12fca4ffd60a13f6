"""The form of what a summary of a sweep holds beside its results, and its check.

It may come from a bundle: sizes, shapes, types and ranges are held against the sweep,
so that nothing that draws it meets what it does not expect. Names of methods, labels
and everything that follows from the results never come from there.
"""

import zlib
from collections.abc import Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from fairdash._metric_names import PARITY, WORST
from fairdash.audits.sweeps import StoredSweep
from fairdash.methods import CATALOG
from fairdash.metrics import weight_spread

VERSION = 2  # of the form: a summary of another one is made anew
MOST_SUBGROUPS = 12
LARGEST = 16 << 20  # bytes of JSON
_N_BINS = len(weight_spread.EDGES) - 1

Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Weight = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Gap = tuple[Share, Share | None, Share | None]  # with the ends of its interval
Ends = tuple[Share | None, Share | None]
# 5, 25, 50, 75 and 95 % of the weights of a cell, None where its rows are few
Quantiles = tuple[Weight, Weight, Weight, Weight, Weight] | None


class _PartSummary(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class WeightsForm(_PartSummary):
    """How weights r of a setting are spread, by group."""

    first_bin: Annotated[int, Field(ge=0)]
    density: list[list[Share]]
    all: list[Quantiles]
    inside: list[list[Quantiles]]

    def fits(self, n_subgroups: int, n_groups: int) -> bool:
        """Return whether it has a number for each group and subgroup, within bins."""
        lengths = {len(group) for group in self.density}
        return (
            len(self.density) == len(self.all) == n_groups
            and len(lengths) == 1
            and 0 < max(lengths) <= _N_BINS - self.first_bin
            and _has_shape(self.inside, n_subgroups, n_groups)
        )


class SettingForm(_PartSummary):
    """The measurements of a setting, by subgroup and group."""

    intervals: dict[Literal["demographic_parity_difference", "worst_1_di"], Ends]
    effective: Share | None
    chance: Share | None
    quiet: dict[Literal["demographic_parity_difference", "worst_1_di"], bool]
    local: list[Gap | None]
    against: list[Annotated[int, Field(ge=0)] | None]
    rates: list[list[Share | None]]
    weights: WeightsForm | None

    def fits(self, n_subgroups: int, n_groups: int) -> bool:
        """Return whether every list has an entry for each subgroup and group."""
        return (
            self.intervals.keys() == self.quiet.keys() == {PARITY, WORST}
            and len(self.local) == len(self.against) == n_subgroups
            and all(group is None or group < n_groups for group in self.against)
            and _has_shape(self.rates, n_subgroups, n_groups)
            and (self.weights is None or self.weights.fits(n_subgroups, n_groups))
        )


class Form(_PartSummary):
    """The measurements of all settings of a sweep, by their places."""

    version: Literal[2]
    subgroups: Annotated[list[str], Field(max_length=MOST_SUBGROUPS)]
    n_subgroups: Annotated[int, Field(ge=0)]
    n_test: Annotated[int, Field(ge=0)]
    settings: list[SettingForm]

    @model_validator(mode="after")
    def _names_differ(self) -> Self:
        if len(set(self.subgroups)) < len(self.subgroups):
            raise ValueError("two subgroups have one name")
        return self

    def fits(self, sweep: StoredSweep) -> bool:
        """Return whether its settings, subgroups and groups can be those of a sweep."""
        dataset = sweep.store.dataset(sweep.run.dataset_id)
        names = dataset.label_subgroups(sweep.subgroups).cat.categories
        methods = sweep.result.means["method"]
        if not set(self.subgroups) <= set(names.astype(str)):
            return False
        if self.n_subgroups > len(names) or self.n_test > dataset.n_rows:
            return False
        if len(self.settings) != len(methods):
            return False
        for setting, method in zip(self.settings, methods, strict=True):
            if not setting.fits(len(self.subgroups), len(dataset.group_names)):
                return False
            if setting.weights is not None and not CATALOG[method].gives_weights:
                return False
        return True


def form_of(content: bytes, sweep: StoredSweep) -> Form | None:
    """Return the form in compressed JSON; None if it is not of that sweep."""
    try:
        form = Form.model_validate_json(_text(content))
    except (ValidationError, zlib.error):
        return None
    return form if form.fits(sweep) else None


def _text(content: bytes) -> bytes:
    """Return the uncompressed bytes, cut where they are longer than any summary."""
    return zlib.decompressobj().decompress(content, LARGEST)


def _has_shape(lists: Sequence[Sequence[Any]], n_rows: int, n_columns: int) -> bool:
    return len(lists) == n_rows and all(len(row) == n_columns for row in lists)
