"""Controls of Noisy groups: a model, where noise comes from, the question."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import streamlit as st

from fairdash._escaping import plain
from fairdash.audits import (
    ALL_ROWS,
    Decisions,
    Noise,
    NoisyRows,
    Question,
    beside_trained,
    by_interest,
    columns_of_groups,
    from_levels,
    from_sample,
    known_models,
    opened_on,
    own_models,
)
from fairdash.ui.selection import OF_DATA, Fields, bound, bound_entry
from fairdash.ui.widgets.blocks import kept_upload, more
from fairdash.ui.widgets.scores import Source
from fairdash.ui.widgets.state import store

SOURCES = {
    "unknown": "Nothing",
    "assumed": "Shares set by hand",
    "sample": "A table with both groups",
}
CONSTRAINTS = {
    "true_positive_rate_parity": "Equal opportunity",
    "false_positive_rate_parity": "False positives",
    "equalized_odds": "Equalized odds",
    "demographic_parity": "Demographic parity",
}
_PARITY = "demographic_parity"
_SLACK, _LEVEL = 0.05, 0.1
_DROPPED = ("simulated", "column")  # sources of noise of earlier versions
_SOURCE_HELP = """
What bounds the share recorded wrongly. **Shares set by hand**: you give the share of
each true group. **A table with both groups**: it has the true and the recorded group of
some people.
"""


class Candidate(NamedTuple):
    """A model that can be certified: its name in an address, one source a seed."""

    id: str
    label: str
    sources: tuple[Source, ...]
    method: str = ""

    @property
    def seeds(self) -> frozenset[int]:
        """Seeds of the splits whose test rows it decides."""
        return frozenset(source.seed for source in self.sources)

    @property
    def rows(self) -> str:
        """What the rows are called that it decides."""
        return "rows" if self.seeds == {ALL_ROWS} else "test rows"

    def on(self, other: "Candidate") -> "Candidate":
        """Return it with the seeds of another one alone, so on the same rows."""
        kept = tuple(one for one in self.sources if one.seed in other.seeds)
        return self._replace(sources=kept)


class Chosen(NamedTuple):
    """What the controls ask: a model, groups, what is known of them, a promise."""

    model: Candidate
    rows: NoisyRows
    noise: Noise
    question: Question


def certifiable(dataset_id: str | None, run_id: str | None) -> list[Candidate]:
    """Return what can be certified.

    The models of the run come first, those of most interest ahead, or those of the data
    set if no run is open; then the reader's own scores on the same rows.
    """
    if dataset_id is None:
        return []
    candidates = []
    known = known_models(store(), dataset_id, run_id)
    if run_id is not None:
        snapshot = store().snapshot(run_id, curves=False)
        keys = {trial.key for trial in snapshot.trials}
        known = [m for m in known if any(trial.key in keys for trial in m.trials)]
    known = by_interest(store(), known, run_id)
    for model in beside_trained([*known, *own_models(store(), dataset_id)]):
        seeds = [Source(model.label, trial=t.key, seed=t.seed) for t in model.trials]
        candidates.append(Candidate(model.id, model.label, tuple(seeds), model.method))
    return candidates


def decisions_of(source: Source, dataset_id: str) -> Decisions:
    """Return the test rows of a model's seed, or all rows of own scores."""
    dataset = store().dataset(dataset_id)
    own = source.own
    if own is None:
        return Decisions.of_trial(store(), dataset, source.trial, source.seed)
    scores = store().score_values(dataset, own)
    decided = own.decisions(scores)
    if source.seed == ALL_ROWS:
        return Decisions.of_all(dataset.y, decided, scores)
    return Decisions.of_split(dataset, source.seed, decided, scores)


@dataclass(frozen=True)
class NoiseFields(Fields):
    """What the address says beside what every page knows."""

    # Where noise comes from: "assumed" or "sample".
    noise_source: str | None = None
    # Assumed share of wrong groups, "group=share".
    levels: tuple[str, ...] = field(default=(), metadata=OF_DATA)
    constraint: str | None = None
    # Total variation radius (gamma) and by how much a rate may be worse (alpha).
    radius: float | None = None
    slack: float | None = None


def pick_noise(
    models: Sequence[Candidate], dataset_id: str, run_id: str | None
) -> Chosen:
    """Draw the choice of a model, of the promise and of what is known of the groups.

    Raises ValueError when the noise cannot be as chosen, or scores cannot be read.
    """
    model = _pick_model({one.id: one for one in models}, run_id)
    rows = NoisyRows.of(store().dataset(dataset_id))
    known = CONSTRAINTS if rows.has_outcome else {_PARITY: CONSTRAINTS[_PARITY]}
    constraint: str = st.selectbox(
        "Promise",
        help="No group's true positive rate is below that of all rows; false positive "
        "rates not above; odds: both; demographic parity: positive predictions.",
        **bound("constraint", next(iter(known)), named=known),
    )
    place = st.container(width="content")
    with place, more("Known, slack"), st.container(width=340):
        source: str = st.selectbox(
            "Known of wrong groups",
            help=_SOURCE_HELP,
            **bound("noise_source", "unknown", named=SOURCES),
        )
        if NoiseFields.here().noise_source in _DROPPED:
            st.caption(
                "This link names a source of noise that is no longer offered. The page "
                "assumes nothing instead."
            )
        noise = _NOISE[source](rows)
        slack: float = st.number_input(
            "Slack (α)",
            0.0,
            0.5,
            step=0.01,
            help="By how much a group's rate may be worse.",
            **bound("slack", _SLACK, shown=lambda slack: min(max(slack, 0.0), 0.5)),
        )
    return Chosen(model, rows, noise, Question(constraint, float(slack)))


def _pick_model(models: Mapping[str, Candidate], run_id: str | None) -> Candidate:
    """Draw the choice of a model: that a sweep opens on, else the first."""
    opened = opened_on(store(), run_id) if run_id else None
    first = opened.id if opened and opened.id in models else next(iter(models), None)
    chosen = st.selectbox(
        "Model",
        list(models),
        format_func=lambda name: models[name].label,
        **bound("model", first, among=models),
    )
    return models[chosen]


def _unknown(rows: NoisyRows) -> Noise:
    return Noise(f"unknown {rows.key}", rows.groups)


def _assumed(rows: NoisyRows) -> Noise:
    start, levels = min(_LEVEL, rows.most_assumed), {}
    for name in rows.group_names:
        levels[name] = st.number_input(
            plain(f"Wrong among {rows.label(name)}"),
            0.0,
            1.0,
            step=0.01,
            format="%.3f",
            help="P(noisy group is another | true group is this).",
            **bound_entry("levels", name, start, read=_share, key=rows.key),
        )
    return from_levels(rows.groups, levels)


def _share(text: str) -> float:
    share = float(text)
    if not 0 <= share <= 1:
        raise ValueError(f"{text} is no share: it must lie between 0 and 1.")
    return share


def _sample(rows: NoisyRows) -> Noise:
    st.caption(
        "True and recorded group of some people, the recorded ones by the names that "
        f"this table has: {plain(', '.join(rows.group_names))}."
    )
    table = kept_upload("File with both groups", "sample")
    if table is None:
        return _unknown(rows)
    frame = store().table(table)
    few = columns_of_groups(frame)
    if len(few) < 2:
        raise ValueError(
            "The sample needs two columns of two to 20 values, it has "
            f"{', '.join(few) or 'none'}."
        )
    true, noisy = (
        st.selectbox(
            label,
            few,
            **bound_entry("file_columns", label, first, among=few, key=table),
        )
        for label, first in zip(("True group", "Noisy group"), few, strict=False)
    )
    return from_sample(rows, frame, true, noisy, table)


_NOISE: dict[str, Callable[[NoisyRows], Noise]] = {
    "unknown": _unknown,
    "assumed": _assumed,
    "sample": _sample,
}
