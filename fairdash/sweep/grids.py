"""Usual grids of λ and τ, and what each method is held to beside them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fairdash.datasets import Subgroups
from fairdash.methods import CATALOG, Effort
from fairdash.sweep._spec import BASELINE, DataSource, MethodGrid, Scalar, SweepSpec

WEIGHTS = tuple(np.linspace(0, 5, 20).round(2).tolist())
# At τ = 0 all weight goes to one row of a group: the paper's grid starts beyond it.
TAUS = tuple(np.linspace(0.1, 1, 10).round(2).tolist())


@dataclass(frozen=True)
class GridAxes:
    """Values to try of the fairness weight and of the locality."""

    weights: tuple[float, ...]
    taus: tuple[float, ...]


QUICK = GridAxes((0.5, 1.0, 2.0, 3.5, 5.0), (0.05, 0.1, 0.3, 0.6, 1.0))
PAPER = GridAxes(WEIGHTS, TAUS)


def swept_methods() -> list[str]:
    """Return the methods that have something to trade accuracy for fairness by."""
    return [key for key, method in CATALOG.items() if method.trade_off()]


def grid_spec(
    data: DataSource,
    methods: Sequence[str],
    axes: GridAxes,
    *,
    effort: Effort = "fast",
    n_seeds: int = 1,
    shared: Mapping[str, Scalar] | None = None,
    subgroups: Subgroups | None = None,
    train_rows: int | None = None,
) -> SweepSpec:
    """Return the grid of every method, with what each is held to beside it.

    That is the unconstrained model, λ = 0, of the network and the schedule of the
    method: where methods have different ones it is trained with each.

    Parameters
    ----------
    axes : GridAxes
        The values of τ are for the methods that have it. A method that trades by
        another parameter than λ gets as many values of that, over its own range.
    subgroups, train_rows
        As in `SweepSpec`.
    shared : mapping of str to value, optional
        Parameters of the methods that have them, such as constraints.

    Raises
    ------
    ValueError
        When they do not fit the catalog.
    """
    values = {"fairness_weight": axes.weights, "tau": axes.taus}
    grids: list[MethodGrid] = []
    plain: dict[str, MethodGrid] = {}
    for key in methods:
        method = CATALOG[key]
        names = {param.name for param in method.params}
        swept = {
            name: axis for name, axis in values.items() if name in method.stackable()
        }
        trade_off = method.trade_off()
        if trade_off and trade_off.name not in values:
            space = np.geomspace if trade_off.axis == "log" else np.linspace
            points = space(trade_off.low, trade_off.high, len(axes.weights))
            rounded = [float(f"{value:.4g}") for value in points]
            swept[trade_off.name] = tuple(dict.fromkeys(rounded))
        fixed: dict[str, Any] = {
            name: value
            for name, value in (shared or {}).items()
            if name in names - swept.keys()
        }
        grids.append(MethodGrid(method=key, params={**fixed, **swept}, effort=effort))
        # Methods of one schedule have one unconstrained model between them.
        baseline = _baseline(method.settings(fixed, effort), effort)
        plain.setdefault(repr(sorted(baseline.params.items())), baseline)
    more: dict[str, Any] = {} if subgroups is None else {"subgroups": subgroups}
    return SweepSpec(
        data=data,
        methods=(*plain.values(), *grids) or (MethodGrid(method=BASELINE),),
        seeds=tuple(range(n_seeds)),
        train_rows=train_rows,
        **more,
    )


def _baseline(settings: Mapping[str, Scalar], effort: Effort) -> MethodGrid:
    names = [param.name for param in CATALOG[BASELINE].params]
    params: dict[str, Scalar | tuple[Scalar, ...]] = {
        name: settings[name] for name in names if name in settings
    }
    return MethodGrid(method=BASELINE, params=params, effort=effort)
