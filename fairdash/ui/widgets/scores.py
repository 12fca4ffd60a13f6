"""Where scores come from: trained models, the reader's own, uploaded files."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from fairdash._wording import listing
from fairdash.audits import (
    Setting,
    model_in_question,
    own_model,
    own_scores,
    score_name,
    score_of_key,
)
from fairdash.datasets import (
    MOST_GROUPS,
    AddedScores,
    Dataset,
    ScoreColumn,
    ScoreKind,
    split,
)
from fairdash.postprocessing import (
    ScoreType,
    SplitScores,
    TableScores,
    as_margins,
    cross,
    fill_missing,
    guess_score_type,
)
from fairdash.postprocessing import score_columns as columns_of_scores
from fairdash.ui.selection import OF_RUN, Fields, choose
from fairdash.ui.widgets.blocks import TABLE_FILES, keep_fit, more, problem
from fairdash.ui.widgets.state import store

_FILE = "file "
_KEPT = "post-process uploads"
_NONE = "Not in the file"
_KINDS: dict[ScoreType, str] = {"probability": "Probabilities", "margin": "Margins"}


@dataclass(frozen=True)
class ScoreFields(Fields):
    """What the address says beside what every page knows."""

    # Scores that are post-processed: a model's id, a column, an uploaded file.
    scores: str | None = field(default=None, metadata=OF_RUN)


class Upload(NamedTuple):
    """A file of scores and what its columns mean; without an outcome it is ""."""

    table: str
    name: str
    score: str
    groups: tuple[str, ...]
    outcome: str
    positive: str
    kind: ScoreType | None = None  # None in an address of an earlier version

    @property
    def id(self) -> str:
        """What `upload_of` reads it from again."""
        return _FILE + json.dumps(self)


def upload_of(told: str) -> Upload | None:
    """Return the file of scores that an address names, if its table is kept here."""
    if not told.startswith(_FILE):
        return None
    try:
        table, name, score, groups, *rest = json.loads(told.removeprefix(_FILE))
        upload = Upload(table, name, score, tuple(groups), *rest)
        present = set(store().table(table))
    except (ValueError, TypeError, RecursionError):
        return None
    needed = {score, *upload.groups, *filter(None, [upload.outcome])}
    return upload if needed <= present and upload.groups else None


class Source(NamedTuple):
    """A trial of a model on a seed's split, scores of a model that exists, or a file.

    The latter two come from a model of somebody else, so all rows but the test rows
    serve as calibration rows.
    """

    label: str
    model: str = ""
    trial: str = ""
    seed: int = 0
    upload: Upload | None = None

    @property
    def own(self) -> ScoreColumn | None:
        """The reader's own scores, None of a trained model or a file."""
        return score_of_key(self.trial)

    @property
    def id(self) -> str:
        """How the address names it."""
        if self.upload is not None:
            return self.upload.id
        return self.trial if self.own is None else f"column {self.own.column}"

    @property
    def has_outcome(self) -> bool:
        """Whether accuracy can be told."""
        return self.upload is None or bool(self.upload.outcome)

    @property
    def learned(self) -> str:
        """What the rows are called that thresholds are learned on."""
        trained = self.upload is None and self.own is None
        return "validation" if trained else "calibration"


def post_sources(
    models: Sequence[Setting],
    own: Sequence[Setting],
    uploads: Sequence[Upload],
    run_id: str | None = None,
) -> list[Source]:
    """Return what can be post-processed, what one most likely wants first.

    Files come first, since they were just sent, then trials of the model that other
    pages of the run open on, of others, and the reader's own scores.
    """
    if models:
        first = models[model_in_question(store(), models, run_id)]
        models = [first, *(model for model in models if model is not first)]
    sent = [Source(f"File {u.name}, {u.score}", upload=u) for u in uploads]
    trials = [
        Source(
            model.label if len(model.trials) == 1 else f"{model.label}, seed {t.seed}",
            model=model.id,
            trial=t.key,
            seed=t.seed,
        )
        for model in models
        for t in model.trials
    ]
    return [*sent, *trials, *map(_own_source, own)]


def undeclared_columns(dataset_id: str) -> list[Source]:
    """Return columns of probabilities or margins that nobody said are scores."""
    roles = store().dataset_record(dataset_id).roles
    taken = (roles.target, roles.sensitive_feature, *(s.column for s in roles.scores))
    return [
        _own_source(own_model(ScoreColumn(column=name, kind=kind)))
        for name, kind in _score_columns(dataset_id, taken)
    ]


@st.cache_data(max_entries=50, show_spinner=False)
def _score_columns(
    dataset_id: str, taken: tuple[str, ...]
) -> list[tuple[str, ScoreKind]]:
    frame = store().dataset(dataset_id).frame
    found = columns_of_scores(frame, taken)
    return [(name, guess_score_type(frame[name])) for name in found]


def _own_source(model: Setting) -> Source:
    trial = model.trials[0].key
    source = Source("", model=model.id, trial=trial)
    what = "Scores" if isinstance(source.own, AddedScores) else "Column"
    return source._replace(label=f"{what} {score_name(model)}")


def own_margins(dataset: Dataset, own: ScoreColumn) -> tuple[Any, ScoreType]:
    """Return margins of own scores, which are 0 at their threshold, and their type."""
    values = store().score_values(dataset, own)
    if own.kind == "score" or own.threshold is not None:
        return own.margins(values), "margin"
    return as_margins(values, own.kind), own.kind


def margin_scale(source: Source, dataset_id: str | None) -> tuple[float, float] | None:
    """Return what margins of scores with a threshold are from and over, else None."""
    own = source.own
    if own is None or dataset_id is None or own.threshold is None:
        return None
    return own.scale(store().score_values(store().dataset(dataset_id), own))


def what_margins_are(source: Source, dataset_id: str | None) -> str:
    """Say how own scores were read, and on which scale their thresholds are."""
    own, scale = source.own, margin_scale(source, dataset_id)
    if own is None or dataset_id is None:
        return ""
    if scale is not None:
        middle, reach = scale
        return (
            f"Margins of {own.column} are ({own.column} − {middle:g}) / {reach:g}: "
            f"above 0 from {own.threshold:g} on. Ramps and thresholds, also those "
            "taken away, are on this scale."
        )
    declared = [one.column for one in own_scores(store(), dataset_id)]
    if own.kind == "probability" and own.column not in declared:
        return (
            f"{own.column} is read as probabilities, for none is negative. If these "
            "are margins, say so on Data under Scores."
        )
    return ""


def cannot_be_asked(dataset_id: str | None, about: str) -> str:
    """Say that own scores give no answer about other rows, and the way out."""
    if dataset_id is None:
        return ""
    names = [
        score.column
        for score in own_scores(store(), dataset_id)
        if not (isinstance(score, AddedScores) and score.has_model)
    ]
    if not names:
        return ""
    return (
        f"{listing(names)}: scores alone cannot be asked {about}. Bring the model "
        "itself on Data, as an ONNX file, or train one."
    )


@dataclass(frozen=True, eq=False)
class Scored:
    """Scores that no part of was used in training."""

    columns: tuple[str, ...]  # that groups are crossed from
    row_number: Any  # of the test rows, in the file
    split: SplitScores  # rows that thresholds are learned on, and test rows
    learned: str  # what the former are called


@st.cache_resource(max_entries=8, show_spinner="Sorting scores…")
def scored(dataset_id: str, source: Source, crossed: tuple[str, ...]) -> Scored:
    """Return the scores of a source by group; raises ValueError if groups are tiny.

    Of an uploaded file ``crossed`` plays no part: it names its groups itself.
    """
    if source.upload is not None:
        sent = read_upload(source.upload)
        parts = SplitScores.of(
            sent.margins, sent.labels, y=sent.y, score_type=sent.score_type
        )
        groups = source.upload.groups
        return Scored(groups, parts.test_rows, parts, source.learned)
    dataset = store().dataset(dataset_id)
    parts = _of_dataset(dataset, source, crossed)
    columns = (dataset.roles.sensitive_feature, *crossed)
    rows = dataset.row_number[parts.test_rows]
    return Scored(columns, rows, parts, source.learned)


def _of_dataset(
    dataset: Dataset, source: Source, crossed: tuple[str, ...]
) -> SplitScores:
    parts = split(dataset, source.seed)
    if source.own is None:
        probabilities = store().artifact(source.trial).scores()
        score_type: ScoreType = "probability"
        margins, calibration = as_margins(probabilities, score_type), parts.validation
    else:
        margins, score_type = own_margins(dataset, source.own)
        calibration = None
    labels, names = dataset.sensitive_features, dataset.group_names
    if crossed:
        others = [fill_missing(dataset.frame[column]) for column in crossed]
        labels, names = cross(labels, *others), ()
    return SplitScores.of(
        margins,
        labels,
        calibration=calibration,
        test=parts.test,
        y=dataset.y,
        weight=dataset.sample_weight,
        score_type=score_type,
        names=names,  # the order, and so the colours, of other pages
    )


@st.cache_resource(max_entries=8, show_spinner=False)
def read_upload(upload: Upload) -> TableScores:
    """Return what a file says of its rows; ValueError if scores are out of range."""
    return TableScores.read(
        store().table(upload.table),
        upload.score,
        upload.groups,
        upload.outcome,
        upload.positive,
        upload.kind,
    )


def uploads() -> list[Upload]:
    """Return the files of this session, the newest first, and the one addressed."""
    known = {table.sha256 for table in store().tables()}
    sent: list[Upload] = st.session_state.get(_KEPT, [])
    kept = [one for one in sent if one.table in known]  # deleted on Runs, perhaps
    addressed = upload_of(ScoreFields.here().scores or "")
    return kept if addressed is None or addressed in kept else [addressed, *kept]


def sent_here() -> bool:
    """Tell whether a file of scores was uploaded since the page was loaded."""
    return bool(st.session_state.get(_KEPT))


def upload_scores() -> None:
    """Draw the form for a file of scores; a new one becomes the source shown."""
    with more("Upload scores", icon=":material/upload:"), st.container(width=340):
        scores_form("Without the outcome the accuracy stays unknown.")


def scores_form(without_outcome: str) -> None:
    """Draw what the popover holds, saying what is missing without the outcome."""
    st.caption(
        "A column of probabilities or margins of any model, and a column of groups. "
        f"{without_outcome}"
    )
    sent = st.file_uploader(
        "File of scores",
        type=TABLE_FILES,
        max_upload_size=200,
        key="scores file",
    )
    if sent is None:
        return
    try:
        table = keep_fit(sent.getvalue(), sent.name, _check_scores)
        frame = store().table(table)
    except ValueError as error:
        problem(f"{sent.name} was not loaded", error)
        return
    chosen = _columns(frame, table, sent.name)
    if chosen is not None and st.button("Use these scores", type="primary"):
        kept = [one for one in uploads() if one != chosen]
        st.session_state[_KEPT] = [chosen, *kept]
        choose(scores=chosen.id)
        st.rerun()


def _check_scores(digest: str) -> None:
    """Raise ValueError unless a table has a column of scores and one of groups."""
    numbers, few = _scores_and_groups(store().table(digest))
    if not numbers or not few:
        what = "numbers from -1 to 1" if not numbers else "two to twenty values"
        raise ValueError(f"It holds no scores of groups: it has no column of {what}.")


def _scores_and_groups(frame: pd.DataFrame) -> tuple[list[str], list[str]]:
    numbers = [str(c) for c in frame if _may_score(frame[c])]
    few = [str(c) for c in frame if 1 < frame[c].nunique() <= MOST_GROUPS]
    return numbers, few


def _columns(frame: pd.DataFrame, table: str, name: str) -> Upload | None:
    numbers, few = _scores_and_groups(frame)
    score = st.selectbox("Scores", numbers, key=f"{table} score")
    groups = st.multiselect(
        "Groups",
        [column for column in few if column != score],
        default=[column for column in few if column != score][:1],
        max_selections=3,
        help="Several columns are crossed.",
        key=f"{table} groups",
    )
    first = guess_score_type(frame[score])
    kind: ScoreType = first
    if first != "decision":
        kind = st.segmented_control(
            "They are",
            _KINDS,
            default=first,
            required=True,
            format_func=_KINDS.__getitem__,
            help="Margins go from −1 to 1 and are positive above 0, probabilities "
            "above 1/2. A file of margins may hold no negative one.",
            key=f"{table} {score} kind",
        )
    binary = [c for c in frame if frame[c].nunique() == 2 and frame[c].notna().all()]
    outcome = st.selectbox(
        "Outcome",
        [_NONE, *(str(c) for c in binary if str(c) != score and str(c) not in groups)],
        key=f"{table} outcome",
    )
    positive = ""
    if outcome != _NONE:
        values = sorted(frame[outcome].astype(str).unique())
        positive = st.selectbox(
            "Positive outcome", values, index=1, key=f"{table} {outcome} positive"
        )
    if not groups:
        st.caption("Choose at least one column of groups.")
        return None
    known = "" if outcome == _NONE else outcome
    return Upload(table, name, score, tuple(groups), known, positive, kind)


def _may_score(column: "pd.Series[Any]") -> bool:
    return is_numeric_dtype(column) and not is_bool_dtype(column)
