"""A choice of a sweep with a guarantee, by the test rows of its first seed."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from fairdash._wording import number, p_value, percent
from fairdash.audits.choices import certified_words, thresholds_words
from fairdash.audits.portable import PortableModel
from fairdash.audits.stored import audit_rows_of, read_model
from fairdash.audits.sweeps import StoredSweep
from fairdash.audits.trials.rows import decided_part
from fairdash.postprocessing import Rule
from fairdash.postprocessing import Thresholds as Rules
from fairdash.sweep import (
    Candidate,
    CertifiedChoice,
    SweepSpec,
    Thresholds,
    choose_certified,
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
) -> Guarantee:
    """Return the choice of `fairdash.sweep.choose_certified` from a sweep, in words.

    Parameters
    ----------
    thresholds : {"fixed", "shared", "by_group"}, default="fixed"
        Which are tried with every model, see `fairdash.sweep.candidate_table`.
    """
    table = sweep.certification_table(limits, thresholds=thresholds)
    choice = choose_certified(table, limits=limits, confidence=confidence)
    words = certified_words(
        choice,
        limits,
        confidence,
        thresholds=_by_group(sweep, choice.model),
    )
    chosen = pd.DataFrame()
    if choice.model is not None:
        chosen = _both_parts(sweep, choice.model)
    return Guarantee(choice, words, chosen, _readable(sweep, choice.tested))


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
    (trial,) = [t for t in sweep.trials_at(model.place) if t.key == key]
    stored = read_model(store, trial, audit_rows_of(dataset, trial, spec))
    if model.plain:
        return PortableModel.of(stored, trial)
    # scores were compared as they are kept, in single precision: the ends of what is
    # rounded to the threshold
    cuts = np.asarray(model.thresholds, np.float32)
    above = (cuts.astype(float) + np.nextafter(cuts, np.float32(2))) / 2
    rules = {
        name: Rule.steps([(2 * float(cut) - 1, 1.0)])
        for name, cut in zip(dataset.group_names, above, strict=True)
    }
    method = thresholds_words(_by_group(sweep, model))
    return PortableModel.of(stored, trial, Rules(rules, method, "probability"))


def _both_parts(sweep: StoredSweep, model: Candidate) -> pd.DataFrame:
    """Return accuracy and gaps of a model with its thresholds on both parts."""
    key = sweep.result.keys(model.place)[sweep.first_seed]
    columns = {}
    for name in ("validation", "test"):
        rows = sweep.first_rows(name)
        part = decided_part(rows)
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


def _readable(sweep: StoredSweep, tested: pd.DataFrame) -> pd.DataFrame:
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
