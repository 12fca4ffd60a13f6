"""The post-processing methods: one registry.

The page Post-process, ``fairdash thresholds --method`` and the table of
``docs/post_processing.md`` read it. A new method is one file with its class and one
`add(Correction(...))` here.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from fairdash._validation import CONSTRAINTS, check_one_of
from fairdash.postprocessing.base import PostProcessor
from fairdash.postprocessing.baselines import OPPORTUNITY, HardtThreshold, RejectOption
from fairdash.postprocessing.ramp import GAMMA, RampThreshold


@dataclass(frozen=True)
class Dial:
    """A parameter that a page and the command line set.

    Attributes
    ----------
    name : str
        Of the constructor's argument.
    label : str
        On the screen, with the paper's letter.
    default : str, float or None
        None where the method chooses by itself.
    low, high, step : float
        Of the slider of a number; the method may take more.
    options : dict of str to str
        Values of a choice and their words; empty for a number.
    help : str
        What it changes.
    """

    name: str
    label: str
    default: str | float | None
    low: float = 0.0
    high: float = 1.0
    step: float = 0.01
    options: Mapping[str, str] = field(default_factory=dict)
    help: str = ""

    def read(self, text: str) -> str | float:
        """Return the value that a text says.

        Raises ValueError, which names the parameter, for one that is neither a number
        nor among the options.
        """
        if self.options:
            check_one_of(self.name, text, self.options)
            return text
        try:
            return float(text)
        except ValueError:
            message = f"`{self.name}` must be a number, got {text!r}."
            raise ValueError(message) from None

    def on_slider(self, text: str) -> str | float:
        """Return the same of a text in a URL.

        Raises ValueError for a number beyond the slider, too.
        """
        value = self.read(text)
        if isinstance(value, float) and not self.low <= value <= self.high:
            ends = f"{self.low:g} to {self.high:g}"
            raise ValueError(f"`{self.name}` must be from {ends}, got {text!r}.")
        return value


@dataclass(frozen=True)
class Correction:
    """A post-processing method: its class, its words, and what a user sets.

    Attributes
    ----------
    key, label : str
        In URLs and on the command line; on the screen.
    estimator : class
        A kind of `PostProcessor`, whose constructor takes ``score_type`` and the dials.
    summary, outcome, source : str
        What it does; whether it needs the outcome; paper.
    dials : tuple of Dial
    compared : dict of str to dict
        Settings beside which other methods are shown, by their label.

    Raises
    ------
    TypeError
        For a class that is no `PostProcessor`.
    ValueError
        For a dial, or a setting compared, that the constructor does not take.
    """

    key: str
    label: str
    estimator: Callable[..., PostProcessor]
    summary: str
    outcome: str
    source: str
    dials: tuple[Dial, ...] = ()
    compared: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        kind = self.estimator
        if not (isinstance(kind, type) and issubclass(kind, PostProcessor)):
            raise TypeError(f"`estimator` of {self.key!r} must be a PostProcessor.")
        taken = inspect.signature(self.estimator).parameters
        names = {"score_type", *(dial.name for dial in self.dials)}
        names.update(*self.compared.values())
        if not names <= set(taken):
            raise ValueError(
                f"{kind.__name__} has no parameter "
                f"{sorted(names - set(taken))}; it has {list(taken)}."
            )

    def make(self, score_type: str, **params: Any) -> PostProcessor:
        """Return the method, not fitted yet; a parameter that is None is its own."""
        set_values = {
            name: value for name, value in params.items() if value is not None
        }
        return self.estimator(score_type=score_type, **set_values)

    def read(self, texts: Mapping[str, str]) -> dict[str, str | float]:
        """Return the parameters that texts name, such as ``{"tolerance": "0.1"}``.

        Raises ValueError for a name that is no dial, and for a value that does not fit.
        """
        dials = {dial.name: dial for dial in self.dials}
        for name in texts:
            if name not in dials:
                raise ValueError(
                    f"{self.label} has no parameter `{name}`; it has {list(dials)}."
                )
        return {name: dials[name].read(text) for name, text in texts.items()}


_CATALOG: dict[str, Correction] = {}


def add(correction: Correction) -> Correction:
    """Add a method; raise ValueError for a key that is taken."""
    if correction.key in _CATALOG:
        raise ValueError(
            f"There is a post-processing method {correction.key!r} already, "
            f"{_CATALOG[correction.key].label}. Give another `key`."
        )
    _CATALOG[correction.key] = correction
    return correction


def corrections() -> dict[str, Correction]:
    """Return all methods by their keys, the ramp first."""
    return dict(_CATALOG)


_TOLERANCE = Dial(
    "tolerance",
    "Tolerance (ε)",
    0.0,
    high=0.5,
    step=0.005,
    help="By how much the rates may differ between groups.",
)
RAMP = add(
    Correction(
        "ramp",
        "Ramp",
        RampThreshold,
        summary="equal rates by a randomised threshold, exact",
        outcome='for `target_rate="accuracy"`',
        source="Alabdulmohsin and Lucic 2021",
        dials=(
            Dial("gamma", "Ramp width (γ)", GAMMA.default, *GAMMA[:3]),
            _TOLERANCE,
        ),
        compared={"Ramp, most accurate": {}},
    )
)
HARDT = add(
    Correction(
        "hardt",
        "Hardt",
        HardtThreshold,
        summary="equal rates, or equal odds, by two thresholds, exact",
        outcome="yes",
        source="Hardt, Price and Srebro 2016",
        dials=(
            Dial(
                "constraints",
                "Equal between groups",
                CONSTRAINTS[0],
                options={
                    "demographic_parity": "Positive rates",
                    OPPORTUNITY: "True positive rates",
                    "equalized_odds": "True and false positive rates",
                },
                help="Which rates thresholds make equal.",
            ),
            _TOLERANCE,
        ),
        compared={
            "Hardt, demographic parity": {},
            "Hardt, equalized odds": {"constraints": "equalized_odds"},
        },
    )
)
REJECT_OPTION = add(
    Correction(
        "reject_option",
        "Reject option",
        RejectOption,
        summary="doubtful rows go to the groups of low rate",
        outcome="no",
        source="Kamiran, Karim and Zhang 2012",
        dials=(
            Dial(
                "width",
                "Doubtful up to (θ)",
                None,
                low=0.01,
                high=1.0,
                help="Rows whose margin is at most this far from 0 are doubtful. "
                "Empty: the width with the smallest gap.",
            ),
        ),
        compared={"Reject option": {}},
    )
)
