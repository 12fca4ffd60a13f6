"""From a specification to trials, and from trials to stacks trained at once."""

import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from itertools import pairwise, product
from math import ceil
from typing import Any

from fairdash._validation import check_one_of
from fairdash.methods import CACHED_ROWS, CATALOG, Device, Param
from fairdash.sweep._cost import work
from fairdash.sweep._spec import MethodGrid, Scalar, SweepSpec

RESULTS_VERSION = 2  # raise it when the same settings train another model than before
MAX_MODELS = {"cpu": 32, "cuda": 1024}  # of a stack, for it is what a crash can lose
USUAL_FEATURES = 32  # when only the order of stacks counts


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


@dataclass(frozen=True)
class Stack:
    """Trials that differ only in parameters a stack of networks can differ in."""

    method: str
    seed: int
    params: dict[str, Scalar]
    trials: tuple[Trial, ...]

    @property
    def key(self) -> str:
        """Identity, from those of the trials."""
        return _hash([trial.key for trial in self.trials])

    @property
    def is_plane(self) -> bool:
        """Whether one training serves all trials, and any other point."""
        return bool(CATALOG[self.method].approximates)

    def plane_key(self, **data: Any) -> str:
        """Return the identity of that training: all of a trial but its point.

        ``data`` is the rest of the question of `trial_key`: data, scaling, train_rows.
        """
        return trial_key(method=self.method, params=self.params, seed=self.seed, **data)

    def work(self, *, n_rows: int, n_features: int) -> float:
        """Return about how many multiply-adds the stack takes: see `work`."""
        one = self.trials[0].params
        n_models = one["n_settings"] if self.is_plane else len(self.trials)
        return float(n_models) * work(one, n_rows=n_rows, n_features=n_features)

    @property
    def points(self) -> list[dict[str, Scalar]]:
        """What is particular to each trial, for ``fit_many``."""
        return [
            {k: value for k, value in trial.params.items() if k not in self.params}
            for trial in self.trials
        ]

    def split(self) -> list["Stack"]:
        """Return one stack for each trial."""
        return plan(self.trials, max_models=1)


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
    return _hash({**question, "version": RESULTS_VERSION})


def plan(
    trials: Iterable[Trial],
    *,
    max_models: int | None = None,
    device: Device = "cpu",
) -> list[Stack]:
    """Put trials together in stacks.

    Parameters
    ----------
    trials : iterable of Trial
    max_models : int, optional
        Most models of a stack. By default as many as suit the device.
    device : {"cpu", "cuda"}, default="cpu"
        On a CPU models times batch rows stay at `fairdash.methods.CACHED_ROWS`: larger
        stacks are slower, and cannot be shared out over workers. A GPU needs large
        ones; ``fit_many`` cuts them into parts that its memory holds.

    Returns
    -------
    list of Stack
        The longest first, so that no worker begins one when the others are done.
        Trials that need several stacks are dealt out evenly.

    Raises
    ------
    ValueError
        When a method is not in the catalog.
    """
    alike: dict[str, list[Trial]] = {}
    for trial in trials:
        check_one_of("method", trial.method, CATALOG)
        same = [trial.method, trial.seed, trial.data_key, _fixed(trial)]
        alike.setdefault(_hash(same), []).append(trial)
    stacks = [
        Stack(
            method=members[0].method,
            seed=members[0].seed,
            params=_fixed(members[0]),
            trials=tuple(part),
        )
        for members in alike.values()
        for part in _deal(members, max_models or _fitting(members[0], device))
    ]
    return sorted(stacks, key=_length, reverse=True)


def _fitting(trial: Trial, device: Device) -> int:
    """Return how many models like this one fit a device together; of a plane all."""
    if CATALOG[trial.method].approximates:
        return sys.maxsize
    cached = CACHED_ROWS // int(trial.params.get("batch_size", 1))
    return (
        MAX_MODELS[device]
        if device == "cuda"
        else max(1, min(MAX_MODELS[device], cached))
    )


def _further(seeds: tuple[int, ...], n: int) -> tuple[int, ...]:
    """Return the seeds after the largest one that make them ``n``."""
    first = max(seeds) + 1
    return tuple(range(first, first + n - len(seeds)))


def _deal(members: list[Trial], most: int) -> Iterator[list[Trial]]:
    """Cut into parts of at most ``most``, none smaller than another by more than 1."""
    n_parts = ceil(len(members) / most)
    ends = [round(part * len(members) / n_parts) for part in range(n_parts + 1)]
    for start, end in pairwise(ends):
        yield members[start:end]


def _length(stack: Stack) -> float:
    return stack.work(n_rows=1, n_features=USUAL_FEATURES)


def _fixed(trial: Trial) -> dict[str, Scalar]:
    stackable = CATALOG[trial.method].stackable()
    return {
        name: value for name, value in trial.params.items() if name not in stackable
    }


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


def _hash(content: Any) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return sha256(text.encode()).hexdigest()[:32]
