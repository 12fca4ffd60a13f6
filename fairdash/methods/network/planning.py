"""Where networks train, and how many of them at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

from fairdash.methods.base import alike
from fairdash.methods.declare import Device
from fairdash.methods.lazy import torch
from fairdash.methods.params import hidden_layers

CACHED_ROWS = 8_192  # models x batch rows whose activations stay in a core's cache
GPU_SHARE = 0.4  # of the free memory: another worker may begin at the same moment
FLOAT = 4  # bytes
STATES = 4  # of a parameter: its value, its gradient and Adam's two moments
INPUTS = 4  # copies of a model's own inputs, where a method changes them
COLUMNS = 24  # temporary numbers of a row, in losses and weights


def plan_stacks(
    models: Sequence[Any],
    stackable: Sequence[str],
    *,
    n_rows: int,
    n_features: int,
) -> list[list[int]]:
    """Return indices of models that may train together, in stacks that fit the device.

    How a grid is cut does not change any result.

    Parameters
    ----------
    models : sequence of estimators
    stackable : sequence of str
        Parameters that may differ within a stack.
    n_rows, n_features : int
        Of the training set.
    """
    stacks = []
    for indices in alike(models, stackable):
        first = models[indices[0]]
        size = stack_size(
            first.get_params(deep=False),
            n_rows=n_rows,
            n_features=n_features,
            free=free_memory(find_device(first.device)),
        )
        stacks += [indices[i : i + size] for i in range(0, len(indices), size)]
    return stacks


def stack_size(
    params: dict[str, Any], *, n_rows: int, n_features: int, free: int | None
) -> int:
    """Return how many models like one train together, at least 1.

    Parameters
    ----------
    params : dict
        Of the estimator: its layers, batch size.
    n_rows, n_features : int
        Of the training set.
    free : int or None
        Bytes of a GPU that are free; None on a CPU, where models times batch rows stay
        at `CACHED_ROWS`, so that activations fit a core's cache.
    """
    if free is None:
        return max(1, CACHED_ROWS // int(params["batch_size"]))
    need = model_bytes(params, n_rows=n_rows, n_features=n_features)
    return max(1, int(GPU_SHARE * free / need))


def model_bytes(params: dict[str, Any], *, n_rows: int, n_features: int) -> int:
    """Return about how much memory one model of a stack takes, in bytes.

    Parameters with their gradient and moments; outputs of every layer and the gradients
    in them for two sizes of a batch, as the last one of an epoch is smaller; inputs of
    its own; and its numbers for every training row. More than it takes, rather than
    less: a stack that does not fit is lost time.
    """
    widths = [
        (n_features, *hidden_layers(layers), 1)
        for name, layers in params.items()
        if name.endswith("_layers")
    ]
    n_parameters = sum((n + 1) * m for sizes in widths for n, m in pairwise(sizes))
    outputs = 2 * 2 * sum(sum(sizes[1:]) for sizes in widths)
    per_row = outputs + INPUTS * n_features + COLUMNS
    batch_rows = min(int(params["batch_size"]), n_rows)
    numbers = STATES * n_parameters + batch_rows * per_row + n_rows * COLUMNS
    return FLOAT * numbers


def free_memory(device: torch.device) -> int | None:
    """Return the free bytes of a GPU, with those torch keeps; None of a CPU."""
    if device.type != "cuda":
        return None
    free: int = torch.cuda.mem_get_info(device)[0]
    kept = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    return free + kept


def find_device(name: str) -> torch.device:
    """Return the device of that name, with "auto" a GPU if there is one.

    Raises
    ------
    ValueError
        When a GPU is asked for and there is none.
    """
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    elif name == "cuda" and not torch.cuda.is_available():
        raise ValueError("`device` is 'cuda', but torch finds no GPU; use 'auto'.")
    return torch.device(name)


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute with one thread, whatever number the process has."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def training_device() -> Device:
    """Return where ``device="auto"`` trains in this process."""
    return "cuda" if find_device("auto").type == "cuda" else "cpu"
