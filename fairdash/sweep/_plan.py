"""From trials to stacks: which models train at once, and in what order."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import ceil
from typing import Any

from fairdash._validation import check_one_of
from fairdash.methods import CACHED_ROWS, CATALOG, Device
from fairdash.sweep._cost import work
from fairdash.sweep._spec import Scalar
from fairdash.sweep._trials import Trial, hash_of

MAX_MODELS = {"cpu": 32, "cuda": 1024}  # of a stack, for it is what a crash can lose
USUAL_FEATURES = 32  # when only the order of stacks counts


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
        return hash_of([trial.key for trial in self.trials])

    @property
    def is_plane(self) -> bool:
        """False: no stack is one network for all its trials any more."""
        return False

    def plane_key(self, **data: Any) -> str:
        """Return no key: no stack is one network for all its trials any more."""
        return ""

    def work(self, *, n_rows: int, n_features: int) -> float:
        """Return about how many multiply-adds the stack takes: see `work`."""
        one = self.trials[0].params
        each = work(one, n_rows=n_rows, n_features=n_features)
        return len(self.trials) * each

    @property
    def length(self) -> float:
        """The work of a stack beside that of other stacks of the same run."""
        return self.work(n_rows=1, n_features=USUAL_FEATURES)

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
        alike.setdefault(hash_of(same), []).append(trial)
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
    return sorted(stacks, key=lambda stack: stack.length, reverse=True)


def _fitting(trial: Trial, device: Device) -> int:
    """Return how many models like this one fit a device together."""
    cached = CACHED_ROWS // int(trial.params.get("batch_size", 1))
    return (
        MAX_MODELS[device]
        if device == "cuda"
        else max(1, min(MAX_MODELS[device], cached))
    )


def _deal(members: list[Trial], most: int) -> Iterator[list[Trial]]:
    """Cut into parts of at most ``most``, none smaller than another by more than 1."""
    n_parts = ceil(len(members) / most)
    ends = [round(part * len(members) / n_parts) for part in range(n_parts + 1)]
    for start, end in pairwise(ends):
        yield members[start:end]


def _fixed(trial: Trial) -> dict[str, Scalar]:
    stackable = CATALOG[trial.method].stackable()
    return {
        name: value for name, value in trial.params.items() if name not in stackable
    }
