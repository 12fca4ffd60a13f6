"""From a specification to trials, each known by a key, and to stacks of them."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from itertools import pairwise, product
from math import ceil, prod
from typing import Any

from fairdash._validation import check_one_of
from fairdash.methods import CACHED_ROWS, CATALOG
from fairdash.sweep._spec import BASELINE, MethodGrid, Scalar, SweepSpec, as_axis

RESULTS_VERSION = 3  # raise it when the same settings train another model than before
ENCODED_ALIKE = (2, 3)  # versions whose features were split and encoded as now
MOST_SETTINGS = 10_000  # of a grid: days of training, and a page must list them
MOST_TRIALS = 100_000  # of a sweep, over its seeds
MAX_MODELS = 32  # of a stack, for it is what a crash can lose
USUAL_ROWS = 10_000  # these two where only an order of stacks counts
USUAL_FEATURES = 32
PREDICTOR = (64, 32, 1)
ADVERSARY = (1, 64, 32, 16, 1)
# In the parameters of trials of earlier versions: a further start on the same split.
INITIALISATION = "initialisation"
FOLD = "fold"  # likewise: a further fold of the split
LEAST_STEP = 8e6  # multiply-adds in the time that even the smallest step takes
CURVED = 6  # times a step of the adversary, where its curvature is taken too
EXACT_PASSES = 50_000  # over the rows, of a method that has no epochs: its order


@dataclass(frozen=True)
class Trial:
    """One model to train: method, all its parameters, seed of the split, and data.

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
        When a method, a parameter or a value is not in the catalog, a grid has more
        than 10,000 settings, or all together more than 100,000 models.
    """
    # By key: two grids may ask for the same model.
    trials: dict[str, Trial] = {}
    roles = spec.data.roles
    weighted = roles.sample_weight is not None or roles.count is not None
    points: list[tuple[str, dict[str, Scalar]]] = []
    for grid in spec.methods:
        points += [(grid.method, point) for point in _points(grid)]
    for seed in spec.seeds:
        for method, params in points:
            key = trial_key(
                method=method,
                params=params,
                seed=seed,
                data=dataset_key,
                scaling=spec.scaling,
                train_rows=spec.train_rows,
                weighted=weighted,
            )
            trial = Trial(key, method, params, seed, dataset_key)
            trials.setdefault(key, trial)
            if len(trials) > MOST_TRIALS:
                raise ValueError(
                    f"The sweep has more than {MOST_TRIALS:,} models; take fewer "
                    "settings or seeds."
                )
    return list(trials.values())


def trial_key(
    *,
    method: str,
    params: Mapping[str, Scalar],
    train_rows: int | None = None,
    weighted: bool = False,
    version: int | None = None,
    **question: Any,
) -> str:
    """Return the identity of a trial: a hash of canonical JSON, never of an object.

    Training on all rows is no part of the question, nor on rows that count once each,
    nor a parameter that came later at its default: keys are older than the choice. A
    parameter that is gone still is. ``version`` is that of results, by default today's.
    """
    # Later fields enter a key only where they differ from what always was: so stored
    # models keep their keys.
    if train_rows is not None:
        question["train_rows"] = train_rows
    if weighted:
        question["weighted"] = True
    former = CATALOG[method].former if method in CATALOG else {}
    question["params"] = identifying(method, {**former, **params})
    question["method"] = method
    question["version"] = RESULTS_VERSION if version is None else version
    return _hash_of(question)


def identifying(method: str, params: Mapping[str, Scalar]) -> dict[str, Scalar]:
    """Return the parameters by which a model is known, see `trial_key`."""
    declared = CATALOG[method].params if method in CATALOG else ()
    added = {param.name: param.default for param in declared if param.added}
    return {
        name: value
        for name, value in params.items()
        if name not in added or value != added[name]
    }


def _points(grid: MethodGrid) -> list[dict[str, Scalar]]:
    check_one_of("method", grid.method, CATALOG)
    method = CATALOG[grid.method]
    method.check_names(dict.fromkeys(grid.params, 0))
    declared = {param.name: param for param in method.params}
    empty = [name for name, values in grid.params.items() if values == ()]
    if empty:
        message = f"`{empty[0]}` of {grid.method!r} has no value"
        raise ValueError(f"{message}; give it one, or exclude it.")
    axes = [
        [declared[name].read(value) for value in as_axis(values)]
        for name, values in grid.params.items()
    ]
    n_points = prod(map(len, axes))  # counted before they are made
    if n_points > MOST_SETTINGS:
        raise ValueError(
            f"The grid of {grid.method!r} has {n_points:,} settings, more than "
            f"{MOST_SETTINGS:,}; give its axes fewer values."
        )
    return [
        method.settings(dict(zip(grid.params, values, strict=True)), grid.effort)
        for values in product(*axes)
    ]


def _hash_of(content: Any) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return sha256(text.encode()).hexdigest()[:32]


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
        return _hash_of([trial.key for trial in self.trials])

    def work(self, *, n_rows: int) -> float:
        """Return about how many multiply-adds the stack takes: see `work`."""
        return work(self.trials[0].params, n_rows=n_rows, n_models=len(self.trials))

    @property
    def length(self) -> float:
        """The work of a stack beside that of other stacks of the same run."""
        return self.work(n_rows=USUAL_ROWS)

    @property
    def points(self) -> list[dict[str, Scalar]]:
        """Parameters in which the trials differ, for ``fit_many``."""
        return [
            {k: value for k, value in trial.params.items() if k not in self.params}
            for trial in self.trials
        ]

    def split(self) -> list["Stack"]:
        """Return one stack for each trial."""
        return plan(self.trials, max_models=1)


def plan(trials: Iterable[Trial], *, max_models: int | None = None) -> list[Stack]:
    """Put trials together in stacks.

    Trials that need several stacks are dealt out evenly. The plain model comes first,
    a short stack that the others are compared with; then the longest, so that no
    worker begins one when the others are done.

    Parameters
    ----------
    trials : iterable of Trial
    max_models : int, optional
        Most models of a stack. By default models times batch rows stay at
        `fairdash.methods.CACHED_ROWS`: larger stacks are slower, and cannot be shared
        out over workers.
    """
    groups: dict[str, list[Trial]] = {}
    for trial in trials:
        check_one_of("method", trial.method, CATALOG)
        same = [trial.method, trial.seed, trial.data_key, _fixed(trial)]
        groups.setdefault(_hash_of(same), []).append(trial)
    stacks = []
    for members in groups.values():
        first = members[0]
        for part in _deal(members, max_models or _cached_models(first)):
            stack = Stack(first.method, first.seed, _fixed(first), tuple(part))
            stacks.append(stack)
    return sorted(stacks, key=lambda stack: (stack.method != BASELINE, -stack.length))


def _cached_models(trial: Trial) -> int:
    """Return the number of such models that stay in the cache together."""
    cached = CACHED_ROWS // int(trial.params.get("batch_size", 1))
    return max(1, min(MAX_MODELS, cached))


def _deal(members: list[Trial], most: int) -> Iterator[list[Trial]]:
    """Yield parts of at most ``most`` trials, whose sizes differ by one at most."""
    n_parts = ceil(len(members) / most)
    ends = [round(part * len(members) / n_parts) for part in range(n_parts + 1)]
    for start, end in pairwise(ends):
        yield members[start:end]


def _fixed(trial: Trial) -> dict[str, Scalar]:
    """Return the parameters that all trials of a stack share."""
    stackable = CATALOG[trial.method].stackable()
    return {
        name: value for name, value in trial.params.items() if name not in stackable
    }


def work(params: Mapping[str, Any], *, n_rows: int, n_models: int = 1) -> float:
    """Return about how many multiply-adds training a stack takes.

    Counts forward and backward passes of the usual layers: predictor, adversary and
    ratio network, each with its number of steps, and `LEAST_STEP` for every step, which
    all models of a stack share; a step of a search, which moves no network, takes half
    of that. It ranks stacks and, with a speed measured on a machine, foretells their
    time.
    """
    predictor = _products(USUAL_FEATURES, *PREDICTOR)
    if "n_epochs" not in params:
        return float(n_models * EXACT_PASSES * n_rows * USUAL_FEATURES)
    adversary = params.get("n_adversary_steps", 0)
    ratio = params.get("n_ratio_steps", 0)
    search = params.get("n_subspace_steps", 0) + params.get("n_full_steps", 0)
    curved = CURVED if "curvature_weight" in params else 1
    # A step takes three products a layer, one forward and two backward; a step of a
    # search two, since it moves no weights. The ratio network reads one input more than
    # the predictor.
    per_row = 3 * predictor + 3 * curved * adversary * _products(*ADVERSARY)
    per_row += 3 * ratio * (predictor + PREDICTOR[0]) + 2 * search * predictor
    n_batches = ceil(n_rows / params.get("batch_size", n_rows))
    n_steps = n_batches * (1 + adversary + ratio + search / 2)
    per_epoch = n_models * n_rows * per_row + n_steps * LEAST_STEP
    return float(params["n_epochs"] * per_epoch)


def _products(*sizes: int) -> int:
    return sum(n_in * n_out for n_in, n_out in pairwise(sizes))
