"""What all network classifiers share: prediction, validation, stacks and callbacks."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
import torch
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.callback import CallbackContext, CallbackSupportMixin, with_callbacks
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data
from torch import Tensor

from fairdash._validation import (
    check_one_of,
    check_positive,
    check_whole,
    encode_binary_target,
    encode_groups,
)
from fairdash.methods._capacity import hidden_layers
from fairdash.methods._groups import Groups
from fairdash.methods._network import Float32, Network
from fairdash.methods._stacks import find_device, plan_stacks
from fairdash.methods._training import Batch, StackView, Trainer, train


class NetworkClassifier(CallbackSupportMixin, ClassifierMixin, BaseEstimator):
    """Binary classifier that predicts with ``network_``, by NumPy alone."""

    classes_: NDArray[Any]
    groups_: NDArray[Any]
    network_: Network
    history_: pd.DataFrame
    ratio_: Float32 | None
    ratio_history_: dict[str, NDArray[Any]] | None

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the logit of each sample; above 0 predicts ``classes_[1]``."""
        check_is_fitted(self, "network_")
        rows: Float32 = validate_data(self, X, dtype=np.float32, reset=False)
        return self.network_.logits(rows)

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the probability of each class, one column per class."""
        positive = expit(self.decision_function(X))
        return np.column_stack([1 - positive, positive])

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the more probable class of each sample."""
        positive = self.decision_function(X) > 0  # first, since it checks the fit
        predicted: NDArray[Any] = self.classes_[positive.astype(int)]
        return predicted

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


class StackedClassifier(NetworkClassifier):
    """Network classifier of which many settings train at once.

    A subclass names its ``_trainer_class`` and the ``_stackable`` parameters, those
    that may differ within a stack.
    """

    _stackable: ClassVar[tuple[str, ...]] = ()
    _all_in_one_stack: ClassVar[bool] = False  # instead of stacks that fit the cache
    _trainer_class: ClassVar[Any]

    predictor_layers: str | Sequence[int]
    n_epochs: int
    batch_size: int
    learning_rate: float
    device: str
    random_state: Any

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike, *, sensitive_features: ArrayLike) -> Self:
        """Fit the model; ``sensitive_features`` holds the group of each sample."""
        self._fit_models([self], X, y, sensitive_features)
        return self

    @with_callbacks
    def fit_many(
        self,
        points: Iterable[Mapping[str, Any]],
        X: ArrayLike,
        y: ArrayLike,
        *,
        sensitive_features: ArrayLike,
    ) -> list[Self]:
        """Fit one clone per point, as many as possible in one stack.

        Parameters
        ----------
        points : iterable of dict
            Parameters of each model, on top of this estimator's own.
        X, y, sensitive_features
            As in ``fit``; shared by all models.

        Returns
        -------
        list of estimators
            Fitted, in the order of ``points``; each equals the model fitted alone
            with the same ``random_state``, up to rounding.
        """
        models = [clone(self).set_params(**point) for point in points]
        self._fit_models(models, X, y, sensitive_features)
        return models

    def _check_params(self) -> None:
        hidden_layers(self.predictor_layers)
        check_whole("n_epochs", self.n_epochs, at_least=1)
        check_whole("batch_size", self.batch_size, at_least=1)
        check_positive("learning_rate", self.learning_rate)
        check_one_of("device", self.device, ("auto", "cpu", "cuda"))

    def _keep_trainer(self, trainer: Trainer) -> None:
        """Take over from the finished trainer what only this method learns."""

    def _encode_target(self, y: ArrayLike) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Return the classes and the index of each sample's class."""
        return encode_binary_target(y)

    def _training_rows(self, X: Tensor, y: Tensor, groups: Groups) -> Batch:
        """Return the training set, with what else a method needs of each row."""
        return Batch(X, y, groups)

    def _fit_models(
        self,
        models: Sequence[Self],
        X: ArrayLike,
        y: ArrayLike,
        sensitive_features: ArrayLike,
    ) -> None:
        for model in models:
            model._check_params()
        X, y = validate_data(self, X, y, dtype=np.float32, order="C")
        classes, target = self._encode_target(y)
        groups, codes = encode_groups(sensitive_features, X)
        for model in models:
            model.n_features_in_ = self.n_features_in_
            if hasattr(self, "feature_names_in_"):
                model.feature_names_in_ = self.feature_names_in_
            model.classes_, model.groups_ = classes, groups
        stacks = plan_stacks(
            models,
            self._stackable,
            n_rows=len(target),
            n_features=self.n_features_in_,
            all_in_one=self._all_in_one_stack,
        )
        root = self._init_callback_context(max_subtasks=len(stacks))
        data = {"X": X, "y": y, "metadata": {"sensitive_features": sensitive_features}}
        root.call_on_fit_task_begin(estimator=self, **data)
        for points in stacks:
            device = find_device(models[points[0]].device)
            rows = self._training_rows(
                torch.as_tensor(X, device=device),
                torch.as_tensor(target, dtype=torch.float32, device=device),
                Groups(torch.as_tensor(codes, device=device), len(groups)),
            )
            self._fit_stack(models, points, rows, root, data)
        root.call_on_fit_task_end(estimator=self, **data)

    def _fit_stack(
        self,
        models: Sequence[Self],
        points: list[int],
        rows: Batch,
        root: CallbackContext,
        data: Mapping[str, Any],
    ) -> None:
        stack = [models[i] for i in points]
        first = stack[0]
        random = check_random_state(first.random_state)
        order_seed, *seeds = random.randint(np.iinfo(np.int32).max, size=4).tolist()
        trainer = self._trainer_class(stack, rows, seeds=seeds, device=rows.X.device)
        context = root.subcontext(task_name="stack", max_subtasks=first.n_epochs)
        context.call_on_fit_task_begin(estimator=self, **data)

        def after_epoch(view: StackView) -> bool:
            epoch = context.subcontext(task_name="epoch")
            epoch.call_on_fit_task_begin(estimator=self, **data)
            stop: bool = epoch.call_on_fit_task_end(
                estimator=self,
                **data,
                reconstruction_attributes=lambda: {
                    "classes_": first.classes_,
                    "groups_": first.groups_,
                    "network_": trainer.predictor.networks()[0],
                    "stack_": view,
                },
            )
            return stop

        view, snapshots = train(
            trainer,
            rows,
            n_epochs=first.n_epochs,
            batch_size=first.batch_size,
            balanced=getattr(first, "batches", "shuffled") == "balanced",
            seed=order_seed,
            points=points,
            after_epoch=after_epoch,
        )
        history = {name: np.stack(values) for name, values in view.history.items()}
        ratios = view.ratios()
        networks = trainer.predictor.networks()
        for i, (model, network) in enumerate(zip(stack, networks, strict=True)):
            model.network_ = network
            model._keep_trainer(trainer)
            columns = {name: values[:, i] for name, values in history.items()}
            model.history_ = pd.DataFrame(
                {"epoch": np.arange(1, view.epoch + 1), **columns}
            )
            model.ratio_ = None if ratios is None else ratios[i]
            model.ratio_history_ = None
            if snapshots:
                model.ratio_history_ = {
                    "epoch": snapshots["epoch"],
                    "ratio": snapshots["ratio"][:, i],
                }
        context.call_on_fit_task_end(estimator=self, **data)
