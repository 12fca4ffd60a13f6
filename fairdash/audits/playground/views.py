"""Views of all scenes that come with the package, so that nobody waits for training.

`sample_data/make_surfaces.py` trains and packs them. A view is taken only while scene,
method, stops and engine are those it was trained with; else it is trained anew.
"""

from collections.abc import Callable, Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from fairdash.audits.playground.packing import open_packed, pack
from fairdash.audits.playground.people import People
from fairdash.audits.playground.ramp import METHODS
from fairdash.audits.playground.scenes import SCENES
from fairdash.audits.playground.sliders import second_slider_of, settings_of, slider_of
from fairdash.sweep import RESULTS_VERSION

FOLDER = Path(__file__).parent / "shipped"
_FORM = 1  # of a view; raise it when pages read another one


def shipped(people: People, method: str) -> dict[str, Any] | None:
    """Return the payload of all settings of a method in a scene; None if there is none.

    It is what `join` makes of all parts of `stages_of`.
    """
    scene = _scenes().get(people.key)
    if scene is None:
        return None
    views, restore = _read(FOLDER / f"{scene}.xz")
    if method not in views:
        return None
    view = restore(views[method])
    return view["payload"] if view["key"] == view_key(people, method) else None


def view_key(people: People, method: str) -> str:
    """Return a digest of everything that a view follows from."""
    entry = METHODS[method]
    origin = (
        people.key,
        method,
        slider_of(entry, people),
        second_slider_of(entry),
        sorted(settings_of(entry).items()),
        RESULTS_VERSION,
        _FORM,
    )
    return sha256(repr(origin).encode()).hexdigest()


def write(scene: str, payloads: Mapping[str, dict[str, Any]]) -> None:
    """Write the file of a scene: payloads of all settings, by method."""
    people = SCENES[scene].people()
    views = {
        method: {"key": view_key(people, method), "payload": payload}
        for method, payload in payloads.items()
    }
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / f"{scene}.xz").write_bytes(pack(views))


@cache
def _scenes() -> dict[str, str]:
    """Return the names of scenes by the keys of their people."""
    return {scene.people().key: name for name, scene in SCENES.items()}


@cache
def _read(path: Path) -> tuple[dict[str, Any], Callable[[Any], Any]]:
    """Return views by method, and the function that puts their bytes in place."""
    if not path.exists():
        return {}, lambda view: view
    return open_packed(path.read_bytes())
