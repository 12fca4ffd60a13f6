"""The ramp that the reader has chosen: its controls, and how it is solved exactly."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import streamlit as st

from fairdash._escaping import plain
from fairdash._validation import CROSS
from fairdash._wording import group_label, plural
from fairdash.datasets import Subgroups
from fairdash.plots import Picture, group_colours_of
from fairdash.postprocessing import (
    FittedBaselines,
    LocalCorrections,
    RampChoice,
    RampPreview,
    RampThreshold,
    Report,
    Rule,
    ScoredRows,
    Thresholds,
    choose_ramp,
)
from fairdash.ui.selection import OF_DATA, Fields, bound, choose, selection
from fairdash.ui.widgets.blocks import more
from fairdash.ui.widgets.scores import Scored, Source, scored, upload_scores
from fairdash.ui.widgets.state import live_component, store

HAND = "hand"  # the target rate is what the slider says
RANGES = {"gamma": (0.01, 2.0), "rate": (0.0, 1.0), "tolerance": (0.0, 0.5)}
_START = {"gamma": 0.1, "tolerance": 0.0}
_STEP = 0.005  # of the slider of the rate
_HERE = Path(__file__).parent
_TARGETS = {"accuracy": "Most accurate", "balanced": "Balanced", HAND: "By hand"}
_MOST_VALUES = 6  # of a column that groups are crossed with


@dataclass(frozen=True)
class RampFields(Fields):
    """What the address says beside what every page knows."""

    # Columns crossed with the sensitive one into the groups that are corrected.
    crossed: tuple[str, ...] = field(default=(), metadata=OF_DATA)
    # Width of the ramp (gamma); "accuracy", "balanced" or a share (rho); allowed gap
    # of rates (epsilon).
    gamma: float | None = None
    target_rate: str | None = None
    tolerance: float | None = None


class Choice(NamedTuple):
    """What the controls say: scores, groups, target rate."""

    source: Source
    crossed: tuple[str, ...]
    target: str


@dataclass(frozen=True, eq=False)
class Ramp:
    """A ramp, fitted without test rows, and what it does on these."""

    data: Scored
    fitted: RampThreshold
    report: Report

    @property
    def setting(self) -> dict[str, float]:
        """Width, target rate and tolerance."""
        fitted = self.fitted
        return {
            "gamma": fitted.gamma,
            "rate": fitted.target_rate_,
            "tolerance": fitted.tolerance,
        }

    def facts(self, source: Source, name: str) -> tuple[str, ...]:
        """Return the context line: table, scores, rows; ``name`` is of the data set."""
        split = self.data.split
        learned = plural(len(split.calibration_rows), f"{self.data.learned} row")
        test = plural(len(split.test_rows), "test row")
        table = name if source.upload is None else source.upload.name
        return table, source.label, learned, test

    @property
    def feature(self) -> str:
        """The columns of the groups."""
        return CROSS.join(self.data.columns)

    def label(self, group: str) -> str:
        """Return a group after its columns: "sex: Female", "sex × race: Female × b"."""
        return group_label(self.feature, group)

    def starts(self) -> pd.DataFrame:
        """Return group, start of the ramp and rate of the rows it was learned on."""
        return pd.DataFrame(
            {
                "group": [*map(self.label, self.data.split.calibration.names)],
                "start": self.fitted.starts_,
                "rate": self.fitted.expected_rates_.values(),
            }
        )


def fit_ramp(data: Scored, choice: Choice) -> Ramp:
    """Solve the ramp of the selection exactly and report on test rows."""
    gamma, tolerance = (_chosen_number(name, _START[name]) for name in _START)
    learned = data.split.calibration
    by_hand = choice.target == HAND
    fitted = RampThreshold(
        gamma,
        _rate_by_hand(learned) if by_hand else choice.target,
        tolerance,
        score_type=learned.score_type,
    ).fit_rows(learned)
    return Ramp(data, fitted, fitted.report(data.split.test))


def _chosen_number(name: str, usual: float) -> float:
    """Return a number of the selection if a slider can reach it."""
    chosen, (low, high) = getattr(RampFields.here(), name), RANGES[name]
    return chosen if chosen is not None and low <= chosen <= high else usual


def _rate_by_hand(rows: ScoredRows) -> float:
    """Return the rate of the selection, at first one near the most accurate."""
    try:
        rate = float(RampFields.here().target_rate or "")
    except ValueError:
        rate = -1.0
    if 0 <= rate <= 1:
        return rate
    target = "balanced" if rows.y is None else "accuracy"
    return round(rows.target_rate(target, _START["gamma"]) / _STEP) * _STEP


@st.cache_resource(max_entries=8, show_spinner=False)
def previews(
    dataset_id: str, source: Source, crossed: tuple[str, ...]
) -> list[RampPreview]:
    """Return by group what the browser shows while a slider moves."""
    groups = scored(dataset_id, source, crossed).split.calibration.by_group
    return [RampPreview.of(group) for group in groups]


@st.cache_resource(max_entries=8, show_spinner="Fitting other methods…")
def baselines(
    dataset_id: str, source: Source, crossed: tuple[str, ...]
) -> FittedBaselines:
    """Return the methods that the ramp is compared with, fitted on the same rows."""
    return FittedBaselines.fit(scored(dataset_id, source, crossed).split.calibration)


@st.cache_data(max_entries=16, show_spinner=False)
def baseline_table(
    dataset_id: str, source: Source, crossed: tuple[str, ...]
) -> pd.DataFrame:
    """Return accuracy and DI of these methods on test rows."""
    rows = scored(dataset_id, source, crossed).split.test
    return baselines(dataset_id, source, crossed).table(rows)


@st.cache_resource(max_entries=8, show_spinner=False)
def local_corrections(
    dataset_id: str, source: Source, subgroups: Subgroups
) -> LocalCorrections:
    """Return what corrects inside subgroups, sorted once for all widths."""
    split = scored(dataset_id, source, ()).split
    labels = subgroups.label(store().dataset(dataset_id).frame)
    return LocalCorrections.of(
        split.calibration,
        split.test,
        learned_subgroups=labels.iloc[split.calibration_rows],
        reported_subgroups=labels.iloc[split.test_rows],
        min_size=subgroups.min_size,
    )


def covariance_thresholds(
    ramp: Ramp, source: Source, dataset_id: str, subgroups: Subgroups
) -> Thresholds:
    """Return covariance control at the width of the ramp, by subgroup and group."""
    learned = local_corrections(dataset_id, source, subgroups)
    return learned.control(ramp.fitted.gamma).thresholds()


def pick_post(sources: Sequence[Source], dataset_id: str | None) -> Choice:
    """Draw the choice of scores, target rate and groups, and the upload of scores."""
    by_id = {source.id: source for source in sources}
    chosen = st.selectbox(
        "Scores of",
        list(by_id),
        format_func=lambda name: by_id[name].label,
        width=200,
        **bound("scores", _first(sources).id, among=by_id),
    )
    source = by_id[chosen]
    target = _pick_target(source)
    with st.container(width="content"), more("Groups"):
        crossed = () if source.upload else _pick_crossed(dataset_id)
        upload_scores()
    return Choice(source, crossed, target)


def live_ramp(
    ramp: Ramp,
    picture: Picture,
    choice: Choice,
    dataset_id: str,
    hardt: Sequence[Rule] | None,
) -> None:
    """Draw sliders and ramps that follow the hand; on release the selection changes.

    While a slider moves, ramps are interpolated from tables; at rest the browser draws
    what ``picture`` holds: the ramps that were solved here.
    """
    # names of columns are in it, and Streamlit refuses "__" in a component's key
    named = repr((dataset_id, choice.source.id, choice.crossed))
    key = f"live {sha256(named.encode()).hexdigest()}"
    tables = previews(dataset_id, choice.source, choice.crossed)
    by_hand = choice.target == HAND

    def released() -> None:
        moved = dict(st.session_state[key]["setting"])
        rate = {"target_rate": f"{moved['rate']:.10g}"} if by_hand else {}
        choose(gamma=moved["gamma"], tolerance=moved["tolerance"], **rate)

    live_component("live_ramp", _HERE)(
        data={
            "groups": [
                {"name": row["group"], **vars(table)}
                for row, table in zip(picture.figure, tables, strict=True)
            ],
            "colours": group_colours_of(
                [row["group"] for row in picture.figure],
                st.context.theme.type or "light",
            ),
            "hardt": [[rule.score, rule.probability] for rule in hardt or ()],
            "ranges": RANGES,
            "setting": ramp.setting,
            "solved": [[row["start"], row["rate"]] for row in picture.figure],
            "by_hand": by_hand,
        },
        key=key,
        on_setting_change=released,
    )


@st.cache_resource(max_entries=8, show_spinner="Trying widths and target rates…")
def chosen_ramp(
    dataset_id: str,
    source: Source,
    crossed: tuple[str, ...],
    *,
    tolerance: float,
) -> RampChoice:
    """Return the width and the target rate that folds of the tuning rows choose."""
    rows = scored(dataset_id, source, crossed).split.calibration
    return choose_ramp(rows, tolerance=tolerance)


def pick_ramp(ramp: Ramp, choice: Choice, dataset_id: str) -> None:
    """Draw the button that chooses width and target rate by folds."""

    def chosen() -> None:
        found = choice_of(ramp, choice, dataset_id)
        choose(gamma=found.gamma, target_rate=str(found.target_rate))

    st.button(
        "Choose γ and ρ",
        icon=":material/auto_fix_high:",
        help="The width and target rate with the highest expected accuracy on "
        f"{choice.source.learned} rows, each decided by thresholds of four other "
        "fifths.",
        disabled=not choice.source.has_outcome,
        on_click=chosen,
    )


def choice_of(ramp: Ramp, choice: Choice, dataset_id: str) -> RampChoice:
    """Return what folds choose at the tolerance of the ramp."""
    tolerance = ramp.fitted.tolerance
    return chosen_ramp(dataset_id, choice.source, choice.crossed, tolerance=tolerance)


def _first(sources: Sequence[Source]) -> Source:
    """Return the source to start with: the model another page has led to, if any."""
    told = selection()
    led = [s for s in sources if s.model and s.model == told.model]
    of_seed = [source for source in led if source.seed == told.seed]
    return (of_seed or led or sources)[0]


def _pick_target(source: Source) -> str:
    targets = [t for t in _TARGETS if source.has_outcome or t != "accuracy"]
    target: str = st.segmented_control(
        "Target rate (ρ)",
        targets,
        required=True,
        format_func=_TARGETS.__getitem__,
        help=f"The rate that all groups get. Most accurate: on {source.learned} rows, "
        "by their outcome. Balanced: where corrections cancel; needs no outcome. By "
        "hand: the slider.",
        **bound(
            "target_rate",
            targets[0],
            among=targets,
            shown=lambda told: told if told in _TARGETS else HAND,
        ),
    )
    return target


def _pick_crossed(dataset_id: str | None) -> tuple[str, ...]:
    assert dataset_id is not None, "a model or a column has a data set"
    roles = store().dataset_record(dataset_id).roles
    columns = _crossable(dataset_id)
    return tuple(
        st.multiselect(
            plain(f"Cross {roles.sensitive_feature} with"),
            columns,
            max_selections=2,
            help="Every combination of values becomes a group of its own.",
            **bound("crossed", [], among=columns, shown=list, meant=tuple),
        )
    )


@st.cache_data(max_entries=50, show_spinner=False)
def _crossable(dataset_id: str) -> list[str]:
    dataset = store().dataset(dataset_id)
    roles, frame = dataset.roles, dataset.frame
    taken = (roles.target, *roles.sensitive_columns())
    return [
        str(name)
        for name in frame.columns
        if name not in taken and frame[name].nunique() <= _MOST_VALUES
    ]
