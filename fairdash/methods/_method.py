"""What the catalog says of a method, without loading it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Literal

from fairdash._validation import check_one_of

Scalar = str | int | float
Effort = Literal["fast", "paper"]
Device = Literal["cpu", "cuda"]
CACHED_ROWS = 8_192  # models x batch rows whose activations stay in a core's cache


@dataclass(frozen=True)
class Param:
    """One parameter of a method, as a form shows it.

    Attributes
    ----------
    name, label, letter : str
        In code, on screen, in the paper.
    kind : {"float", "int", "choice", "text"}
    default : str, int or float
    low, high, step : float
        Range of a form's slider; the estimator may take more.
    options : dict of str to str
        Values of a choice and their words.
    stackable : bool
        Whether models that differ in it can train in one stack.
    advanced : bool
        Whether a form shows it only on request.
    help : str
        One sentence: what changes when it grows.
    """

    name: str
    label: str
    kind: Literal["float", "int", "choice", "text"]
    default: Scalar
    letter: str = ""
    low: float = 0.0
    high: float = 1.0
    step: float = 0.01
    options: Mapping[str, str] = field(default_factory=dict)
    stackable: bool = False
    advanced: bool = False
    help: str = ""

    @property
    def title(self) -> str:
        """Name with the paper's letter, e.g. ``"Fairness weight (λ)"``."""
        return f"{self.label} ({self.letter})" if self.letter else self.label


@dataclass(frozen=True)
class Method:
    """One method: what it is, where it is from, how it is set.

    Attributes
    ----------
    key, label, title : str
        In configuration, on screen, in full.
    class_name, module : str
        The estimator and where it stands.
    summary, source : str
        One sentence each: what it does; paper and equation.
    colour_role : str
        Which of the fixed colours it has in every figure.
    params : tuple of Param
    efforts : dict of str to dict
        Training settings by effort, over the estimator's defaults.
    gives_weights : bool
        Whether a fitted model has ``ratio_``.
    needs_groups : bool
        Whether its ``predict`` takes ``sensitive_features``, as its ``fit`` does.
    needs_names : bool
        Whether it has a parameter ``feature_names`` for the encoded columns.
    """

    key: str
    label: str
    title: str
    class_name: str
    module: str
    summary: str
    source: str
    colour_role: str
    params: tuple[Param, ...]
    efforts: Mapping[Effort, Mapping[str, Scalar]]
    gives_weights: bool = False
    needs_groups: bool = False
    needs_names: bool = False

    def estimator_class(self) -> type[Any]:
        """Return the estimator's class; loads torch if it must."""
        cls: type[Any] = getattr(import_module(self.module), self.class_name)
        return cls

    def estimator(self, params: Mapping[str, Scalar], random_state: int) -> Any:
        """Return an unfitted estimator with ``params`` set."""
        self.check_names(params)
        return self.estimator_class()(**params, random_state=random_state)

    def settings(
        self, params: Mapping[str, Scalar], effort: Effort = "fast"
    ) -> dict[str, Scalar]:
        """Return every parameter's value: defaults, then effort, then ``params``."""
        self.check_names(params)
        check_one_of("effort", effort, list(self.efforts))
        defaults = {param.name: param.default for param in self.params}
        return {**defaults, **self.efforts[effort], **params}

    def check_names(self, params: Mapping[str, Scalar]) -> None:
        """Raise ValueError for a parameter that the method does not have."""
        known = [param.name for param in self.params]
        for name in params:
            if name not in known:
                message = f"{self.label} has no parameter `{name}`; it has {known}."
                raise ValueError(message)

    def stackable(self) -> tuple[str, ...]:
        """Return the names of the parameters that may differ within a stack."""
        return tuple(param.name for param in self.params if param.stackable)
