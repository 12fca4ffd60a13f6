"""From a specification to trials, and from trials to stacks trained at once."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from itertools import product
from typing import Any

from fairdash._validation import check_one_of
from fairdash.methods import CATALOG, Param
from fairdash.sweep._spec import MethodGrid, Scalar, SweepSpec

RESULTS_VERSION = 1  # raise it when the same settings train another model than before
MAX_MODELS = 16  # a stack of these fills the cache, and is all a crash can lose


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
    """Return all trials of a specification, each once, in its order.

    Raises
    ------
    ValueError
        When a method, a parameter or a value is not in the catalog.
    """
    trials: dict[str, Trial] = {}
    for seed, grid in product(spec.seeds, spec.methods):
        for params in _points(grid):
            key = trial_key(
                method=grid.method,
                params=params,
                seed=seed,
                data=dataset_key,
                scaling=spec.scaling,
            )
            trial = Trial(key, grid.method, params, seed, dataset_key)
            trials.setdefault(key, trial)
    return list(trials.values())


def trial_key(**question: Any) -> str:
    """Return the identity of a trial: a hash of canonical JSON, never of an object."""
    return _hash({**question, "version": RESULTS_VERSION})


def plan(trials: Iterable[Trial], *, max_models: int = MAX_MODELS) -> list[Stack]:
    """Put trials together in stacks.

    Parameters
    ----------
    trials : iterable of Trial
    max_models : int, default=16
        Most models of a stack. Larger stacks are slower once their activations leave
        the cache, and cannot be shared out over workers.

    Returns
    -------
    list of Stack
        In the order of their first trials.

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
    return [
        Stack(
            method=members[0].method,
            seed=members[0].seed,
            params=_fixed(members[0]),
            trials=tuple(members[start : start + max_models]),
        )
        for members in alike.values()
        for start in range(0, len(members), max_models)
    ]


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
