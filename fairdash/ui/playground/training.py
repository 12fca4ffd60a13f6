"""Surfaces that were trained, kept for all sessions: the second time is instant."""

import threading
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import CancelledError, wait
from dataclasses import dataclass
from typing import Any

import streamlit as st

from fairdash.audits import playground
from fairdash.jobs import aside
from fairdash.methods import CATALOG

_MOST = 64  # methods on people that are kept, about 0.5 MB each
_WATCHED = "playground watched"  # of the session: what it trains


@dataclass(frozen=True)
class Shown:
    """Methods as far as they are trained.

    Attributes
    ----------
    views : list of dict
        Methods as a browser draws them; empty while one of them has no model yet.
    n_models : tuple of int
        How many settings of each are trained.
    rest : bool
        Whether more stops are being trained.
    """

    views: list[dict[str, Any]]
    n_models: tuple[int, ...]
    rest: bool


class _Progress:
    """How far one method is trained on some people."""

    def __init__(self, people: playground.People, method: str) -> None:
        self.people = people
        self.method = method
        self.surfaces: playground.Surfaces | None = None
        self.payload: dict[str, Any] | None = None
        self._stages = playground.stages_of(CATALOG[method], people)
        self._call: aside.Call | None = None
        self._lock = threading.Lock()

    @property
    def n_models(self) -> int:
        return 0 if self.surfaces is None else len(self.surfaces.grid)

    @property
    def done(self) -> bool:
        return self.n_models >= self._stages[-1].n_settings

    def go_on(self, seconds: float) -> None:
        """Take what has been trained, and begin the next stage if there is one.

        The first stage is waited for, at most so many seconds.
        """
        with self._lock:
            if self._call is None and not self.done:
                self._begin()
            call = self._call
        if call is None:
            return
        if not self.n_models:
            wait([call.future], seconds)
        with self._lock:
            # Another session may have taken it, or cancelled it, meanwhile.
            if self._call is call and call.future.done():
                self._call = None
                self._take(call)

    def _take(self, call: aside.Call) -> None:
        try:
            self.surfaces = call.result()
        except CancelledError:
            return
        self.payload = playground.payload(self.surfaces)
        if not self.done:
            self._begin()

    def _begin(self) -> None:
        stage = next(s for s in self._stages if s.n_settings > self.n_models)
        self._call = aside.aside().call(
            "fairdash.audits.playground:train",
            self.people,
            self.method,
            stops=stage.stops or None,
            second_stops=stage.second_stops,
            known=self.surfaces,
        )

    def cancel(self) -> None:
        """Stop the stage that is being trained, or is to be."""
        with self._lock:
            if self._call is not None:
                self._call.cancel()
            self._call = None


class _Kept:
    """Progress by people and method; what was not used for longest goes first."""

    def __init__(self) -> None:
        self._progress: OrderedDict[tuple[str, str], _Progress] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, people: playground.People, method: str) -> _Progress:
        key = people.key, method
        with self._lock:
            if key not in self._progress:
                self._progress[key] = _Progress(people, method)
            self._progress.move_to_end(key)
            while len(self._progress) > _MOST:
                self._progress.popitem(last=False)
            return self._progress[key]


@st.cache_resource(show_spinner=False)
def _kept() -> _Kept:
    return _Kept()


def trained(
    people: playground.People, methods: Sequence[str], *, seconds: float
) -> Shown:
    """Return methods as far as they are trained; the next stage begins beside the app.

    Parameters
    ----------
    seconds : float
        How long the first stage of each may be waited for.

    Raises
    ------
    ValueError
        If a method cannot be trained on these people.
    ChildProcessError
        If the process that trains has ended.
    """
    progress = [_kept().of(people, method) for method in methods]
    for method in st.session_state.get(_WATCHED, ()):
        if method not in progress:
            method.cancel()
    st.session_state[_WATCHED] = progress
    for method in progress:
        method.go_on(seconds)
    views = [method.payload for method in progress if method.payload is not None]
    return Shown(
        views if len(views) == len(methods) else [],
        tuple(method.n_models for method in progress),
        not all(method.done for method in progress),
    )
