"""The pictures of a sweep in the order of a demo, each with what a presenter says.

A sentence is the verdict of the page that has the picture, of the same model.
"""

from collections.abc import Callable
from dataclasses import dataclass

from fairdash._metric_names import PARITY
from fairdash.audits import choices, recommendation, weighting
from fairdash.audits.gaps.by_subgroup import local_by_measure
from fairdash.audits.sweeps import StoredSweep
from fairdash.audits.trials.models import Setting, settings
from fairdash.audits.weight_spreads import with_rows
from fairdash.methods import CATALOG


@dataclass(frozen=True)
class Scene:
    """A picture of a demo.

    Attributes
    ----------
    name : str
        One of `SCENES`.
    question : str
        What the picture answers, as its page asks it.
    """

    name: str
    question: str


SCENES = (
    Scene("front", "What does fairness cost?"),
    Scene("map", "Which setting is best?"),
    Scene("local", "Where is the model unfair?"),
    Scene("weights", "Which rows carry weight?"),
    Scene("ramp", "Can thresholds fix it?"),
    Scene("noise", "What if groups are wrong?"),
)


def scenes_of(sweep: StoredSweep) -> tuple[Scene, ...]:
    """Return the scenes of a sweep: those of weights where a method gives some."""
    weights = any(CATALOG[method].gives_weights for method in sweep.result.methods)
    return tuple(scene for scene in SCENES if scene.name != "weights" or weights)


def sentence_of(
    sweep: StoredSweep, name: str, place: int, limit: float, *, metric: str = PARITY
) -> str:
    """Return what a presenter says of a setting at a scene.

    Parameters
    ----------
    name : {"front", "map", "local", "weights"}
        Of the scene; of others the answer of their page has the verdict.
    place : int
        Of the setting, in ``sweep.result``.
    limit, metric : float, str
        The largest gap that is accepted, and which one it is on.
    """
    return _SENTENCES[name](sweep, place, limit, metric)


def _front(sweep: StoredSweep, place: int, limit: float, metric: str) -> str:
    return choices.setting_answer(sweep, place).verdict


def _map(sweep: StoredSweep, place: int, limit: float, metric: str) -> str:
    return recommendation.recommend(sweep, limit, metric=metric).words


def _local(sweep: StoredSweep, place: int, limit: float, metric: str) -> str:
    dataset = sweep.store.dataset(sweep.run.dataset_id)
    where = sweep.run.dataset_id, sweep.subgroups
    result = local_by_measure(sweep.store, sweep.compared(place), *where)
    return result.answer(dataset, sweep.subgroups).verdict


def _weights(sweep: StoredSweep, place: int, limit: float, metric: str) -> str:
    return sweep.once(lambda: _weights_verdict(sweep, place), "weights verdict", place)


def _weights_verdict(sweep: StoredSweep, place: int) -> str:
    *plain, model = (_trained(sweep, each) for each in _places(sweep, place))
    if not CATALOG[model.method].gives_weights:
        return f"{model.label} gives every training row the same weight."
    store, data = sweep.store, sweep.run.dataset_id
    kept = with_rows(store, model.trials)
    if not kept:
        return f"{model.label} was stored without its weights."
    trial = kept[0]
    others = {other.split: other for each in plain for other in each.trials}
    reference = others.get(trial.split, trial)
    weighted = weighting.Weighted(store, model, trial, reference, data, sweep.rule)
    top = weighting.find_top_rows(weighted, weighted.ratio())
    return weighted.answer(store.dataset(data), sweep.subgroups, top).verdict


def _places(sweep: StoredSweep, place: int) -> list[int]:
    """Return the places of the plain model, if one was trained, and of a setting."""
    plain = sweep.result.baseline(str(sweep.result.means["method"].iloc[place]))
    return [place] if plain is None else [plain, place]


def _trained(sweep: StoredSweep, place: int) -> Setting:
    """Return a setting without a rule of decision: weights are of training."""
    keys = sweep.result.keys(place).values()
    (setting,) = settings([sweep.trials[key] for key in keys])
    return setting


_SENTENCES: dict[str, Callable[[StoredSweep, int, float, str], str]] = {
    "front": _front,
    "map": _map,
    "local": _local,
    "weights": _weights,
}
