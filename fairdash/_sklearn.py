"""Bases and decorators of scikit-learn, with types for checkers: it carries none.

A class with an untyped base takes any argument in a checker's eyes, so that no wrong
name of a parameter would be seen. Only what is called on an estimator stands here.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self, TypeVar

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from sklearn.callback import CallbackContext
    from sklearn.utils import Tags

    class BaseEstimator:
        """Parameters by name, read and set."""

        def get_params(self, deep: bool = True) -> dict[str, Any]:
            """Return the parameters by name."""

        def set_params(self, **params: Any) -> Self:
            """Set parameters by name."""

        def get_metadata_routing(self) -> Any:
            """Return which metadata each method asks for."""

        def set_fit_request(self, **requested: bool | str | None) -> Self:
            """Say which metadata ``fit`` asks for."""

        def set_predict_request(self, **requested: bool | str | None) -> Self:
            """Say which metadata ``predict`` asks for."""

        def set_score_request(self, **requested: bool | str | None) -> Self:
            """Say which metadata ``score`` asks for."""

        def __sklearn_tags__(self) -> Tags: ...

    class ClassifierMixin:
        """The accuracy of a classifier."""

        def score(
            self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
        ) -> float:
            """Return the share of samples predicted as they are."""

    class CallbackSupportMixin:
        """Progress and early stop."""

        def set_callbacks(self, *callbacks: Any) -> Self:
            """Set what is called while ``fit`` runs."""

        def _init_callback_context(self, **context: Any) -> CallbackContext: ...

    Fit = TypeVar("Fit", bound=Callable[..., Any])

    def with_callbacks(fit: Fit) -> Fit:
        """Return ``fit`` with callbacks set up before it and taken down after."""

else:
    from sklearn.base import BaseEstimator as BaseEstimator
    from sklearn.base import ClassifierMixin as ClassifierMixin
    from sklearn.callback import CallbackSupportMixin as CallbackSupportMixin
    from sklearn.callback import with_callbacks as with_callbacks
