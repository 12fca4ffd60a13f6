"""Surfaces of methods: those that are shipped, and those that are trained and kept."""

import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import CancelledError, wait
from dataclasses import dataclass
from itertools import chain
from typing import Any

import streamlit as st

from fairdash.audits import playground
from fairdash.jobs import aside

_MOST = 64  # methods on people that are kept, about 0.5 MB each
_AHEAD = 2  # stages of a method that are queued at once
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
        self.payload = playground.shipped(people, method)
        self._people = people
        self._method = method
        self._stages = playground.stages_of(playground.METHODS[method], people)
        # Stages that are in the payload.
        self._n_stages = 0 if self.payload is None else len(self._stages)
        self._parts: list[dict[str, Any]] = []  # of these stages
        self._calls: list[list[aside.Call]] = []  # of stages after these
        self._lock = threading.Lock()

    @property
    def n_models(self) -> int:
        if not self._n_stages:
            return 0
        return len(self._stages[self._n_stages - 1].stops.settings)

    @property
    def done(self) -> bool:
        return self._n_stages == len(self._stages)

    def go_on(self, seconds: float) -> None:
        """Take the next stage if it is trained, and begin those that follow.

        The stage is waited for, at most so many seconds.
        """
        with self._lock:
            self._begin()
            awaited = self._calls[0] if self._calls else []
        if not awaited:
            return
        wait([call.future for call in awaited], seconds)
        with self._lock:
            # Another session may have taken it, or cancelled it, meanwhile.
            if self._calls and self._calls[0] is awaited:
                self._take()

    def cancel(self) -> None:
        """Stop what is being trained, or is to be."""
        with self._lock:
            self._drop()

    def _drop(self) -> None:
        for call in chain(*self._calls):
            call.cancel()
        self._calls = []

    def _begin(self) -> None:
        """Queue the next stage, and the one after it, so that no process waits."""
        n_begun = self._n_stages + len(self._calls)
        for stage in self._stages[n_begun : self._n_stages + _AHEAD]:
            self._calls.append([self._call(stops) for stops in stage.parts])

    def _call(self, stops: playground.Stops) -> aside.Call:
        return aside.aside().call(
            "fairdash.audits.playground:train_part", self._people, self._method, stops
        )

    def _take(self) -> None:
        awaited, *later = self._calls
        if not all(call.future.done() for call in awaited):
            return
        try:
            self._parts += [call.result() for call in awaited]
        except CancelledError:
            self._drop()
            return
        except Exception:
            self._drop()
            raise
        stage = self._stages[self._n_stages]
        self.payload = playground.join(self._parts, stage.stops)
        self._n_stages += 1
        self._calls = later
        if self.done:
            self._parts = []
        else:
            self._begin()


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
    """Return methods as far as they are trained; what follows begins beside the app.

    Parameters
    ----------
    seconds : float
        How long the next stage of all may be waited for.

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
    end = time.monotonic() + seconds
    for method in progress:
        method.go_on(max(end - time.monotonic(), 0))
    views = [method.payload for method in progress if method.payload is not None]
    return Shown(
        views if len(views) == len(methods) else [],
        tuple(method.n_models for method in progress),
        not all(method.done for method in progress),
    )


def warm_up() -> None:
    """Load what training needs in the processes beside the app, if it is not there."""
    aside.aside().warm_up("fairdash.audits.playground:warm_up")
