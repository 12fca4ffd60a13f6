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
    if any(CATALOG[method].gives_weights for method in sweep.result.methods):
        return SCENES
    return tuple(scene for scene in SCENES if scene.name != "weights")


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
    result = local_by_measure(
        sweep.store, sweep.compared(place), sweep.run.dataset_id, sweep.subgroups
    )
    return result.answer(dataset, sweep.subgroups).verdict


def _weights(sweep: StoredSweep, place: int, limit: float, metric: str) -> str:
    return sweep.once(lambda: _weights_verdict(sweep, place), "weights verdict", place)


def _weights_verdict(sweep: StoredSweep, place: int) -> str:
    *plain, model = (_trained(sweep, index) for index in _places(sweep, place))
    if not CATALOG[model.method].gives_weights:
        return f"{model.label} gives every training row the same weight."
    trials = with_rows(sweep.store, model.trials)
    if not trials:
        return f"{model.label} was stored without its weights."
    trial = trials[0]
    # Gaps are those of the plain model on the same split, where there is one.
    reference_of_split = {
        reference.split: reference for setting in plain for reference in setting.trials
    }
    weighted = weighting.Weighted(
        sweep.store,
        model,
        trial,
        reference_of_split.get(trial.split, trial),
        sweep.run.dataset_id,
        sweep.rule,
    )
    top = weighting.find_top_rows(weighted, weighted.ratio())
    dataset = sweep.store.dataset(sweep.run.dataset_id)
    return weighted.answer(dataset, sweep.subgroups, top).verdict


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
