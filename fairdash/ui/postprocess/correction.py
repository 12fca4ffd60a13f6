"""The correction that the reader has chosen: method, its dials, and what it does."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import streamlit as st

from fairdash import postprocessing
from fairdash._escaping import plain, visible
from fairdash._validation import CROSS
from fairdash._wording import group_label
from fairdash.datasets import Dataset
from fairdash.scored import DecisionRule, ScoredModel
from fairdash.ui.selection import Fields, SharedFields, bound, bound_entry
from fairdash.ui.widgets.pick_rule import chosen_rule, pick_rule
from fairdash.ui.widgets.scores import Scored, ScoreSource, scored
from fairdash.ui.widgets.state import BY_KEY

RAMP = "ramp"
_MOST_DIALS = 3  # in a row


@dataclass(frozen=True)
class CorrectionFields(Fields):
    """Choices of the Post-process page in the address."""

    # Key of a method of the catalog; parameters of methods other than the ramp,
    # "name=value".
    correction: str | None = None
    dials: tuple[str, ...] = field(default=())


class Choice(NamedTuple):
    """The choices of the controls: scores, target rate, method, parameters."""

    source: ScoreSource
    target: str
    method: str = RAMP
    params: tuple[tuple[str, Any], ...] = ()

    @property
    def correction(self) -> postprocessing.Correction:
        """The entry of the catalog."""
        return postprocessing.corrections()[self.method]


@dataclass(frozen=True, eq=False)
class Corrected:
    """A method, fitted without test rows, and what it does on these."""

    data: Scored
    fitted: postprocessing.PostProcessor
    report: postprocessing.Report

    def facts(self, source: ScoreSource, dataset: Dataset) -> tuple[str, ...]:
        """Return the context line: table, scores, rows or the people they count."""
        split = self.data.split
        noun = dataset.roles.noun
        before = f"before: {source.model.rule.words()}"
        parts = {self.data.learned: split.calibration_rows, "test": split.test_rows}
        sizes = (
            noun.counted(dataset.people_in(rows), part) for part, rows in parts.items()
        )
        return dataset.name, source.label, before, *sizes

    @property
    def feature(self) -> str:
        """The columns of the groups."""
        return CROSS.join(self.data.columns)

    def label(self, group: str) -> str:
        """Return a group after its columns: "sex: Female", "sex × race: Female × b"."""
        return group_label(self.feature, group)


def pick_method() -> str:
    """Draw the choice of a method of the catalog; return its key."""
    named = {
        key: correction.label
        for key, correction in postprocessing.corrections().items()
    }
    method: str = st.selectbox(
        "Method",
        width=150,
        help="What learns a rule for each group from the scores. Evidence, Other "
        "methods, compares them.",
        **bound("correction", RAMP, named=named),
    )
    return method


def other_methods() -> str:
    """Return what each method other than the ramp does, as Markdown."""
    lines = [
        f"**{plain(method.label)}**: {plain(method.summary)} ({plain(method.source)})."
        for key, method in postprocessing.corrections().items()
        if key != RAMP
    ]
    return "\n\n".join([*lines, "Their figure shows the rules as lines."])


def pick_scores(sources: Sequence[ScoreSource]) -> ScoreSource:
    """Draw the choice of scores."""
    by_id = {source.id: source for source in sources}
    chosen = st.selectbox(
        "Scores of",
        list(by_id),
        format_func=lambda name: visible(by_id[name].label),
        width=200,
        **bound("scores", _first(sources).id, among=by_id, shown=_address_of),
    )
    return by_id[chosen]


def rule_beside() -> DecisionRule:
    """Draw the choice of the rule that decides before the method; return it."""
    with st.container(width="content"):
        pick_rule()
    return chosen_rule()


def pick_dials(choice: Choice) -> Choice:
    """Draw the parameters of a method other than the ramp, which has sliders."""
    dials = choice.correction.dials
    if choice.method == RAMP or not dials:
        return choice
    with st.grid(columns=min(len(dials), _MOST_DIALS), min_column_width=190):
        params = tuple((dial.name, _dial(choice.method, dial)) for dial in dials)
    return choice._replace(params=params)


def _dial(method: str, dial: postprocessing.Dial) -> Any:
    tied = bound_entry(
        "dials",
        f"{method} {dial.name}",
        dial.default,
        read=dial.on_slider,
    )
    if dial.options:
        return st.selectbox(
            dial.label,
            list(dial.options),
            format_func=dial.options.__getitem__,
            help=dial.help,
            **tied,
        )
    return st.number_input(
        dial.label,
        dial.low,
        dial.high,
        value=None,
        step=dial.step,
        format="%.3f",
        help=dial.help,
        placeholder="by itself" if dial.default is None else None,
        **tied,
    )


def fit(data: Scored, choice: Choice) -> Corrected:
    """Fit a method other than the ramp and report on test rows."""
    learned = data.split.calibration
    method = choice.correction.make(learned.score_type, **dict(choice.params))
    fitted = method.fit_rows(learned)
    return Corrected(data, fitted, fitted.report(data.split.test))


@st.cache_resource(
    max_entries=8, show_spinner="Fitting other methods…", hash_funcs=BY_KEY
)
def baselines(
    dataset_id: str, source: ScoreSource, method: str
) -> postprocessing.Baselines:
    """Return the methods that ``method`` is compared with, fitted on the same rows."""
    learned = scored(dataset_id, source).split.calibration
    return postprocessing.fit_baselines(learned, beside=method)


def _first(sources: Sequence[ScoreSource]) -> ScoreSource:
    """Return the source of the model and seed that other pages look at, if any."""
    chosen = SharedFields.here()
    of_model = [source for source in sources if source.setting == chosen.model]
    of_seed = [source for source in of_model if source.model.split == chosen.seed]
    candidates = of_seed or of_model or sources
    return candidates[0]


def _address_of(text: str) -> str:
    """Return how a source is named now, of a link that has the whole key of a model."""
    try:
        return ScoredModel.from_key(text).source.address
    except ValueError:
        return text
