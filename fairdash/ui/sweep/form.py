"""The form of a sweep: methods, a grid of λ and τ, seeds, and what it will cost."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import streamlit as st

from fairdash._wording import duration, plural
from fairdash.jobs import submit
from fairdash.methods import CATALOG, Effort
from fairdash.sweep import BASELINE, MethodGrid, SweepSpec
from fairdash.ui.sweep.time import Expected, expected, n_workers
from fairdash.ui.widgets.blocks import controls, problem
from fairdash.ui.widgets.frame import open_page
from fairdash.ui.widgets.start_runs import source
from fairdash.ui.widgets.state import store
from fairdash.ui.widgets.train_rows import PROPOSED, train_rows_input

SWEEP = "pages/5_Sweep.py"
_MOST_MODELS = 5_000

Preset = Literal["quick", "paper", "custom"]
_PRESETS: dict[Preset, str] = {
    "quick": "Quick 5 × 5",
    "paper": "Paper 20 × 10",
    "custom": "Custom",
}


@dataclass(frozen=True)
class Axes:
    """Values to try of the fairness weight and of the locality."""

    weights: tuple[float, ...]
    taus: tuple[float, ...]


QUICK = Axes((0.5, 1.0, 2.0, 3.5, 5.0), (0.05, 0.1, 0.3, 0.6, 1.0))
# at τ = 0 all weight goes to one row of a group: the paper's grid starts beyond it
PAPER = Axes(
    tuple(np.linspace(0, 5, 20).round(2).tolist()),
    tuple(np.linspace(0.1, 1, 10).round(2).tolist()),
)


def swept_methods() -> list[str]:
    """Return the methods that have a fairness weight to sweep."""
    return [
        key
        for key, method in CATALOG.items()
        if "fairness_weight" in method.stackable()
    ]


def sweep_spec(
    dataset_id: str,
    methods: list[str],
    axes: Axes,
    *,
    effort: Effort,
    n_seeds: int,
    equal: bool = False,
    train_rows: int | None = None,
) -> SweepSpec:
    """Return the grid of every method, with the unconstrained model beside them."""
    record = store().dataset_record(dataset_id)
    values = {"fairness_weight": axes.weights, "tau": axes.taus}
    grids = [MethodGrid(method=BASELINE, effort=effort)]
    for method in methods:
        known = CATALOG[method].stackable()
        params: dict[str, Any] = {
            name: axis for name, axis in values.items() if name in known
        }
        grids.append(MethodGrid(method=method, params=params, effort=effort))
    return SweepSpec(
        data=source(record),
        methods=tuple(grids),
        seeds=tuple(range(n_seeds)),
        subgroups=record.subgroups,
        equal_models=equal,
        train_rows=train_rows,
    )


def sweep_form(dataset_id: str) -> None:
    """Draw the form and start the sweep when asked to."""
    with controls(3):
        preset: Preset = st.segmented_control(
            "Grid",
            list(_PRESETS),
            format_func=_PRESETS.__getitem__,
            default="quick",
            required=True,
            help="Values of λ × values of τ.",
            key=f"{dataset_id} preset",
            persist_state="session",
        )
        effort: Effort = st.segmented_control(
            "Effort",
            ["fast", "paper"],
            format_func=str.capitalize,
            default="fast",
            required=True,
            help="Fast: fewer epochs, larger steps. Paper: the published schedule.",
            key=f"{dataset_id} sweep effort",
            persist_state="session",
        )
        n_seeds = st.number_input(
            "Seeds",
            1,
            20,
            1,
            help="One split proves little: five seeds show the spread.",
            key=f"{dataset_id} sweep seeds",
            persist_state="session",
        )
    axes = QUICK if preset == "quick" else PAPER
    if preset == "custom":
        axes = _custom(dataset_id)
    methods = swept_methods()
    chosen = st.pills(
        "Methods",
        methods,
        selection_mode="multi",
        format_func=lambda key: CATALOG[key].label,
        default=[m for m in ("adversarial", "road") if m in methods],
        help="The unconstrained model is always trained beside them.",
        key=f"{dataset_id} swept",
        persist_state="session",
    )
    if not chosen:
        st.caption("Choose at least one method.")
        return
    equal = len(chosen) > 1 and st.toggle(
        "As many models for every method",
        help="Methods with fewer settings are trained from more starts on the same "
        "splits, so that on a front over single runs none has more chances.",
        key=f"{dataset_id} equal",
        persist_state="session",
    )
    train_rows = train_rows_input(dataset_id, f"{dataset_id} sweep", start=PROPOSED)
    try:
        spec = sweep_spec(
            dataset_id,
            chosen,
            axes,
            effort=effort,
            n_seeds=n_seeds,
            equal=equal,
            train_rows=train_rows,
        )
        cost = expected(dataset_id, spec)
    except ValueError as error:
        problem("This grid cannot be trained", error)
        return
    _run_row(dataset_id, spec, cost)


def _run_row(dataset_id: str, spec: SweepSpec, cost: Expected) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        pressed = st.button(
            "Run sweep",
            type="primary",
            icon=":material/play_arrow:",
            disabled=cost.total > _MOST_MODELS,
            key=f"{dataset_id} run sweep",
        )
        st.caption(_cost_words(cost))
    if pressed:
        name = f"{spec.data.name} · sweep of {plural(cost.total, 'model')}"
        try:
            run = submit(store(), spec, name=name)
        except ValueError as error:
            problem("Nothing was trained: the settings do not fit", error)
        else:
            open_page(SWEEP, run=run, data=dataset_id)


def _cost_words(cost: Expected) -> str:
    """Return how many models, how many of them are there, and about how long."""
    trained = cost.total - cost.missing
    models = plural(cost.total, "model")
    models += f", {trained:,} of them trained before" if trained else ""
    if cost.total > _MOST_MODELS:
        return f"{models}: at most {_MOST_MODELS:,} here; a terminal runs larger ones."
    if not cost.missing:
        return f"{plural(cost.total, 'model')}, all trained before: done in a moment."
    time = f"about {duration(cost.seconds)} with {plural(n_workers(), 'worker')} here"
    guess = "" if cost.measured else ", a guess until a first model is trained"
    return f"{models}: {time}{guess}."


def _custom(dataset_id: str) -> Axes:
    """Draw ends, number and spacing of both axes."""
    with controls(4):
        weights = _axis("λ", 0.0, 5.0, 8, dataset_id)
        taus = _axis("τ", 0.05, 1.0, 5, dataset_id)
    return Axes(weights, taus)


def _axis(
    letter: str, low: float, high: float, number: int, dataset_id: str
) -> tuple[float, ...]:
    key = f"{dataset_id} {letter}"
    ends: tuple[float, float] = st.slider(
        f"{letter} from, to",
        0.0 if low == 0 else 0.01,
        10.0 if letter == "λ" else 2.0,
        (low, high),
        0.01 if letter == "τ" else 0.1,
        key=f"{key} ends",
        persist_state="session",
    )
    n = st.number_input(
        f"Values of {letter}", 1, 50, number, key=f"{key} n", persist_state="session"
    )
    spacing = np.geomspace if letter == "τ" else np.linspace
    return tuple(dict.fromkeys(float(f"{v:.4g}") for v in spacing(*ends, n)))
