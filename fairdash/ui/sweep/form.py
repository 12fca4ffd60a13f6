"""The form of a sweep: methods, a grid of λ and τ, seeds, and what it will cost."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from fairdash._wording import plural
from fairdash.audits import training
from fairdash.jobs import submit
from fairdash.methods import CATALOG
from fairdash.sweep import SweepSpec, grids
from fairdash.ui import pages
from fairdash.ui.selection import OF_DATA, Fields, bound_entry
from fairdash.ui.train.method_form import pick_effort
from fairdash.ui.widgets.blocks import controls, problem
from fairdash.ui.widgets.frame import open_page
from fairdash.ui.widgets.runs import rows_to_train, source
from fairdash.ui.widgets.state import store

_MOST_MODELS = 5_000
_SHARED = "constraints", "estimator"  # by methods
_COUNTS = range(1, 21)  # of seeds
_BESIDE = (
    "The unconstrained model is always trained beside, with the network and the "
    "schedule of each method. A method without λ is tried at as many values of what it "
    "trades by instead, such as a tolerance."
)

_PRESETS = {"quick": "5×5", "paper": "20×10", "custom": "Own"}


def sweep_form(dataset_id: str) -> None:
    """Draw the form and start the sweep when asked to."""
    with controls(3):
        preset: str = st.segmented_control(
            "Grid",
            required=True,
            width="stretch",
            help="Values of λ × values of τ; 20×10 is the ROAD paper's.",
            **_tied("grid", "quick", named=_PRESETS),
        )
        effort = pick_effort(**_tied("effort", "fast", among=["fast", "paper"]))
        n_seeds = st.number_input(
            "Seeds",
            _COUNTS[0],
            _COUNTS[-1],
            help="One split proves little: five seeds show the spread.",
            **_tied("seeds", 1, read=int, among=_COUNTS, by_value=True),
        )
    try:
        axes = {"quick": grids.QUICK, "paper": grids.PAPER}.get(preset) or _custom()
        chosen = _methods()
        if not chosen:
            st.caption("Choose at least one method.")
            return
        record = store().dataset_record(dataset_id)
        shared = _shared(chosen)
        spec = grids.grid_spec(
            source(record),
            chosen,
            axes,
            effort=effort,
            n_seeds=n_seeds,
            subgroups=record.subgroups,
            train_rows=rows_to_train(dataset_id),
            shared=shared,
        )
        cost = training.expected_cost(store(), dataset_id, spec)
    except ValueError as error:
        problem("This grid cannot be trained", error)
        return
    _run_row(dataset_id, spec, cost)


@dataclass(frozen=True)
class FormFields(Fields):
    """Choices of the sweep form in the address."""

    # What is filled in, "name=value".
    sweep_form: tuple[str, ...] = field(default=(), metadata=OF_DATA)


def _methods() -> list[str]:
    swept = grids.swept_methods()

    def read(text: str) -> list[str]:
        return [key for key in text.split(",") if key in swept]

    start = read("adversarial,road")
    chosen: list[str] = st.multiselect(
        "Methods",
        swept,
        format_func=lambda key: CATALOG[key].label,
        help=_BESIDE,
        **_tied("methods", start, read=read, written=",".join),
    )
    lines = (f"**{CATALOG[key].label}** {CATALOG[key].summary}" for key in chosen)
    st.caption("  \n".join(lines))
    return chosen


def _shared(methods: Sequence[str]) -> dict[str, Any]:
    params = {p.name: p for key in methods for p in CATALOG[key].params}
    chosen = {}
    with st.container(horizontal=True):
        for param in [params[name] for name in _SHARED if name in params]:
            tied = _tied(param.name, param.default, named=param.options)
            value = st.selectbox(param.label, width=260, **tied)
            if value != param.default:
                chosen[param.name] = value
    return chosen


def _run_row(dataset_id: str, spec: SweepSpec, cost: training.ExpectedCost) -> None:
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
            open_page(pages.SWEEP, run=run, data=dataset_id)


def _custom() -> grids.GridAxes:
    with controls(2):
        texts = {
            letter: st.text_input(
                f"Values of {letter}",
                help="Numbers with commas between.",
                **_tied(
                    letter, ", ".join(f"{value:g}" for value in start), by_value=True
                ),
            )
            for letter, start in (("λ", grids.QUICK.weights), ("τ", grids.QUICK.taus))
        }
    axes = []
    for letter, text in texts.items():
        try:
            axes.append(tuple(float(part) for part in text.split(",") if part.strip()))
        except ValueError:
            message = f"Values of {letter} are numbers with commas between"
            raise ValueError(f"{message}, got {text!r}.") from None
    return grids.GridAxes(*axes)


def _tied(name: str, default: Any, **how: Any) -> dict[str, Any]:
    return bound_entry("sweep_form", name, default, **how)
