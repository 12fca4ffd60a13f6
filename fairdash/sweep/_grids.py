"""Usual grids: values of λ and τ to try, and the specification that tries them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from fairdash.datasets import Subgroups
from fairdash.methods import CATALOG, Effort
from fairdash.sweep._published import TAUS, WEIGHTS, published_for
from fairdash.sweep._result import BASELINE
from fairdash.sweep._spec import DataSource, MethodGrid, Scalar, SweepSpec

SHARED = ("constraints", "normalisation", "predictor_layers", "adversary_layers")


def spaced(
    first: float, last: float, number: int, *, log: bool = False
) -> tuple[float, ...]:
    """Return values from first to last with four digits, each once."""
    values = (np.geomspace if log else np.linspace)(first, last, number)
    return tuple(dict.fromkeys(float(f"{value:.4g}") for value in values))


@dataclass(frozen=True)
class GridAxes:
    """Values to try of the fairness weight and of the locality."""

    weights: tuple[float, ...]
    taus: tuple[float, ...]


QUICK = GridAxes((0.5, 1.0, 2.0, 3.5, 5.0), (0.05, 0.1, 0.3, 0.6, 1.0))
PAPER = GridAxes(WEIGHTS, TAUS)


def swept_methods() -> list[str]:
    """Return the methods that have a fairness weight to sweep."""
    return [
        key
        for key, method in CATALOG.items()
        if "fairness_weight" in method.stackable()
    ]


def shared_params(methods: Iterable[str]) -> dict[str, Mapping[str, str]]:
    """Return the choices that several methods share, with their values and words."""
    found: dict[str, Mapping[str, str]] = {}
    for method in methods:
        for param in CATALOG[method].params:
            if param.name in SHARED:
                found.setdefault(param.name, param.options)
    return {name: found[name] for name in SHARED if name in found}


def grid_spec(
    data: DataSource,
    methods: Sequence[str],
    axes: GridAxes,
    *,
    effort: Effort = "fast",
    n_seeds: int = 1,
    initialisations: int = 1,
    equal_models: bool = False,
    shared: Mapping[str, Scalar] | None = None,
    published: bool = False,
    scaling: Literal["standard", "minmax"] | None = None,
    subgroups: Subgroups | None = None,
    train_rows: int | None = None,
) -> SweepSpec:
    """Return the grid of every method, with what each is held to beside it.

    That is the unconstrained model, λ = 0, of the network and the schedule of the
    method: where methods have different ones it is trained with each.

    Parameters
    ----------
    data : DataSource
    methods : sequence of str
        Of `swept_methods`.
    axes : GridAxes
        The values of τ are for the methods that have it.
    effort : {"fast", "paper"}
    n_seeds : int
        Splits, of seeds 0, 1, ...
    initialisations : int
        Trainings on each split.
    published : bool
        Whether methods, scaling and subgroups are as in the paper on this table, where
        one gives them: see `published_for`. Then its effort is "paper", and what is
        given here stands above it.
    equal_models, scaling, subgroups, train_rows
        As in `SweepSpec`.
    shared : mapping of str to value, optional
        Parameters of the methods that have them: constraints, normalisation, layers.

    Raises
    ------
    ValueError
        When they do not fit the catalog.
    """
    values = {"fairness_weight": axes.weights, "tau": axes.taus}
    found = {key: published_for(data.roles, key) for key in methods if published}
    paper = next((one for one in found.values() if one), None)
    grids: list[MethodGrid] = []
    plain: dict[str, MethodGrid] = {}
    for key in methods:
        method = CATALOG[key]
        names = {param.name for param in method.params}
        swept = {
            name: axis for name, axis in values.items() if name in method.stackable()
        }
        known = found.get(key)
        given = {**(known.params[key] if known else {}), **(shared or {})}
        fixed: dict[str, Any] = {
            name: v for name, v in given.items() if name in names - swept.keys()
        }
        length = "paper" if known else effort
        grids.append(MethodGrid(method=key, params={**fixed, **swept}, effort=length))
        base = _baseline(method.settings(fixed, length), length)
        plain.setdefault(repr(sorted(base.params.items())), base)
    subgroups = subgroups or (paper.subgroups if paper else None)
    more: dict[str, Any] = {} if subgroups is None else {"subgroups": subgroups}
    return SweepSpec(
        data=data,
        methods=(*plain.values(), *grids) or (MethodGrid(method=BASELINE),),
        seeds=tuple(range(n_seeds)),
        initialisations=initialisations,
        equal_models=equal_models,
        scaling=scaling or (paper.scaling if paper else "standard"),
        train_rows=train_rows,
        **more,
    )


def _baseline(settings: Mapping[str, Scalar], effort: Effort) -> MethodGrid:
    names = [param.name for param in CATALOG[BASELINE].params]
    params: dict[str, Scalar | tuple[Scalar, ...]] = {
        name: settings[name] for name in names if name in settings
    }
    return MethodGrid(method=BASELINE, params=params, effort=effort)
