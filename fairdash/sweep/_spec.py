"""Specification of a sweep: readable, checkable, and the same everywhere."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import numpy as np
import yaml
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from fairdash import datasets
from fairdash._parsing import check_entries, parsed
from fairdash._validation import (
    brief,
    check_one_of,
    check_whole,
    explain_invalid,
)
from fairdash._wording import plural
from fairdash.methods import CATALOG, Effort, Param

BASELINE = "unconstrained"
WEIGHT = "fairness_weight"
TAU = "tau"
Scalar = int | float | str
RowCount = Annotated[int, Field(ge=1, le=10**12, strict=True)]
# Fields of earlier versions: their configurations still open.
IGNORED = ("equal_models", "initialisations", "cross_validate")
MOST_VALUES = 1000  # of an axis
MOST_SEEDS = 1000
MOST_SEED = 2**32 - 1  # the largest that random number generators take
SPACINGS: dict[str, Any] = {"linear": np.linspace, "log": np.geomspace}


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class DataSource(_Frozen):
    """A table, by exactly one of four names, and what its columns mean.

    Attributes
    ----------
    sample : str, optional
        Name of a sample that comes with the package; it has roles of its own.
    sha256 : str, optional
        Digest of the sample's file when results were made of it; another is refused.
    table : str, optional
        `fairdash.datasets.reading.table_digest` of a file: one uploaded to the store,
        or one given beside the configuration (``fairdash run --table``).
    table_format : TableFormat, optional
        How that file was read.
    path : str, optional
        Path of a file, or address of Parquet files: see
        `fairdash.datasets.sources.write_source`.
    source : str, optional
        Name of a source that the operator lists for everybody, such as a database.
    sample_rows : int, optional
        If a path has more rows, so many are drawn, in proportion to outcome and group.
    roles : Roles
        Meaning of the columns.
    """

    sample: str | None = None
    sha256: str | None = None
    table: str | None = None
    path: str | None = None
    source: str | None = None
    table_format: datasets.reading.TableFormat | None = None
    sample_rows: RowCount | None = None
    roles: datasets.Roles
    name: str

    @model_validator(mode="before")
    @classmethod
    def _complete(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        """Check the four names, and add a name and roles where they are not given."""
        kinds = ("sample", "table", "path", "source")
        names = [data[kind] for kind in kinds if data.get(kind)]
        if len(names) != 1:
            raise ValueError("give exactly one of `sample`, `table`, `path`, `source`")
        (name,) = names
        if not isinstance(name, str):
            raise ValueError(f"name a sample, table, path or source, got {brief(name)}")
        if data.get("sample_rows") is not None and not data.get("path"):
            raise ValueError("`sample_rows` draws from a `path`; remove it")
        defaults: dict[str, Any] = {"name": Path(name).stem}
        if data.get("path") and datasets.sources.is_address(name):
            defaults = {"name": datasets.sources.shown(name)}
        if data.get("source"):
            defaults = {"name": name}
        if data.get("sample"):
            if name not in datasets.SAMPLES:
                message = f"`sample` must be one of {sorted(datasets.SAMPLES)}"
                raise ValueError(f"{message}, got {brief(name)}")
            sample = datasets.SAMPLES[name]
            defaults = {"name": sample.title, "roles": sample.roles}
        given_values = {key: value for key, value in data.items() if value is not None}
        return defaults | given_values

    @model_validator(mode="after")
    def _can_be_read(self) -> "DataSource":
        if self.table_format is not None:
            datasets.reading.reader_named(self.table_format.kind)
        return self

    def sample_file(self) -> Path:
        """Return the file of the sample.

        Raises ValueError when it is not the one of ``sha256``: another version of the
        package has other rows.
        """
        path = _sample_path(str(self.sample))
        if self.sha256 not in (None, datasets.reading.table_digest(path)):
            raise ValueError(
                f"The sample {self.sample!r} has changed since this was written: its "
                f"sha256 is no longer {str(self.sha256)[:12]}…. Remove `sha256` to "
                "train on the rows of today, or name the file of the earlier version "
                "by `path` in place of `sample`."
            )
        return path


def _sample_path(name: str) -> Path:
    return datasets.SAMPLES[name].path


class MethodGrid(_Frozen):
    """A method with some of its parameters set; a list of values is a grid axis.

    Attributes
    ----------
    params : dict
        A value, or the list of values to try, by name. A list may also be given as
        ``{linear: [0, 5, 20]}`` or ``{log: [0.1, 10, 5]}``: first, last and number of
        values.
        The other parameters are at the method's defaults for ``effort``.
    effort : {"fast", "paper"}
        Length of training: quick, or as in the method's paper.
    """

    method: str
    params: dict[str, Scalar | tuple[Scalar, ...]] = {}
    effort: Effort = "fast"

    @field_validator("params", mode="before")
    @classmethod
    def _spell_out(cls, params: Any, info: ValidationInfo) -> Any:
        if not isinstance(params, dict):
            return params
        if "method" not in info.data:
            return params
        check_one_of("method", info.data["method"], CATALOG)
        method = CATALOG[info.data["method"]]
        method.check_names(params)
        declared = {param.name: param for param in method.params}
        axes = {name: _spelled(declared[name], axis) for name, axis in params.items()}
        for name, values in axes.items():
            for value in as_axis(values):
                declared[name].read(value)
        return axes


def as_axis(values: Any) -> Sequence[Any]:
    """Return the values to try of a parameter, of which one may be given as such."""
    return values if isinstance(values, tuple | list) else (values,)


def _spelled(declared: Param, axis: Any) -> Any:
    """Return the values of an axis given as first, last and number of values."""
    if not isinstance(axis, dict):
        return axis
    name = declared.name
    if len(axis) != 1 or not axis.keys() <= SPACINGS.keys():
        message = f"`{name}` is a value, a list, or one of {sorted(SPACINGS)}"
        raise ValueError(f"{message}: [first, last, number], got {brief(axis)}")
    ((spacing, ends),) = axis.items()
    match ends:
        case [int() | float() as first, int() | float() as last, int() as number]:
            pass
        case _:
            message = f"`{name}` needs `{spacing}: [first, last, number]`"
            raise ValueError(f"{message}, got {brief(ends)}")
    if not 1 <= number <= MOST_VALUES:
        message = f"`{name}` can have 1 to {MOST_VALUES} values, got {brief(number)}"
        raise ValueError(message)
    if spacing == "log" and min(first, last) <= 0:
        raise ValueError(f"`{name}` is logarithmic, so its ends must be > 0")
    for end in (first, last):
        declared.read(end)
    values = SPACINGS[spacing](first, last, number)
    # Rounded, so that keys of trials do not depend on the last bit of a logarithm.
    return tuple(float(f"{value:.6g}") for value in values)


def _described(data: dict[str, Any]) -> datasets.Subgroups:
    source: DataSource = data["data"]
    if source.sample:
        return datasets.SAMPLES[source.sample].subgroups
    return datasets.Subgroups(columns=source.roles.subgroup_columns)


def unsupported_methods(spec: Mapping[str, Any]) -> list[str]:
    """Return the methods of a stored specification that this version does not have.

    Their models stay on disk and their runs are listed, but cannot be opened; the other
    models of such a run are found again by a sweep over the same settings.
    """
    methods = [str(grid.get("method", "")) for grid in spec.get("methods", ())]
    return list(dict.fromkeys(name for name in methods if name not in CATALOG))


class SweepSpec(_Frozen):
    """A data set, methods with grids, seeds: everything that decides the results.

    Attributes
    ----------
    methods : tuple of MethodGrid
    seeds : tuple of int
        Each splits the rows anew and starts training anew.
    subgroups : Subgroups
        For the local metrics; they have no part in training. By default those of the
        sample, or the subgroup columns of the roles.
    di_limit : float
        The front is drawn among models whose DI is at most this.
    train_rows : int, optional
        Most rows to train on, for large data: `fairdash.datasets.subsample` of the
        training rows of each seed. Features are encoded as by all training rows, and
        every metric is over all validation or test rows.
    """

    data: DataSource
    methods: tuple[MethodGrid, ...] = Field(min_length=1)
    seeds: tuple[int, ...] = Field(default=(0,), min_length=1)
    subgroups: datasets.Subgroups = Field(default_factory=_described)
    scaling: Literal["standard", "minmax"] = "standard"
    di_limit: float = Field(default=0.05, ge=0.0, le=1.0)
    train_rows: RowCount | None = None

    @model_validator(mode="before")
    @classmethod
    def _ignore_removed(cls, content: Any) -> Any:
        if not isinstance(content, dict):
            return content
        check_entries("methods", content.get("methods"))
        return {key: value for key, value in content.items() if key not in IGNORED}

    @field_validator("seeds", mode="before")
    @classmethod
    def _check_seeds(cls, value: Any) -> Any:
        seeds = as_axis(value)
        if len(seeds) > MOST_SEEDS:
            message = f"`seeds` can have 1 to {MOST_SEEDS} values"
            raise ValueError(f"{message}, got {len(seeds):,}")
        for seed in seeds:
            check_whole("seeds", seed, at_least=0, at_most=MOST_SEED)
        return value

    @classmethod
    def from_yaml(cls, source: str | Path) -> Self:
        """Read a specification from YAML text, or from the file at a Path.

        A relative ``path`` of the data is taken from the folder of the file.

        Raises ValueError with one line that says which entry is wrong and why.
        """
        if isinstance(source, Path):
            return cls.of_content(parsed(source.read_bytes(), "YAML"), source.parent)
        return cls.of_content(parsed(source, "YAML"))

    @classmethod
    def of_content(cls, content: Any, folder: Path | None = None) -> Self:
        """Return the specification that plain data describe, as `from_yaml` does.

        A relative ``path`` of the data is taken from ``folder``, if there is one. The
        address of a database is refused before it is opened.
        """
        if not isinstance(content, dict):
            raise ValueError("A sweep is a YAML mapping with `data` and `methods`.")
        if folder is not None and isinstance(content.get("data"), dict):
            path = content["data"].get("path")
            if isinstance(path, str) and "://" not in path:
                content["data"]["path"] = str(folder / path)
        try:
            spec = cls.model_validate(content)
        except ValidationError as error:
            raise ValueError(explain_invalid(error)) from error
        if spec.data.path is not None:
            datasets.sources.check_configured(spec.data.path)
        return spec

    @classmethod
    def of_run(cls, stored: Mapping[str, Any]) -> Self:
        """Return the specification of a stored run, of what this version can train.

        Methods that only earlier versions had are dropped, see `unsupported_methods`,
        and values that they did not refuse; a ValueError when nothing is left.
        """
        gone = unsupported_methods(stored)
        supported = [grid for grid in stored["methods"] if grid["method"] not in gone]
        grids = [grid for grid in map(_trainable, supported) if grid is not None]
        if not grids and supported:
            raise ValueError("No setting of this run is one that can be trained.")
        if not grids:
            raise ValueError(f"{', '.join(gone)}: no longer supported; sweep a grid.")
        return cls.model_validate({**stored, "methods": grids})

    def fitted_to(self, dataset: datasets.Dataset) -> Self:
        """Return it without ``train_rows`` where the data have no more training rows.

        So the same models have the same keys, however they were asked for.

        Raises ValueError when it is too small for a row of each outcome in each group,
        when the data have no features or too few rows, or when they have sampling
        weights, which a method does not take.
        """
        dataset.check_features()
        if not dataset.has_enough_rows:
            raise ValueError(
                f"{dataset.name!r} has {plural(dataset.n_rows, 'row')}, too few to "
                "train on. Training, validation and test rows each need two groups, "
                "training rows both outcomes. Add rows, five or more of each group."
            )
        weight = dataset.roles.sample_weight or dataset.roles.count
        for method in (CATALOG[grid.method] for grid in self.methods):
            if weight is not None and method.no_weights:
                raise ValueError(
                    f"{method.label} cannot count rows by the column "
                    f"{weight!r}: {method.no_weights}. Leave out the method or the "
                    "weight."
                )
        if self.train_rows is None:
            return self
        least = 2 * len(dataset.group_names)
        if self.train_rows < least:
            message = f"`train_rows` must be at least {least}, so that each outcome in"
            raise ValueError(f"{message} each group has a row, got {self.train_rows}.")
        if self.train_rows < len(datasets.split(dataset, self.seeds[0]).train):
            return self
        return self.model_copy(update={"train_rows": None})

    def of_table(
        self, digest: str, table_format: datasets.reading.TableFormat | None
    ) -> Self:
        """Return it with its table named by digest and format, to be followed anywhere.

        A sample comes with the package, and stays one while its file is of the digest.
        Rows of an earlier version's sample are a table like any other.
        """
        changes: dict[str, Any] = {"sha256": digest}
        sample = self.data.sample
        if not sample or datasets.reading.table_digest(_sample_path(sample)) != digest:
            changes = dict.fromkeys(
                ("sample", "sha256", "path", "source", "sample_rows")
            )
            changes |= {"table": digest, "table_format": table_format}
        return self.model_copy(update={"data": self.data.model_copy(update=changes)})

    def to_yaml(self) -> str:
        """Return the specification as YAML that `from_yaml` reads back equal."""
        content = self.model_dump(mode="json", exclude_none=True)
        return yaml.safe_dump(content, sort_keys=False, allow_unicode=True)


def _trainable(grid: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return a stored grid without the values that are refused today.

    None where a parameter has no other value.
    """
    method = CATALOG[grid["method"]]
    params = dict(grid.get("params", {}))
    for name, value in method.former.items():
        if value not in as_axis(params.pop(name, value)):
            return None
    for param in method.params:
        values = as_axis(params.get(param.name, ()))
        fitting = [value for value in values if param.fits(value)]
        if len(fitting) < len(values):
            params[param.name] = fitting
            if not fitting:
                return None
    return {**grid, "params": params}


def model_label(method: str, params: Mapping[str, Any]) -> str:
    """Return a method with what sets its models apart.

    That is the base model and each parameter with a letter, where they count:
    "ROAD λ 2.1 τ 0.3", "Reductions (LightGBM) ε 0.01".
    """
    entry = CATALOG[method]
    words = [(param, param.words(params)) for param in entry.params]
    named = [f"({text})" for param, text in words if param.named and text]
    letters = [text for param, text in words if not param.named and text]
    return " ".join([entry.label, *named, *letters])
