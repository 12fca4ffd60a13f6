"""How the weights of a trial are spread: epoch by epoch, and at other values of τ."""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairdash.audits.trials.models import Setting
from fairdash.audits.trials.rows import TrialRows, rows_trained_on
from fairdash.datasets import Subgroups
from fairdash.metrics import WeightSpread, weight_spread
from fairdash.scored import ScoredModel
from fairdash.store import Store

CLOSED_FORM = "broad"  # the method whose weights follow from τ and the adversary
TAUS = tuple(float(f"{tau:.3g}") for tau in np.geomspace(0.01, 2, 24))


class WeightedTrial(NamedTuple):
    """A trial with weights, its data set, and the subgroups that are asked about."""

    store: Store
    model: ScoredModel
    dataset_id: str
    subgroups: Subgroups

    @property
    def rows(self) -> TrialRows:
        """The training rows, in the order of the weights."""
        return rows_trained_on(self.store, self.dataset_id, self.model, self.subgroups)

    def ratio(self) -> NDArray[np.float64]:
        """Return the weights of the training rows after the last epoch.

        Raises ValueError where they were not stored.
        """
        ratio = self.store.artifact(self.model.source.key).ratio()
        if ratio is None:
            raise ValueError(
                "This model was stored without its weights; train it again."
            )
        return np.asarray(ratio, dtype=np.float64)


def with_rows(store: Store, trials: Sequence[ScoredModel]) -> list[ScoredModel]:
    """Return the trials of which the weights of rows are stored.

    A run that came without rows has those of its first seed.
    """
    return [t for t in trials if store.artifact(t.source.key).ratio() is not None]


@lru_cache(maxsize=100)
def by_epoch(weighted: WeightedTrial) -> WeightSpread:
    """Return how weights are spread at the epochs that are stored.

    At least at the last one. Of a run that came without rows, earlier epochs are known
    for the subgroups of the run only.
    """
    artifact = weighted.store.artifact(weighted.model.source.key)
    history = artifact.ratio_history()
    if history is not None:
        return _spread(weighted, history["ratio"], history["epoch"])
    last = float(artifact.history()["epoch"].iloc[-1])
    present = _spread(weighted, weighted.ratio()[None], [last])
    return _stored(weighted, present) or present


def after_training(weighted: WeightedTrial) -> WeightSpread | None:
    """Return how weights were spread at the last epoch, None where nothing says so.

    It is the last step of the spread. A run that came without rows has brought it, for
    the subgroups of the run.
    """
    brought = _stored(weighted, _of_equal_weights(weighted.rows))
    if brought is not None:
        return brought
    if weighted.store.artifact(weighted.model.source.key).ratio() is None:
        return None
    return _spread(weighted, weighted.ratio()[None], [0.0])


@lru_cache(maxsize=100)
def at_other_taus(
    weighted: WeightedTrial, trained: float, within: bool
) -> WeightSpread:
    """Return the spread of the weights that BROAD's adversary gives at any τ.

    ``trained`` is the τ it was trained with, one of the steps beside `TAUS`; ``within``
    whether weights average to one within groups, not over all rows.
    """
    ratio = weighted.ratio()
    groups = weighted.rows.groups["sensitive_features"] if within else None
    steps = sorted({*TAUS, trained})
    weights = [
        weight_spread.weights_at(
            ratio,
            trained=trained,
            tau=tau,
            sensitive_features=groups,
            sample_weight=weighted.rows.sample_weight,
        )
        for tau in steps
    ]
    return _spread(weighted, np.array(weights), steps)


@lru_cache(maxsize=20)
def over_trained_taus(
    weighted: tuple[tuple[float, WeightedTrial], ...],
) -> WeightSpread:
    """Return the spread of models that were trained with different τ, by τ.

    They are of one seed, so that all are of the same training rows.
    """
    ordered = sorted(weighted, key=lambda pair: pair[0])
    ratios = np.array([trial.ratio() for _, trial in ordered])
    return _spread(ordered[0][1], ratios, [tau for tau, _ in ordered])


def siblings(
    models: Sequence[Setting], model: Setting, seed: int
) -> list[tuple[float, ScoredModel]]:
    """Return τ and trial of the models that differ from one in τ only, itself too."""

    def rest(setting: Setting) -> dict[str, object]:
        params = setting.trials[0].params
        return {name: value for name, value in params.items() if name != "tau"}

    return [
        (float(trial.params["tau"]), trial)
        for sibling in models
        if (sibling.method, sibling.trained) == (model.method, model.trained)
        and rest(sibling) == rest(model)
        for trial in sibling.trials
        if trial.split == seed
    ]


@lru_cache(maxsize=8)
def _of_equal_weights(rows: TrialRows) -> WeightSpread:
    """Return a spread that says how many rows each cell of training rows has."""
    return _spread_of(rows, np.ones((1, len(rows.where))), (0,))


def _spread(
    weighted: WeightedTrial,
    ratios: NDArray[np.floating],
    steps: Sequence[float] | NDArray[np.number],
) -> WeightSpread:
    return _spread_of(weighted.rows, ratios, steps)


def _spread_of(
    rows: TrialRows,
    ratios: NDArray[np.floating],
    steps: Sequence[float] | NDArray[np.number],
) -> WeightSpread:
    return WeightSpread.of(
        ratios,
        steps=steps,
        sensitive_features=rows.groups["sensitive_features"],
        subgroups=rows.groups["subgroups"],
        people=rows.people,
    )


def _stored(weighted: WeightedTrial, now: WeightSpread) -> WeightSpread | None:
    """Return what was stored instead of rows, if it is of the subgroups of ``now``."""
    arrays = weighted.store.artifact(weighted.model.source.key).weight_spread()
    if arrays is None or not np.array_equal(arrays["n"], now.n):
        return None
    return WeightSpread.from_arrays(
        arrays, subgroups=now.subgroups[1:], groups=now.groups
    )
