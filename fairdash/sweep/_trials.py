"""From a specification to trials: which models to train, and what each is known by."""

import json
from dataclasses import dataclass
from hashlib import sha256
from itertools import product
from math import ceil
from typing import Any

from fairdash._validation import check_one_of
from fairdash.methods import CATALOG, Param
from fairdash.sweep._spec import MethodGrid, Scalar, SweepSpec

RESULTS_VERSION = 2  # raise it when the same settings train another model than before


@dataclass(frozen=True)
class Trial:
    """One model to train: method, all its parameters, seed and data.

    ``key`` is the same for the same question, on every machine and in every run.
    """

    key: str
    method: str
    params: dict[str, Scalar]
    seed: int
    data_key: str


def expand(spec: SweepSpec, dataset_key: str) -> list[Trial]:
    """Return all trials of a specification, each once, seed by seed in its order.

    The specification is one that is `SweepSpec.fitted_to` the data.

    Raises
    ------
    ValueError
        When a method, a parameter or a value is not in the catalog.
    """
    trials: dict[str, Trial] = {}
    seeds = method_seeds(spec)
    every_seed = max(seeds.values(), key=len)
    for seed, grid in product(every_seed, spec.methods):
        for params in _points(grid) if seed in seeds[grid.method] else ():
            key = trial_key(
                method=grid.method,
                params=params,
                seed=seed,
                data=dataset_key,
                scaling=spec.scaling,
                train_rows=spec.train_rows,
            )
            trial = Trial(key, grid.method, params, seed, dataset_key)
            trials.setdefault(key, trial)
    return list(trials.values())


def method_seeds(spec: SweepSpec) -> dict[str, tuple[int, ...]]:
    """Return the seeds of every method: those of the specification, or some more.

    With ``equal_models`` a method that has an axis gets as many further seeds as it
    takes to have at least as many models as any other.

    Raises
    ------
    ValueError
        When a method, a parameter or a value is not in the catalog.
    """
    sizes: dict[str, int] = {}
    for grid in spec.methods:
        sizes[grid.method] = sizes.get(grid.method, 0) + len(_points(grid))
    most = max(sizes.values()) * len(spec.seeds) if spec.equal_models else 0
    return {
        method: spec.seeds + _further(spec.seeds, ceil(most / size) if size > 1 else 0)
        for method, size in sizes.items()
    }


def trial_key(*, train_rows: int | None = None, **question: Any) -> str:
    """Return the identity of a trial: a hash of canonical JSON, never of an object.

    Training on all rows is no part of the question: keys are older than the choice.
    """
    if train_rows is not None:
        question["train_rows"] = train_rows
    return hash_of({**question, "version": RESULTS_VERSION})


def _further(seeds: tuple[int, ...], n: int) -> tuple[int, ...]:
    """Return the seeds after the largest one that make them ``n``."""
    first = max(seeds) + 1
    return tuple(range(first, first + n - len(seeds)))


def _points(grid: MethodGrid) -> list[dict[str, Scalar]]:
    """Return the full parameters at every point of a grid."""
    check_one_of("method", grid.method, CATALOG)
    method = CATALOG[grid.method]
    method.check_names(dict.fromkeys(grid.params, 0))
    known = {param.name: param for param in method.params}
    axes = [
        [_checked(known[name], value) for value in _as_axis(values)]
        for name, values in grid.params.items()
    ]
    return [
        method.settings(dict(zip(grid.params, values, strict=True)), grid.effort)
        for values in product(*axes)
    ]


def _as_axis(values: Scalar | tuple[Scalar, ...]) -> tuple[Scalar, ...]:
    return values if isinstance(values, tuple) else (values,)


def _checked(param: Param, value: Scalar) -> Scalar:
    """Return ``value`` in the parameter's type, so that 1 and 1.0 are one trial."""
    if param.kind == "choice":
        check_one_of(param.name, value, param.options)
        return value
    if param.kind == "text":
        return str(value)
    if isinstance(value, bool | str):
        raise ValueError(f"`{param.name}` must be a number, got {value!r}.")
    if param.kind == "float":
        return float(value)
    if value != int(value):
        raise ValueError(f"`{param.name}` must be a whole number, got {value!r}.")
    return int(value)


def hash_of(content: Any) -> str:
    """Return the hash of canonical JSON."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return sha256(text.encode()).hexdigest()[:32]
