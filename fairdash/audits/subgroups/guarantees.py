"""A choice with a guarantee inside subgroups that a search found, not those named.

The certificate of a sweep tests on the test rows of its first seed. So subgroups are
searched on the validation rows of that seed, and any found elsewhere are refused.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash._wording import number, p_value, percent
from fairdash.audits.choices import certified_words, thresholds_words
from fairdash.audits.portable import PortableModel
from fairdash.audits.stored import audit_rows_of, read_model
from fairdash.audits.subgroups.facts import FoundSubgroups, searched
from fairdash.audits.sweeps import StoredSweep
from fairdash.audits.trials.rows import Inside, Tested, decided_part
from fairdash.postprocessing import Rule
from fairdash.postprocessing import Thresholds as Rules
from fairdash.sweep import (
    Candidate,
    CertifiedChoice,
    SweepSpec,
    Thresholds,
    choose_certified,
    decides,
)


@dataclass(frozen=True, eq=False)
class Guarantee:
    """What was certified of a sweep, in words and tables.

    Attributes
    ----------
    place : int or None
        Of the chosen setting.
    words : str
        What is certified, or what it would take.
    chosen : DataFrame
        Of the chosen model with its thresholds what validation and test rows say;
        empty without one.
    tested : DataFrame
        In the order tested: Setting, with thresholds that are not 0.5; Accuracy,
        validation; p; Certified.
    """

    choice: CertifiedChoice
    words: str
    chosen: pd.DataFrame
    tested: pd.DataFrame

    @property
    def place(self) -> int | None:
        """Of the chosen setting, None without one."""
        model: Candidate | None = self.choice.model
        return None if model is None else model.place

    def to_bytes(self, sweep: StoredSweep) -> bytes:
        """Return the file of the `certified_model`, what is certified in its README."""
        model = certified_model(sweep, self.choice.model)
        return model.to_bytes(f"{self.words}\n")


def guarantee(
    sweep: StoredSweep,
    limits: Mapping[str, float],
    *,
    confidence: float = 0.95,
    thresholds: Thresholds = "fixed",
    inside: Collection[str] | None = None,
) -> Guarantee:
    """Return the choice of `fairdash.sweep.choose_certified` from a sweep, told.

    Parameters
    ----------
    thresholds : {"fixed", "shared", "by_group"}, default="fixed"
        Which are tried with every model, see `fairdash.sweep.candidate_table`.
    inside : collection of str, optional
        Subgroups, of those that `search_for_guarantee` lists, in which a limit on
        ``worst_1_di`` is to hold; empty for those `offered`. By default it is to hold
        in those the sweep was measured under.
    """
    rows = None
    if inside is not None:
        found = search_for_guarantee(sweep)
        rows = rows_inside(sweep, found, inside or offered(found))
    table = sweep.certification_table(limits, thresholds=thresholds, inside=rows)
    choice = choose_certified(table, limits=limits, confidence=confidence)
    words = certified_words(
        choice,
        limits,
        confidence,
        thresholds=_by_group(sweep, choice.model),
        inside=None if rows is None else list(rows),
    )
    chosen = pd.DataFrame()
    if choice.model is not None:
        chosen = _both_parts(sweep, choice.model, rows)
    return Guarantee(choice, words, chosen, _told(sweep, choice.tested))


def certified_model(sweep: StoredSweep, model: Candidate) -> PortableModel:
    """Return the model of a guarantee to take away, deciding by its thresholds.

    It is that of the first seed, which was tested; P(1) of it is 1 where the score is
    above the threshold of the row's group, else 0.

    Raises
    ------
    ValueError
        If an earlier version kept no more than the model's scores.
    """
    store, spec = sweep.store, SweepSpec.of_run(sweep.run.spec)
    dataset = store.dataset(sweep.run.dataset_id)
    key = sweep.result.keys(model.place)[sweep.first_seed]
    (trial,) = [one for one in sweep.trials_at(model.place) if one.key == key]
    found = read_model(store, trial, audit_rows_of(dataset, trial, spec))
    if model.plain:
        return PortableModel.of(found, trial)
    # scores were compared as they are kept, in single precision: the ends of what is
    # rounded to the threshold
    cuts = np.asarray(model.thresholds, np.float32)
    above = (cuts.astype(float) + np.nextafter(cuts, np.float32(2))) / 2
    rules = {
        name: Rule.steps([(2 * float(cut) - 1, 1.0)])
        for name, cut in zip(dataset.group_names, above, strict=True)
    }
    method = thresholds_words(_by_group(sweep, model))
    return PortableModel.of(found, trial, Rules(rules, method, "probability"))


def search_for_guarantee(sweep: StoredSweep) -> FoundSubgroups:
    """Search the validation rows of a sweep's first seed.

    The decisions are those of the model that is most accurate there: nothing of test
    rows goes into the search, not even the choice of what is searched.
    """
    rows = sweep.result.rows
    mine = rows[(rows["seed"] == sweep.first_seed) & decides(rows, "validation")]
    if mine.empty:
        raise ValueError("No model decides on validation rows, so none is searched.")
    best = int(mine["validation_accuracy"].to_numpy().argmax())
    label = sweep.result.labels[int(sweep.result.place_of_row[mine.index][best])]
    key, data = str(mine["key"].iloc[best]), sweep.run.dataset_id
    trial = Tested(key, sweep.store, data, sweep.first_seed, sweep.subgroups)
    min_size = sweep.subgroups.min_size
    return searched(
        trial, label, sweep.first_seed, "selection_rate", min_size, "validation"
    )


def offered(found: FoundSubgroups) -> list[str]:
    """Return the subgroups with a gap beyond chance, without any the first listed."""
    return list(found.beyond["subgroup"]) or list(found.table["subgroup"][:1])


def rows_inside(
    sweep: StoredSweep, found: FoundSubgroups, names: Collection[str]
) -> dict[str, NDArray[np.bool_]]:
    """Return which rows of the data set are in found subgroups, for a guarantee.

    Raises ValueError if they are not of the validation rows of the sweep's first seed
    only, if a name is not in the list, or if a subgroup has no test rows
    of some group, so that nothing can be tested in it.
    """
    if found.n_confirming or found.seed != sweep.first_seed:
        raise ValueError(
            "These subgroups were confirmed on rows that the limits are tested on, or "
            "are of another split; search the validation rows of seed "
            f"{sweep.first_seed}: `search_for_guarantee`."
        )
    known = dict(zip(found.table["subgroup"], found.table["conditions"], strict=True))
    if absent := [name for name in names if name not in known]:
        raise ValueError(f"The search lists no {absent}; there are {list(known)}.")
    dataset = sweep.store.dataset(sweep.run.dataset_id)
    test = sweep.first_rows("test")
    inside = {}
    for name in names:
        mask = np.ones(dataset.n_rows, bool)
        for condition in known[name]:
            mask &= condition.holds(dataset.frame)
        there = np.bincount(
            dataset.group[test.where][mask[test.where]],
            minlength=len(dataset.group_names),
        )
        if not there.all():
            group = dataset.group_names[int(there.argmin())]
            raise ValueError(
                f"In {name} there are no test rows of {group}, so no limit can be "
                "tested; choose others."
            )
        inside[name] = mask
    return inside


def _both_parts(
    sweep: StoredSweep, model: Candidate, inside: Inside | None
) -> pd.DataFrame:
    """Return accuracy and gaps of a model with its thresholds on both parts."""
    key = sweep.result.keys(model.place)[sweep.first_seed]
    columns = {}
    for name in ("validation", "test"):
        rows = sweep.first_rows(name)
        part = decided_part(rows, inside)
        decided = model.decide(rows.scores(key), part.groups)
        right = np.average(decided == part.y, weights=part.sample_weight)
        (overall, *local) = (float(gap[0]) for gap in part.gaps(decided[None]).values())
        worst = number(max(local)) if local else ""
        columns[name.capitalize()] = [percent(float(right)), number(overall), worst]
    table = pd.DataFrame(columns, index=["Accuracy", "DI", "Largest DI inside"])
    return table.rename_axis("").reset_index()


def _by_group(sweep: StoredSweep, model: Candidate | None) -> dict[str, float]:
    """Return the thresholds of the groups, none where all are 0.5."""
    if model is None or model.plain:
        return {}
    names = sweep.store.dataset(sweep.run.dataset_id).group_names
    return dict(zip(names, model.thresholds, strict=True))


def _told(sweep: StoredSweep, tested: pd.DataFrame) -> pd.DataFrame:
    """Return the models tested for a reader."""
    settings = [sweep.result.labels[model.place] for model in tested["model"]]
    cuts = [_by_group(sweep, model) for model in tested["model"]]
    return pd.DataFrame(
        {
            "Setting": [
                f"{setting}, {thresholds_words(cut)}" if cut else setting
                for setting, cut in zip(settings, cuts, strict=True)
            ],
            "Accuracy, validation": tested["accuracy"],
            "p": tested["p_value"].map(p_value),
            "Certified": tested["certified"].map({True: "yes", False: "no"}),
        }
    )
