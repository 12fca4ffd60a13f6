"""Where the reader stands in a sweep: one setting, kept in the page's address.

The address is the truth, so a refresh, the Back button and a link that was sent show
the same setting. A page opened without one goes on where this session was, or starts at
the most accurate setting within the limit.
"""

from collections.abc import Mapping, Sequence

import streamlit as st

from fairdash.results import Point, Sweep, Value, beside_plain, same_model
from fairdash.store import RunRecord
from fairdash.ui.widgets.pick_models import known_models


def words(value: Value) -> str:
    """Return a value of a parameter as the address writes it: exactly."""
    return value if isinstance(value, str) else f"{value:.10g}"


def labels(values: Sequence[Value]) -> list[str]:
    """Return values as the screen writes them: four digits, more to tell them apart."""
    short = [v if isinstance(v, str) else f"{v:.4g}" for v in values]
    return short if len(set(short)) == len(short) else [words(v) for v in values]


def current(sweep: Sweep, run: RunRecord, limit: float) -> tuple[str, Point]:
    """Return the method and the point to show, and put them in the address."""
    told = {str(name): str(value) for name, value in st.query_params.items()}
    remembered: dict[str, str] = st.session_state.get(_memory(run), {})
    for source in (told, remembered):
        method = source.get("method", "")
        if method in sweep.methods:
            point = _read(sweep.axes(method), source)
            if point is not None:
                _go(sweep, run, method, point)
                return method, point
    place = sweep.start(limit)
    method, point = str(sweep.means["method"].iloc[place]), sweep.point(place)
    _go(sweep, run, method, point)
    return method, point


def choose(sweep: Sweep, run: RunRecord, place: int) -> None:
    """Go to a setting, before sliders are drawn or in a callback."""
    method = str(sweep.means["method"].iloc[place])
    if method in sweep.methods:
        _go(sweep, run, method, sweep.point(place))
        carry(sweep, run, place)


def move(
    sweep: Sweep, run: RunRecord, method: str, change: Mapping[str, Value]
) -> None:
    """Change some values of the point, in a callback; of another method the nearest."""
    remembered: dict[str, str] = st.session_state[_memory(run)]
    point = {
        name: _nearest(values, remembered.get(name))
        for name, values in sweep.axes(method).items()
    } | dict(change)
    _go(sweep, run, method, point)
    place = sweep.position(method, point)
    if place is not None:
        carry(sweep, run, place)


def carry(sweep: Sweep, run: RunRecord, place: int) -> str:
    """Let the pages that show one model open on this one; return its name there."""
    data = run.dataset_id
    known = known_models(data, run.id)
    model = next(m for m in known if same_model(m, sweep.models[place]))
    compared = [one.label for one in beside_plain(model, known)]
    st.session_state[f"{data} {run.id} models"] = compared
    st.session_state[f"{data} {run.id} weighted"] = model.label
    st.session_state[f"{data} {run.id} audited"] = model.label
    st.session_state[f"{data} {run.id} certified"] = model.label
    alone = len(model.trials) == 1
    first = "" if alone else f", seed {model.trials[0].seed}"
    st.session_state[f"{data} scores"] = f"{model.label}{first}"
    return model.label


def _go(sweep: Sweep, run: RunRecord, method: str, point: Point) -> None:
    told = {"method": method} | {name: words(value) for name, value in point.items()}
    st.session_state[_memory(run)] = told
    params = {name for axes in map(sweep.axes, sweep.methods) for name in axes}
    kept = {
        name: value for name, value in st.query_params.items() if name not in params
    }
    if kept | told != st.query_params.to_dict():
        st.query_params.from_dict(kept | told)


def _memory(run: RunRecord) -> str:
    return f"{run.id} point"


def _read(axes: Mapping[str, Sequence[Value]], told: Mapping[str, str]) -> Point | None:
    """Return the values that were told, None unless each is one of its axis."""
    point = {}
    for name, values in axes.items():
        named = {words(value): value for value in values}
        if told.get(name) not in named:
            return None
        point[name] = named[told[name]]
    return point


def _nearest(values: Sequence[Value], told: str | None) -> Value:
    """Return the value that was told, else the nearest one, else the first."""
    named = {words(value): value for value in values}
    if told in named:
        return named[told]
    if told is None or any(isinstance(value, str) for value in values):
        return values[0]
    return min(values, key=lambda value: abs(float(value) - float(told)))
