"""The form of a sweep: methods, a grid of λ and τ, seeds, and what it will cost."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import streamlit as st

from fairdash._wording import plural
from fairdash.audits import ExpectedCost, expected_cost
from fairdash.jobs import submit
from fairdash.methods import (
    CATALOG,
    FAMILY_WORDS,
    Effort,
    by_family,
    family_title,
)
from fairdash.sweep import (
    PAPER,
    QUICK,
    SCALINGS,
    GridAxes,
    SweepSpec,
    grid_spec,
    shared_params,
    spaced,
    swept_methods,
)
from fairdash.ui.selection import OF_DATA, Fields, bound_entry, entry
from fairdash.ui.widgets.blocks import controls, problem
from fairdash.ui.widgets.frame import open_page
from fairdash.ui.widgets.runs import rows_to_train, source
from fairdash.ui.widgets.state import store

SWEEP = "pages/5_Sweep.py"
_MOST_MODELS = 5_000
_MOST_VALUES = 50
_COUNTS = range(1, 21)  # of seeds
_BESIDE = (
    "The unconstrained model is always trained beside, with the network and the "
    "schedule of each method. A method without λ is tried at as many values of what it "
    "trades by instead, such as a tolerance."
)

Preset = Literal["quick", "paper", "custom"]
_PRESETS: dict[Preset, str] = {
    "quick": "5×5",
    "paper": "20×10",
    "custom": "Own",
}


def sweep_form(dataset_id: str) -> None:
    """Draw the form and start the sweep when asked to."""
    with controls(3):
        preset: Preset = st.segmented_control(
            "Grid",
            required=True,
            width="stretch",
            help="Values of λ × values of τ; 20×10 is the ROAD paper's.",
            **_tied("grid", "quick", named=_PRESETS),
        )
        effort: Effort = st.segmented_control(
            "Effort",
            ["fast", "paper"],
            format_func=str.capitalize,
            required=True,
            help="Fast: fewer epochs, larger steps. Paper: the published schedule.",
            **_tied("effort", "fast", among=["fast", "paper"]),
        )
        n_seeds = st.number_input(
            "Seeds",
            _COUNTS[0],
            _COUNTS[-1],
            help="One split proves little: five seeds show the spread.",
            **_tied("seeds", 1, read=int, among=_COUNTS),
        )
    axes = {"quick": QUICK, "paper": PAPER}.get(preset) or _custom()
    chosen = _methods()
    if not chosen:
        st.caption("Choose at least one method.")
        return
    record = store().dataset_record(dataset_id)
    with st.popover("Criterion and networks", icon=":material/tune:"):
        how = _shared(chosen)
    try:
        spec = grid_spec(
            source(record),
            chosen,
            axes,
            effort=effort,
            n_seeds=n_seeds,
            subgroups=record.subgroups,
            train_rows=rows_to_train(dataset_id),
            **how,
        )
        cost = expected_cost(store(), dataset_id, spec)
    except ValueError as error:
        problem("This grid cannot be trained", error)
        return
    _run_row(dataset_id, spec, cost)


@dataclass(frozen=True)
class FormFields(Fields):
    """What the address says beside what every page knows."""

    # What is filled in, "name=value".
    sweep_form: tuple[str, ...] = field(default=(), metadata=OF_DATA)


def _methods() -> list[str]:
    """Draw the methods that can be swept over, by family, and return the chosen ones.

    All families are one entry of the address.
    """
    known = swept_methods()
    start = [key for key in ("adversarial", "road") if key in known]
    text = entry(FormFields.here().sweep_form, "methods")
    now = start if text is None else [key for key in text.split(",") if key in known]
    chosen: list[str] = []
    for family, methods in by_family(known).items():
        others = [key for key in now if key not in methods]
        mine = [key for key in now if key in methods]
        picked = st.pills(
            family_title(family),
            methods,
            selection_mode="multi",
            format_func=lambda key: CATALOG[key].label,
            help=f"{FAMILY_WORDS[family]} {_BESIDE}",
            **_tied(
                "methods",
                mine,
                read=lambda _, mine=mine: mine,
                written=lambda picked, others=others: ",".join([*others, *picked]),
                key=family,
            ),
        )
        if picked:
            each = (CATALOG[key] for key in picked)
            lines = (f"**{method.label}** {method.summary}" for method in each)
            st.caption("  \n".join(lines))
        chosen += picked
    return chosen


def _shared(methods: Sequence[str]) -> dict[str, Any]:
    """Draw what several methods can be asked for; return it for `grid_spec`."""
    labels = {p.name: p.label for key in methods for p in CATALOG[key].params}
    defaults = {p.name: p.default for key in methods for p in CATALOG[key].params}
    chosen: dict[str, Any] = {}
    for name, options in shared_params(methods).items():
        value = st.selectbox(
            labels[name],
            **_tied(name, str(defaults[name]), named=options),
        )
        if value != defaults[name]:
            chosen[name] = value
    scaling = st.segmented_control(
        "Numbers scaled to",
        required=True,
        **_tied("scaling", "standard", named=SCALINGS),
    )
    return {"shared": chosen, "scaling": scaling}


def _run_row(dataset_id: str, spec: SweepSpec, cost: ExpectedCost) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        pressed = st.button(
            "Run sweep",
            type="primary",
            icon=":material/play_arrow:",
            disabled=cost.total > _MOST_MODELS,
            key=f"{dataset_id} run sweep",
        )
        words = cost.words()
        if cost.total > _MOST_MODELS:
            words = f"At most {_MOST_MODELS:,} here; a terminal runs larger ones."
        st.caption(words)
    if pressed:
        name = f"{spec.data.name} · sweep of {plural(cost.total, 'model')}"
        try:
            run = submit(store(), spec, name=name)
        except ValueError as error:
            problem("Nothing was trained: the settings do not fit", error)
        else:
            open_page(SWEEP, run=run, data=dataset_id)


def _custom() -> GridAxes:
    """Draw ends, number and spacing of both axes."""
    with controls(4):
        weights = _axis("λ", (0.0, 10.0), (0.0, 5.0), 8, step=0.1)
        taus = _axis("τ", (0.01, 2.0), (0.05, 1.0), 5, step=0.01)
    return GridAxes(weights, taus)


def _axis(
    letter: str,
    limits: tuple[float, float],
    start: tuple[float, float],
    number: int,
    *,
    step: float,
) -> tuple[float, ...]:
    low, high = limits

    def read(text: str) -> tuple[float, float]:
        first, last = map(float, text.split(","))
        if not low <= first <= last <= high:
            raise ValueError(f"{text} lies outside of {low:g} to {high:g}.")
        return first, last

    ends: tuple[float, float] = st.slider(
        f"{letter} from, to",
        low,
        high,
        step=step,
        **_tied(
            f"{letter} ends",
            start,
            read=read,
            written=lambda ends: ",".join(f"{end:.10g}" for end in ends),
        ),
    )
    n = st.number_input(
        f"Values of {letter}",
        1,
        _MOST_VALUES,
        **_tied(f"{letter} n", number, read=int, among=range(1, _MOST_VALUES + 1)),
    )
    return spaced(*ends, n, log=letter == "τ")


def _tied(name: str, default: Any, **how: Any) -> dict[str, Any]:
    """Return what ties a widget of the form to its entry in the address."""
    return bound_entry("sweep_form", name, default, **how)
