"""A plane between its grid points: any λ and τ at once, and the exact model beside."""

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from fairdash import plots
from fairdash._wording import Kpi, number, percent
from fairdash.jobs import submit, wake
from fairdash.methods import CATALOG, Effort
from fairdash.store import RunRecord, TrialRecord
from fairdash.sweep import MethodGrid, SweepSpec, summarise_ratio
from fairdash.ui.results.found import AXES, PARITY, TAU, WEIGHT, Sweep
from fairdash.ui.results.results import model_label
from fairdash.ui.sweep.plane_model import (
    Shown,
    at_point,
    exact_model,
    exact_spec,
    weights_at,
)
from fairdash.ui.widgets.blocks import controls, figure, heading, kpi_row, problem
from fairdash.ui.widgets.state import store

_STEPS = 100  # of a slider over its range
_HOW = """
One network was trained for all λ and τ together, so any setting of the range can be
looked at without training. It is an **approximation**: the same setting trained on its
own comes out somewhat different, the more so in small subgroups. *Train this setting
exactly* trains it on its own and shows both.
"""


def draw_planes(run: RunRecord, sweep: Sweep) -> None:
    """Draw continuous sliders for every plane of a finished sweep, if it has any."""
    for method in dict.fromkeys(model.method for model in sweep.models):
        if CATALOG[method].approximates:
            trials = next(m.trials for m in sweep.models if m.method == method)
            _draw(run, sweep, trials)


def _draw(run: RunRecord, sweep: Sweep, trials: tuple[TrialRecord, ...]) -> None:
    """Draw one plane; once a second while the exact model of a setting trains."""
    waiting = any(_is_exact(record, run) for record in store().open_runs())
    interval = os.environ.get("FAIRDASH_POLL", "1s") if waiting else None

    @st.fragment(run_every=interval)
    def explore() -> None:
        point, effort = _controls(run, trials[0])
        spec = exact_spec(run, trials, point, effort)
        shown = at_point(run, trials, point)
        exact = exact_model(run, spec)
        kpi_row(_kpis(shown, exact, float(run.spec.get("di_limit", 0.05))))
        _ask(run, spec, exact, waiting)
        left, right = st.columns(2, gap="medium")
        with left:
            _draw_front(run, sweep, trials[0].method, shown, exact)
            _draw_weights(run, trials[0], point)
        with right:
            _draw_local(run, shown, exact)

    explore()


def _controls(run: RunRecord, trial: TrialRecord) -> tuple[dict[str, float], Effort]:
    method, params = CATALOG[trial.method], trial.params
    ends = {
        WEIGHT: (0.0, float(params["max_fairness_weight"])),
        TAU: (float(params.get("min_tau", 0)), float(params.get("max_tau", 0))),
    }
    key = f"{run.id} {method.key}"
    heading(f"{method.label}: any setting, approximately", _HOW)
    point: dict[str, float] = {}
    with controls(4):
        for param in method.params:
            if param.stackable:
                low, high = ends[param.name]
                point[param.name] = st.slider(
                    param.title,
                    low,
                    high,
                    float(np.clip(param.default, low, high)),
                    (high - low) / _STEPS,
                    help=param.help,
                    key=f"{key} any {param.name}",
                    persist_state="session",
                )
        effort: Effort = st.segmented_control(
            "Exact training",
            ["fast", "paper"],
            format_func=str.capitalize,
            default="paper",
            required=True,
            help="How the exact model is trained. Paper: the published schedule.",
            key=f"{key} exact effort",
            persist_state="session",
        )
    return {name: float(f"{value:.6g}") for name, value in point.items()}, effort


def _ask(run: RunRecord, spec: SweepSpec, exact: Shown | None, waiting: bool) -> None:
    """Offer to train the setting exactly, or say how far that is."""
    asked = spec.model_dump(mode="json", exclude_none=True)
    training = [record for record in store().open_runs() if record.spec == asked]
    if training:
        share = store().snapshot(training[0].id).share
        st.progress(share, "Training this setting exactly")
        wake(store())
        return
    if waiting and not any(_is_exact(r, run) for r in store().open_runs()):
        st.rerun()
    if exact is not None:
        st.caption(f"Cards and figures show {exact.label} beside the approximation.")
        return
    if st.button(
        "Train this setting exactly",
        icon=":material/target:",
        key=f"{run.id} {spec.methods[0].method} exactly",
    ):
        grid = spec.methods[0]
        try:
            submit(store(), spec, name=f"{model_label(grid.method, _point(grid))}")
        except ValueError as error:
            problem("The setting was not trained", error)
        else:
            st.rerun()


def _kpis(shown: Shown, exact: Shown | None, limit: float) -> list[Kpi]:
    kpis = []
    for metric, label, style in (
        ("accuracy", "Accuracy", percent),
        (PARITY, "DI", number),
        ("worst_1_di", "Worst-1-DI", number),
    ):
        note = "approximation"
        if exact is not None:
            note = f"exactly {style(exact.metrics[f'test_{metric}'])}"
        kpis.append(Kpi(label, style(shown.metrics[f"test_{metric}"]), note))
    judged = shown.metrics[f"validation_{PARITY}"]
    kept = "yes" if judged <= limit else "no"
    return [
        *kpis,
        Kpi("Within the limit", kept, f"DI {number(judged)} on validation"),
    ]


def _draw_front(
    run: RunRecord, sweep: Sweep, method: str, shown: Shown, exact: Shown | None
) -> None:
    limit = float(run.spec.get("di_limit", 0.05))
    models = sweep.points(AXES, limit, "validation", single=False)
    models = models[models["method"] == CATALOG[method].label]
    for model in (exact, replace(shown, colour_role="chosen")):
        if model is not None:
            models = pd.concat([models, _mark(model, limit)], ignore_index=True)
    figure(
        plots.plot_front(models, sweep.single_runs(AXES).iloc[:0]),
        finding="Where this setting lies among those of the grid",
        caption=f"Cross: {shown.label}. Circles: settings of the grid."
        + ("" if exact is None else f" Filled circle: {exact.label}, trained exactly."),
        alt=plots.describe_front(models, AXES),
        key=f"{run.id} {method} any front",
    )


def _mark(model: Shown, limit: float) -> pd.DataFrame:
    """Return a model as a row of `Sweep.points`, on no front."""
    known = {
        "label": model.label,
        "method": model.label,
        "colour_role": model.colour_role,
        "x": model.metrics[f"test_{AXES[0]}"],
        "y": model.metrics[f"test_{AXES[1]}"],
        "x_sd": np.nan,
        "y_sd": np.nan,
        "within": model.metrics[f"validation_{PARITY}"] <= limit,
        "front": False,
        "line": False,
        "knee": False,
    }
    return pd.DataFrame([known])


def _draw_local(run: RunRecord, shown: Shown, exact: Shown | None) -> None:
    models = [shown, *([exact] if exact is not None else [])]
    cells = pd.concat([m.local.assign(label=m.label) for m in models])
    drawn = pd.DataFrame(
        {
            "label": [m.label for m in models],
            "colour_role": [m.colour_role for m in models],
            PARITY: [m.metrics[f"test_{PARITY}"] for m in models],
        }
    )
    groups = store().dataset(run.dataset_id).group_names
    figure(
        plots.plot_local_di(cells, drawn, groups=groups),
        finding="Local DI of this setting",
        caption="Test rows, 95% intervals, "
        + ("approximation." if exact is None else "approximation and exact model."),
        alt=plots.describe_local_di(cells, drawn),
        table=cells,
        key=f"{run.id} {shown.colour_role} any local",
    )


def _draw_weights(
    run: RunRecord, trial: TrialRecord, point: Mapping[str, float]
) -> None:
    ratio, groups = weights_at(run, trial, point)
    if ratio is None:
        return
    found = summarise_ratio(ratio, groups)
    drawn = plots.RatioHistogram(
        edges=found["edges"], density=found["density"], quantiles=found["quantiles"]
    )
    figure(
        plots.plot_ratio_histogram(
            drawn, groups=store().dataset(run.dataset_id).group_names
        ),
        finding=plots.ratio_finding(drawn),
        caption=f"r of the training rows at this setting, seed {trial.seed}.",
        alt=plots.describe_ratio_histogram(drawn),
        key=f"{run.id} {trial.method} any ratio",
    )


def _is_exact(record: RunRecord, run: RunRecord) -> bool:
    """Tell whether a run trains one setting of a method on the same data."""
    same = record.dataset_id == run.dataset_id and record.id != run.id
    return same and len(record.spec["methods"]) == 1


def _point(grid: MethodGrid) -> dict[str, Any]:
    return {name: grid.params[name] for name in (WEIGHT, TAU) if name in grid.params}
