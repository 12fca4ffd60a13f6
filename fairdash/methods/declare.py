"""A parameter declared once: constructor, check, documentation and form follow.

An estimator states its parameters in its class body::

    class ROAD(AdversarialDebiasing):
        tau: float = param(0.3, "Locality", letter="τ", low=0.01, high=2.0,
                           check=check_positive, help="...", doc="...")

and inherits those of its bases. From them `Declared` makes the constructor that
scikit-learn reads, `_check_params` and the docstring's list of parameters; `Method.of`
makes the catalog entry, and from it come form, command line, sweeps and docs table.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from textwrap import fill, indent
from typing import Any, ClassVar, Literal, Self, dataclass_transform

from sklearn.utils import get_tags

from fairdash._sklearn import BaseEstimator
from fairdash._validation import check_one_of, check_whole

Scalar = str | int | float
Effort = Literal["fast", "paper"]
Kind = Literal["float", "int", "choice", "text"]
Check = Callable[[str, Any], None]
NOT_INSTALLED = " (not installed)"  # after the words of an option
at_least_one = partial(check_whole, at_least=1, at_most=1_000_000)


@dataclass(frozen=True)
class Param:
    """One parameter of a method.

    Attributes
    ----------
    name, label, letter : str
        In code, on screen, in the paper. Without a label it is for Python alone, and in
        no form and no configuration.
    kind : {"float", "int", "choice", "text"}
    default : str, int or float
        For Python alone, anything.
    low, high, step : float
        Range of a form's slider; the estimator may take more.
    axis : {"linear", "log"}
        How a sweep's values are spaced, unless it says so itself.
    options : dict of str to str
        Values of a choice and their words.
    stackable : bool
        Whether models that differ in it can train in one stack.
    trade_off : bool
        Whether it is what a sweep varies to trade accuracy for fairness.
    advanced : bool
        Whether a form shows it only on request.
    positional : bool
        Whether the constructor takes it without its name.
    check : callable (name, value), optional
        Raises ValueError for a value that does not fit; by default of a choice alone.
    help : str
        One sentence for a form: what changes when it grows.
    only_with : dict of str to scalar
        Values of other parameters without which it does not count.
    named : bool
        Whether the label of a model names its option, unless it is the default.
    added : bool
        Whether results were stored before it was: at its default it is no part of a
        trial's identity.
    doc, accepts : str
        Description and type in the docstring, where they are not `help` and the type of
        the default.
    """

    name: str
    label: str
    kind: Kind
    default: Any
    letter: str = ""
    low: float = 0.0
    high: float = 1.0
    step: float = 0.01
    axis: Literal["linear", "log"] = "linear"
    options: Mapping[str, str] = field(default_factory=dict)
    stackable: bool = False
    trade_off: bool = False
    advanced: bool = False
    positional: bool = False
    check: Check | None = None
    help: str = ""
    only_with: Mapping[str, Scalar] = field(default_factory=dict)
    named: bool = False
    added: bool = False
    doc: str = ""
    accepts: str = ""

    @property
    def title(self) -> str:
        """Name with the paper's letter, e.g. ``"Fairness weight (λ)"``."""
        return f"{self.label} ({self.letter})" if self.letter else self.label

    def counts(self, params: Mapping[str, Any]) -> bool:
        """Return whether it has an effect beside the other ``params``."""
        return all(
            params.get(name, value) == value for name, value in self.only_with.items()
        )

    def words(self, params: Mapping[str, Any]) -> str:
        """Return the words for it in the label of a model, "" for none."""
        value = params.get(self.name)
        is_nan = value != value
        if not self.counts(params) or value in (None, "") or is_nan:
            return ""
        if self.named and value != self.default:
            return self.options.get(value, value).removesuffix(NOT_INSTALLED)
        return f"{self.letter} {value:.4g}" if self.letter else ""

    def validate(self, value: Any) -> None:
        """Raise ValueError unless ``value`` fits."""
        if self.check is not None:
            self.check(self.name, value)
        elif self.options:
            check_one_of(self.name, value, self.options)

    def read(self, value: Any) -> Scalar:
        """Return a value of a configuration in the parameter's type.

        So 1 and 1.0 are one trial. Raises ValueError unless the value fits.
        """
        if self.kind == "text":
            value = str(value)
        elif self.kind == "choice":
            check_one_of(self.name, value, self.options)
        elif self.kind == "int" and isinstance(value, float) and value.is_integer():
            value = int(value)
        self.validate(value)
        return float(value) + 0.0 if self.kind == "float" else value  # -0.0 is 0.0

    def fits(self, value: Any) -> bool:
        """Tell whether `read` takes a value."""
        try:
            self.read(value)
        except ValueError:
            return False
        return True

    def documentation(self) -> str:
        """Return the entry of a numpy docstring."""
        kind = self.accepts or self.kind.replace("text", "str")
        if self.options and not self.accepts:
            kind = "{" + ", ".join(f'"{value}"' for value in self.options) + "}"
        words = (self.doc or self.help).split()
        text = fill(" ".join(words), 80)
        default = f'"{self.default}"' if isinstance(self.default, str) else self.default
        entry = f"{self.name} : {kind}, default={default}"
        return f"{entry}\n{indent(text, '    ')}" if text else entry


def param(
    default: Any,
    label: str = "",
    *,
    options: Mapping[str, str] | None = None,
    **more: Any,
) -> Any:
    """Declare a parameter in the body of a `Declared` class, see `Param`.

    Its name is the attribute's; its kind follows from options and default. A whole
    number goes up by 1, and by default is at least 1.
    """
    kind: Kind = "text"
    if options:
        kind = "choice"
    elif isinstance(default, int):
        kind = "int"
        more = {"low": 1, "step": 1, "check": at_least_one} | more
    elif isinstance(default, float):
        kind = "float"
    return Param("", label, kind, default, options=options or {}, **more)


def positional(*, default: Any, kw_only: Literal[False] = False) -> Any:
    """Return a declared parameter that may be given without its name.

    The two names are those of a field of a dataclass, which type checkers read:
    ``constraints: str = positional(default=CONSTRAINT, kw_only=False)``.
    """
    return replace(default, positional=not kw_only)


def vary(declared: Any, **changes: Any) -> Any:
    """Return a declared parameter with some of its attributes changed."""
    return replace(declared, **changes)


# A type checker sees each annotated attribute of a class as an argument by name, as of
# a dataclass: so it refuses ``ROAD(lambda_=3)``, and an editor completes ``tau``.
@dataclass_transform(kw_only_default=True, field_specifiers=(positional,))
class Declared(BaseEstimator):
    """An estimator whose parameters are declared in its class body.

    A class attribute that takes the place of an inherited parameter fixes it: the
    constructor no longer has it. A class that writes its own constructor keeps it.
    What ``fit`` learns is annotated in a base that is not declared, such as `Learned`:
    here a type checker would take it for a parameter.
    """

    _class_params: ClassVar[dict[str, Param]] = {}
    _params: ClassVar[tuple[Param, ...]] = ()
    _stackable: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        declared = {
            name: replace(value, name=name)
            for name, value in vars(cls).items()
            if isinstance(value, Param)
        }
        cls._class_params = declared
        for name in declared:
            delattr(cls, name)
        cls._params = _ordered(cls)
        # A constructor that somebody wrote, here or in a base, is left as it is.
        constructor = cls.__init__
        generated = hasattr(constructor, "__signature__")
        if "__init__" in vars(cls) or not (generated or constructor is object.__init__):
            return
        cls.__init__ = _constructor(cls._params)  # type: ignore[method-assign]
        if "_stackable" not in vars(cls):
            cls._stackable = tuple(
                param.name for param in cls._params if param.stackable
            )
        if vars(cls).get("__doc__"):
            cls.__doc__ = _documented(str(cls.__doc__), cls._params)

    def _check_params(self) -> None:
        for declared in self._params:
            declared.validate(getattr(self, declared.name))


def _ordered(cls: type[Declared]) -> tuple[Param, ...]:
    """Return the parameters in the order of the constructor and of a form.

    First what a form shows at once, then what it shows on request and what it never
    shows; among these the bases' before the class's own.
    """
    declarations: dict[str, Param] = {}
    for base in reversed(cls.__mro__):
        for name in declarations.keys() & vars(base).keys():
            del declarations[name]
        declarations |= vars(base).get("_class_params", {})

    def sort_key(declared: Param) -> tuple[bool, bool, bool]:
        return not declared.positional, not declared.label, declared.advanced

    return tuple(sorted(declarations.values(), key=sort_key))


def _constructor(params: tuple[Param, ...]) -> Callable[..., None]:
    """Return a constructor that stores its arguments, as scikit-learn asks.

    scikit-learn reads the parameters of an estimator from the signature.
    """
    by_keyword = inspect.Parameter.KEYWORD_ONLY
    by_position = inspect.Parameter.POSITIONAL_OR_KEYWORD
    arguments = [inspect.Parameter("self", by_position)]
    for param in params:
        kind = by_position if param.positional else by_keyword
        arguments.append(inspect.Parameter(param.name, kind, default=param.default))
    signature = inspect.Signature(arguments)

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        for param in params:
            setattr(self, param.name, bound.arguments[param.name])

    __init__.__signature__ = signature  # type: ignore[attr-defined]
    return __init__


def _documented(text: str, params: tuple[Param, ...]) -> str:
    """Return a docstring with the parameters before its first section, else last."""
    entries = "\n".join(declared.documentation() for declared in params)
    section = f"Parameters\n----------\n{entries}\n"
    lines = inspect.cleandoc(text).split("\n")
    for i, line in enumerate(lines[1:], start=1):
        if line and set(line) == {"-"}:  # the line under a section's title
            return "\n".join([*lines[: i - 1], section, *lines[i - 1 :]])
    return "\n".join([*lines, "", section])


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
    efforts : dict of str to dict
        Training settings by effort, over the estimator's defaults.
    gives_weights : bool
        Whether a fitted model has ``ratio_``.
    needs_groups : bool
        Whether its ``predict`` takes ``sensitive_features``, as its ``fit`` does.
    no_weights : str
        Why its ``fit`` takes no ``sample_weight``; empty where it does.
    needs_names : bool
        Whether it has a parameter ``feature_names`` for the encoded columns.
    mixture : bool
        Whether its ``predict_proba`` is the chance of a decision that ``predict``
        draws: measures of its decisions are then expected ones.
    former : dict of str to scalar
        Parameters of earlier versions, each with the value that all models have now:
        stored runs may name them, and keys of models are still made with them.
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
    no_weights: str = ""
    needs_names: bool = False
    mixture: bool = False
    former: Mapping[str, Scalar] = field(default_factory=dict)

    @classmethod
    def of(cls, estimator: type[Declared], **entry: Any) -> Self:
        """Return the entry of a class whose parameters are declared.

        The colour has the name of the method, and every effort trains alike, unless
        ``entry`` says otherwise.
        """
        usual = {
            "colour_role": entry["key"],
            "efforts": {"fast": {}, "paper": {}},
            "no_weights": getattr(estimator, "_no_weights", ""),
            "mixture": getattr(estimator, "_mixture", False),
        }
        return cls(
            class_name=estimator.__name__,
            module=estimator.__module__,
            params=tuple(param for param in estimator._params if param.label),
            **{**usual, **entry},
        )

    def estimator_class(self) -> type[Any]:
        """Return the estimator's class."""
        return getattr(import_module(self.module), self.class_name)

    def estimator(self, params: Mapping[str, Scalar], random_state: int) -> Any:
        """Return an unfitted estimator with ``params`` set."""
        self.check_names(params)
        return self.estimator_class()(**params, random_state=random_state)

    def takes_missing(self, params: Mapping[str, Scalar]) -> bool:
        """Return whether its estimator takes missing numbers with ``params`` set."""
        tags = get_tags(self.estimator(params, random_state=0))
        return bool(tags.input_tags.allow_nan)

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
        names = [param.name for param in self.params]
        for name in params:
            if name not in names:
                message = f"{self.label} has no parameter `{name}`; it has {names}."
                raise ValueError(message)

    def trade_off(self) -> Param | None:
        """Return the parameter that a sweep varies to trade accuracy for fairness."""
        return next((param for param in self.params if param.trade_off), None)

    def stackable(self) -> tuple[str, ...]:
        """Return the names of the parameters that may differ within a stack."""
        return tuple(param.name for param in self.params if param.stackable)
