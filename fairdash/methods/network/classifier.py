"""Network classifiers of which many settings train at once: where, and how many."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.callback import CallbackContext
from sklearn.utils import check_random_state

from fairdash.methods.base import (
    ManyClassifier,
    NetworkClassifier,
    Samples,
    Weighted,
    group_by_fixed,
)
from fairdash.methods.lazy import torch
from fairdash.methods.network.rows import Batch, Groups
from fairdash.methods.network.training import StackView, train
from fairdash.methods.params import (
    BATCH_SIZE,
    DEVICE,
    EPOCHS,
    LEARNING_RATE,
    PREDICTOR,
    RANDOM_STATE,
)

CACHED_ROWS = 8_192  # models x batch rows whose activations stay in a core's cache


def plan_stacks(models: Sequence[Any], stackable: Sequence[str]) -> list[list[int]]:
    """Return indices of models that train together, in stacks that fit a cache."""
    stacks = []
    for indices in group_by_fixed(models, stackable):
        batch_size = int(models[indices[0]].batch_size)
        size = max(1, CACHED_ROWS // batch_size)
        stacks += [indices[i : i + size] for i in range(0, len(indices), size)]
    return stacks


def find_device(name: str) -> torch.device:
    """Return the device of that name, with "auto" a GPU if there is one."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    elif name == "cuda" and not torch.cuda.is_available():
        raise ValueError("`device` is 'cuda', but torch finds no GPU; use 'auto'.")
    return torch.device(name)


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute with one thread, whatever number the process has."""
    n_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(n_threads)


class StackedClassifier(Weighted, ManyClassifier, NetworkClassifier):
    """Network classifier of which many settings train at once.

    On a CPU a model has the same bits whatever it trains beside: products, losses and
    steps round alike in a stack of any size (see `product`, `sigmoid`, `Adam`), and one
    thread does them, since several would share a sum out by their number.

    A subclass names its ``_trainer_class``, and declares which of its parameters are
    ``stackable``: those may differ within a stack.
    """

    _trainer_class: ClassVar[Any]

    predictor_layers: str | Sequence[int] = PREDICTOR
    n_epochs: int = EPOCHS
    batch_size: int = BATCH_SIZE
    learning_rate: float = LEARNING_RATE
    device: str = DEVICE
    random_state: Any = RANDOM_STATE

    def _fit_models(self, models: Sequence[Self], samples: Samples) -> None:
        for model in models:
            model._check_params()
        rows = self._training_rows(samples, dtype=np.float32, order="C")
        X, target, codes, weight = rows
        self._copy_learned(models)
        stacks = plan_stacks(models, self._stackable)
        root = self._init_callback_context(max_subtasks=len(stacks))
        groups = {"sensitive_features": samples.sensitive_features}
        data = {"X": X, "y": samples.y, "metadata": groups}
        root.call_on_fit_task_begin(estimator=self, **data)
        for points in stacks:
            device = find_device(models[points[0]].device)
            batch = Batch(
                torch.as_tensor(X, device=device),
                torch.as_tensor(target, dtype=torch.float32, device=device),
                Groups(torch.as_tensor(codes, device=device), len(self.groups_)),
            )
            with one_thread():
                self._fit_stack(models, points, batch, weight, root, data)
        root.call_on_fit_task_end(estimator=self, **data)

    def _fit_stack(
        self,
        models: Sequence[Self],
        points: list[int],
        rows: Batch,
        weight: NDArray[np.float64] | None,
        root: CallbackContext,
        data: Mapping[str, Any],
    ) -> None:
        """Train the models at some points together, and set what they learned."""
        stack = [models[i] for i in points]
        first = stack[0]
        # The order of rows has a seed of its own: every method then sees the same one.
        random = check_random_state(first.random_state)
        order_seed, *seeds = random.randint(np.iinfo(np.int32).max, size=4).tolist()
        trainer = self._trainer_class(stack, rows, seeds=seeds, device=rows.X.device)
        context = root.subcontext(task_name="stack", max_subtasks=first.n_epochs)
        context.call_on_fit_task_begin(estimator=self, **data)

        def after_epoch(view: StackView) -> bool:
            epoch = context.subcontext(task_name="epoch")
            epoch.call_on_fit_task_begin(estimator=self, **data)
            return epoch.call_on_fit_task_end(
                estimator=self,
                **data,
                reconstruction_attributes=lambda: {
                    "classes_": first.classes_,
                    "groups_": first.groups_,
                    "network_": trainer.predictor.networks()[0],
                    "stack_": view,
                },
            )

        # Gradients are written out (see `StackedNetwork`): autograd has nothing to do.
        with torch.no_grad():
            view, snapshots = train(
                trainer,
                rows,
                n_epochs=first.n_epochs,
                batch_size=first.batch_size,
                balanced=getattr(first, "batches", "shuffled") == "balanced",
                weight=weight,
                seed=order_seed,
                points=points,
                after_epoch=after_epoch,
            )
        losses = {name: np.stack(values) for name, values in view.history.items()}
        epochs = np.arange(1, view.epoch + 1)
        ratios = view.ratios()
        networks = trainer.predictor.networks()
        trainer.finish()
        for i, (model, network) in enumerate(zip(stack, networks, strict=True)):
            model.network_ = network
            columns = {name: values[:, i] for name, values in losses.items()}
            model.history_ = pd.DataFrame({"epoch": epochs, **columns})
            model.ratio_ = None if ratios is None else ratios[i]
            model.ratio_history_ = None
            if snapshots:
                model.ratio_history_ = {
                    "epoch": snapshots["epoch"],
                    "ratio": snapshots["ratio"][:, i],
                }
        context.call_on_fit_task_end(estimator=self, **data)
