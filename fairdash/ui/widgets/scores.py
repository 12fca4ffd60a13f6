"""Where scores come from: trained models, and the reader's own."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import streamlit as st

from fairdash._wording import listing
from fairdash.audits import Setting, question, trials
from fairdash.datasets import Dataset, ScoreColumn, split
from fairdash.metrics import Drawn
from fairdash.postprocessing import ScoreType, SplitScores, as_margins
from fairdash.scored import DecisionRule, File, ScoredModel
from fairdash.ui.selection import OF_RUN, Fields
from fairdash.ui.widgets.state import BY_KEY, store

_OWN_SPLIT = 0  # seed: its test rows judge what is learned on the others


@dataclass(frozen=True)
class ScoreFields(Fields):
    """Choices in the address of pages that post-process scores."""

    # Scores that are post-processed: a trial's key or a column.
    scores: str | None = field(default=None, metadata=OF_RUN)


class ScoreSource(NamedTuple):
    """A model on a split, its scores to be post-processed, and the id of its setting.

    Own scores come from a model of somebody else, so all rows but the test rows serve
    as calibration rows. By its rule the model decides without a correction.
    """

    label: str
    setting: str
    model: ScoredModel

    @property
    def id(self) -> str:
        """Its name in the address."""
        return self.model.source.address

    @property
    def learned(self) -> str:
        """Label of the rows used to learn thresholds."""
        return "calibration" if self.model.is_own else "validation"

    def decided_by(self, rule: DecisionRule) -> "ScoreSource":
        """Return the source with another rule by which its model decides."""
        return self._replace(model=self.model.decided_by(rule))


def post_sources(
    models: Sequence[Setting], own: Sequence[Setting], run_id: str | None = None
) -> list[ScoreSource]:
    """Return the scores that can be post-processed, the most likely choice first.

    The plain model comes first, whose gap is to be corrected, then the model that other
    pages of the run open on, then other models and the reader's own scores.
    """
    if models:
        first = question.ModelInQuestion.of(store(), run_id, models).setting
        ordered = [*trials.beside_plain(first, models), *models]
        models = list({model.id: model for model in ordered}.values())
    sources = []
    for model in models:
        sources += _trained_sources(model)
    sources += map(_own_source, own)
    return sources


def _trained_sources(setting: Setting) -> list[ScoreSource]:
    """Return a source for every seed of a setting, labelled by seed if several."""
    sources = []
    for model in setting.trials:
        label = setting.label
        if len(setting.trials) > 1:
            label = f"{setting.label}, seed {model.seed}"
        sources.append(ScoreSource(label, setting.id, model))
    return sources


def _own_source(setting: Setting) -> ScoreSource:
    model = setting.trials[0].on_split(_OWN_SPLIT)
    noun = "Scores" if isinstance(model.source, File) else "Column"
    return ScoreSource(f"{noun} {setting.score_name}", setting.id, model)


def own_margins(dataset: Dataset, own: ScoreColumn) -> tuple[Any, ScoreType]:
    """Return margins of own scores, which are 0 at their threshold, and their type."""
    values = store().score_values(dataset, own)
    if own.kind == "score" or own.threshold is not None:
        return own.margins(values), "margin"
    return as_margins(values, own.kind), own.kind


def what_margins_are(source: ScoreSource, dataset_id: str) -> str:
    """Say on which scale thresholds of own scores are, if not on that of the scores."""
    column = source.model.score
    if column is None or column.threshold is None:
        return ""
    values = store().score_values(store().dataset(dataset_id), column)
    middle, reach = column.scale(values)
    name = column.column
    return (
        f"Margins of {name} are ({name} − {middle:g}) / {reach:g}: above 0 "
        f"from {column.threshold:g} on. Ramps and thresholds, also exported ones, are "
        "on this scale."
    )


def cannot_be_asked(dataset_id: str | None, about: str) -> str:
    """Say that own scores give no answer about other rows, and the way out."""
    if not dataset_id:
        return ""
    columns = trials.own_scores(store(), dataset_id)
    # Only scores of an ONNX file keep the model that computes more of them.
    names = [
        column.column for column in columns if not getattr(column, "has_model", False)
    ]
    if not names:
        return ""
    return (
        f"{listing(names)}: without a model, scores say nothing {about}. Bring the "
        "model itself on Data, as an ONNX file, or train one."
    )


@dataclass(frozen=True, eq=False)
class Scored:
    """Scores that no part of was used in training."""

    columns: tuple[str, ...]  # that groups are made of
    row_number: Any  # of the test rows, in the file
    split: SplitScores  # rows that thresholds are learned on, and test rows
    learned: str  # what the former are called


@st.cache_resource(max_entries=8, show_spinner="Sorting scores…", hash_funcs=BY_KEY)
def scored(dataset_id: str, source: ScoreSource) -> Scored:
    """Return the scores of a source by group; raises ValueError if groups are tiny."""
    dataset = store().dataset(dataset_id)
    parts = split(dataset, source.model.seed)
    own_scores = source.model.score
    kind: ScoreType = "probability"
    if own_scores is None:
        margins = as_margins(store().artifact(source.model.source.key).scores(), kind)
        calibration = parts.validation
    else:
        margins, kind = own_margins(dataset, own_scores)
        # No row trained these scores: all but the test rows may set thresholds.
        calibration = None
    rows = SplitScores.of(
        margins,
        dataset.sensitive_features,
        calibration=calibration,
        test=parts.test,
        y=dataset.y,
        weight=dataset.sample_weight,
        unit=dataset.unit,
        score_type=kind,
        names=dataset.group_names,  # the order, and so the colours, of other pages
        decided=_decided(dataset_id, source.model),
    )
    columns = tuple(dataset.roles.sensitive_columns())
    return Scored(columns, dataset.row_number[rows.test_rows], rows, source.learned)


def _decided(dataset_id: str, model: ScoredModel) -> Any:
    """Return decisions before a correction; None where the margins say them."""
    if model.rule.usual and model.is_own:
        return None
    decided = trials.decisions(store(), dataset_id, model)
    if isinstance(decided, Drawn):
        return decided.chance
    if model.rule.usual:
        return None
    return decided
