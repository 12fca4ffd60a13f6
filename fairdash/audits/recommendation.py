"""The recommendation of a sweep: its best setting within a limit, or the plain model.

It is one line beside the headline, which is about the model in question.
"""

from dataclasses import dataclass

import numpy as np

from fairdash._change import by_metric
from fairdash._metric_names import PARITY, WORST
from fairdash._wording import gap_size, limit_words, listing, percent, sentences
from fairdash.audits.gaps.evaluation import paired_changes
from fairdash.audits.sweeps import LIMITED, StoredSweep
from fairdash.audits.trials.models import on_shared_seeds
from fairdash.sweep import BASELINE
from fairdash.wording import accuracy_brief, priced_brief


@dataclass(frozen=True)
class Recommendation:
    """A recommended setting, the reason, and its changes beside the plain model.

    Never a setting that accepts nearly all or none or is not clearly better than
    guessing, on validation or on test rows. Where the plain model keeps the limit it is
    the plain model.

    Attributes
    ----------
    choice : str
    place : int or None
        Of the setting that is recommended; None where there is none.
    change : str
        What a headline on that setting says too, "" where nothing is to say.
    """

    choice: str
    place: int | None = None
    change: str = ""

    @property
    def words(self) -> str:
        """All of it: for a reader who has not read of the setting yet."""
        return sentences(self.choice, self.change)

    def beside(self, place: int | None) -> str:
        """Return what is to say beside a headline on the setting at a place."""
        return self.choice if place is not None and place == self.place else self.words


def recommend(
    sweep: StoredSweep, limit: float, *, metric: str = PARITY
) -> Recommendation:
    """Return the most accurate setting within a limit on a gap, on validation rows.

    Where none keeps it, the one nearest to it. Figures are of test rows.
    """
    return sweep.once(
        lambda: _recommended(sweep, limit, metric), "recommendation", limit, metric
    )


def _recommended(sweep: StoredSweep, limit: float, metric: str) -> Recommendation:
    result = sweep.result
    place = result.start(limit, metric=metric)
    label = result.labels[place]
    tested = result.deciding(place, "test")
    if result.deciding(place).idle:
        return Recommendation(_none_decides(sweep))
    if tested.idle:
        return Recommendation(
            f"No setting is recommended: {label}, the best on validation rows, "
            f"{tested.predicate()} on test rows."
        )
    row = result.means.iloc[place]
    is_plain = row["method"] == BASELINE
    within = bool(row[f"validation_{metric}"] <= limit)
    name = LIMITED[metric]
    gap = gap_size(row[f"test_{metric}"])
    keeps = f"keeps the {name} within {gap_size(limit)} on validation rows"
    figures = f"{name} {gap}, accuracy {percent(row['test_accuracy'])}"
    if is_plain and within:
        choice = f"The plain model {keeps}: nothing to fix there ({figures})."
        inside = _inside(sweep, place, metric)
        return Recommendation(sentences(choice, inside), place)
    if is_plain:
        return Recommendation(
            f"No setting {keeps}, and none is nearer than the plain model ({figures}).",
            place,
        )
    if within:
        choice = f"Best within the {limit_words(limit, name)}: {label} ({figures})."
    else:
        choice = f"No setting {keeps}. The nearest is {label} ({figures})."
    reason, change = _beside_plain(sweep, place, metric)
    return Recommendation(sentences(choice, reason), place, change)


def _beside_plain(sweep: StoredSweep, place: int, metric: str) -> tuple[str, str]:
    """Say why a setting is chosen, where test rows do not show it, and its change.

    A headline is about the gap over all rows: what another gap does is part of the
    reason.
    """
    *plain, model = sweep.compared(place)
    if not plain:
        return "", ""
    reference, model = on_shared_seeds([*plain, model]).models
    data = sweep.run.dataset_id
    table = paired_changes(sweep.store, model, reference, data, sweep.subgroups)
    changes = by_metric(table)
    cost = accuracy_brief("It", changes["accuracy"])
    if metric not in changes:
        return "", cost
    gap = changes[metric]
    name = f"the {LIMITED[metric]}"
    if gap.within_chance:
        return _why(sweep, place, metric), cost
    words = priced_brief("It", gap, changes["accuracy"], name) or cost
    return ("", words) if metric == PARITY else (words, "")


def _why(sweep: StoredSweep, place: int, metric: str) -> str:
    """Say why a setting is chosen whose gap on test rows did not change clearly."""
    means = sweep.result.means
    column = f"validation_{metric}"
    plain = sweep.result.baseline(str(means["method"].iloc[place]))
    if plain is None:
        return ""
    gap, before = (gap_size(means[column].iloc[at]) for at in (place, plain))
    return (
        f"It is named for its {LIMITED[metric]} on validation rows, {gap} against "
        f"{before} of the plain model. On test rows that difference is no more than "
        "chance: the plain model may do as well."
    )


def _inside(sweep: StoredSweep, place: int, metric: str) -> str:
    """Say where a model that is fair over all rows is not fair in subgroups."""
    largest = float(sweep.result.means.iloc[place][f"test_{WORST}"])
    if metric == WORST or not largest > sweep.chance(place):
        return ""
    return (
        f" Inside a subgroup its gap is {gap_size(largest)}, beyond chance: to correct "
        f"that, set a limit on the {LIMITED[WORST]}."
    )


def _none_decides(sweep: StoredSweep) -> str:
    judged = [sweep.result.deciding(place) for place in range(len(sweep.ids))]
    counts = {
        "accept nearly all or none": int(np.sum([fact.alike for fact in judged])),
        "are not clearly better than guessing": int(
            np.sum([fact.guessing for fact in judged])
        ),
        "are one or the other in most seeds": int(
            np.sum([fact.mixed for fact in judged])
        ),
    }
    why = listing([f"{n} {words}" for words, n in counts.items() if n])
    return f"No setting is recommended: on validation rows {why}."
