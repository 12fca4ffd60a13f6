"""The controls of the Post-process page: scores, target rate, groups, sliders."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import streamlit as st

from fairdash.plots import Picture, group_colours_of
from fairdash.postprocessing import Rule, choose_gamma
from fairdash.ui.postprocess.ramp import HAND, RANGES, Choice, Ramp, previews
from fairdash.ui.selection import bound, choose, selection
from fairdash.ui.widgets.blocks import more
from fairdash.ui.widgets.scores import Source, upload_scores
from fairdash.ui.widgets.state import live_component, store

_HERE = Path(__file__).parent
_TARGETS = {"accuracy": "Most accurate", "balanced": "Balanced", HAND: "By hand"}
_MOST_VALUES = 6  # of a column that groups are crossed with


def pick_post(sources: Sequence[Source], dataset_id: str | None) -> Choice:
    """Draw the choice of scores, groups, target rate and the rows that are shown."""
    by_id = {source.id: source for source in sources}
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        chosen = st.selectbox(
            "Scores of",
            list(by_id),
            format_func=lambda name: by_id[name].label,
            width=240,
            **bound("scores", _first(sources).id, among=by_id),
        )
        source = by_id[chosen]
        on_test = selection().rows == "test"
        target = _pick_target(source, on_test=on_test)
        with st.container(width=150), more("Groups"):
            crossed = () if source.upload else _pick_crossed(dataset_id, on_test)
            center = st.toggle(
                "Middle of the ramp at 0",
                help="Where tolerance leaves a group uncorrected, its ramp has its "
                "middle at score 0 instead of its start.",
                disabled=on_test,
                **_switch("rest", "middle"),
            )
        with st.container(width=170):
            upload_scores()
        st.toggle(
            "Report on test rows",
            help=f"Tune on {source.learned} rows. Once γ, ρ and ε are chosen, this "
            "shows what the choice does on rows that took no part in it.",
            **_switch("rows", "test"),
        )
    return Choice(source, crossed, target, center, on_test)


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
    key = f"live {dataset_id} {choice.source.id} {choice.crossed}"
    tables = previews(dataset_id, choice.source, choice.crossed, center=choice.center)
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
            "locked": choice.on_test,
            "centred": choice.center,
        },
        key=key,
        on_setting_change=released,
    )


def pick_gamma(ramp: Ramp, choice: Choice) -> None:
    """Draw the button that chooses the width of the ramp by folds."""

    def chosen() -> None:
        fitted = ramp.fitted
        found = choose_gamma(
            fitted.sample_,
            target_rate=fitted.target_rate,
            tolerance=fitted.tolerance,
            center=fitted.center,
        )
        choose(gamma=found.gamma)

    st.button(
        "Choose γ",
        icon=":material/auto_fix_high:",
        help=f"The width with the highest expected accuracy on {choice.source.learned} "
        "rows, each decided by thresholds of four other fifths.",
        disabled=choice.on_test or not choice.source.has_outcome,
        on_click=chosen,
    )


def _first(sources: Sequence[Source]) -> Source:
    """Return the source to start with: the model another page has led to, if any."""
    told = selection()
    led = [s for s in sources if s.model and s.model == told.model]
    of_seed = [source for source in led if source.seed == told.seed]
    return (of_seed or led or sources)[0]


def _pick_target(source: Source, *, on_test: bool) -> str:
    targets = [t for t in _TARGETS if source.has_outcome or t != "accuracy"]
    target: str = st.segmented_control(
        "Target rate (ρ)",
        targets,
        required=True,
        format_func=_TARGETS.__getitem__,
        help=f"The rate that all groups get. Most accurate: on {source.learned} rows, "
        "by their outcome. Balanced: where corrections cancel; needs no outcome. By "
        "hand: the slider.",
        disabled=on_test,
        **bound(
            "target_rate",
            targets[0],
            among=targets,
            shown=lambda told: told if told in _TARGETS else HAND,
        ),
    )
    return target


def _pick_crossed(dataset_id: str | None, on_test: bool) -> tuple[str, ...]:
    assert dataset_id is not None, "a model or a column has a data set"
    roles = store().dataset_record(dataset_id).roles
    columns = _crossable(dataset_id)
    return tuple(
        st.multiselect(
            f"Cross {roles.sensitive_feature} with",
            columns,
            max_selections=2,
            help="Every combination of values becomes a group of its own.",
            disabled=on_test,
            **bound("crossed", [], among=columns, shown=list, meant=tuple),
        )
    )


def _switch(field: str, on: str) -> dict[str, Any]:
    """Tie a toggle to a field that holds one text or nothing."""
    return bound(
        field,
        False,
        shown=lambda told: told == on,
        meant=lambda pressed: on if pressed else None,
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
