"""The dependency rules of the house, read from its map and checked at every import."""

import ast
import importlib
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
INITS = sorted((ROOT / "fairdash").rglob("__init__.py"))
_OF_EVERY_ROOM = ("_validation", "_parsing", "_wording", "_deciding", "_escaping")
EVERYWHERE = (
    "APP_FOLDER",
    "__version__",
    "_arrays",
    "_change",
    "_code",
    "_columns",
    "_counts",
    "_lazy",
    "_metric_names",
    "_record",
    "_sklearn",
)


def rooms_on_the_map():
    """Return what each room may import and load, in the order of CONTRIBUTING's table.

    "engine" in the table is every room down to the sweep, as far as it stands above.
    """
    table = (ROOT / "CONTRIBUTING.md").read_text().split("\n| room |")[1]
    imports = {}
    libraries = {}
    for line in table.split("\n\n")[0].splitlines()[2:]:
        names, _, imported, loaded = (
            cell.strip() for cell in line.strip("|").split("|")
        )
        above = [Path(room).stem for room in imports]
        engine = above[: above.index("sweep") + 1] if "sweep" in above else above
        allowed = set(re.findall(r"`(\w+)`", imported))
        if "engine" in imported:
            allowed |= set(engine)
        assert allowed <= set(above), f"{names} may only import rooms above it"
        for room in re.findall(r"`([\w/.]+)`", names):
            imports[room.removesuffix(".py")] = allowed
            libraries[room.removesuffix(".py")] = set(re.findall(r"`(\w+)`", loaded))
    return imports, libraries


MAY_IMPORT, MAY_LOAD = rooms_on_the_map()
KEPT_APART = set().union(*MAY_LOAD.values())
SOURCES = [
    path.relative_to(ROOT)
    for folder in ("fairdash", "pages", "app.py")
    for path in sorted([*(ROOT / folder).rglob("*.py"), ROOT / folder])
    if path.suffix == ".py" and path.exists()
]


@cache
def imported_names(path):
    """Return every imported name in full, such as ``fairdash.datasets.split``."""
    names = []
    for node in ast.walk(ast.parse((ROOT / path).read_text())):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: write absolute imports"
            names += [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
    return names


def room_of(path):
    prefix = f"{path.with_suffix('').as_posix()}/"
    return next((room for room in MAY_IMPORT if prefix.startswith(f"{room}/")), None)


def is_module(name):
    """Tell whether a full name is that of a file, not of a folder or of its content."""
    return (ROOT / name.replace(".", "/")).with_suffix(".py").is_file()


def test_imports_follow_the_house():
    strays = [str(path) for path in SOURCES if room_of(path) is None]
    assert strays == ["fairdash/__init__.py"]
    for path in SOURCES:
        check_imports(path)


def check_imports(path):
    room = room_of(path)
    for name in imported_names(path):
        top, *rest = name.split(".")
        if top in KEPT_APART:
            assert top in MAY_LOAD.get(room, ()), f"{path} may not load {top}"
        if top != "fairdash" or not rest or f"fairdash/{rest[0]}" == room:
            continue
        if room is None or rest[0] in EVERYWHERE:
            continue  # the package's own, not a room's
        assert rest[0] in MAY_IMPORT[room], f"{path} may not import {name}"
        if rest[0] in _OF_EVERY_ROOM:
            continue
        private = [part for part in rest if part.startswith("_")]
        assert not private, f"{path}: {name} is private to its folder"
        parts = [".".join(["fairdash", *rest[: n + 1]]) for n in range(len(rest))]
        if rest[0] == "ui":
            parts.remove(name)  # a page of one file is taken whole, as a folder is
        if len(rest) == 2 and rest[1] in exported()[rest[0]]:
            continue
        inside = next((part for part in parts if is_module(part)), None)
        assert inside is None, (
            f"{path}: {inside} is inside; its room does not hand it on"
        )


def test_the_screen_does_no_mathematics():
    computing = {
        path.relative_to("fairdash/ui").as_posix()
        for path in SOURCES
        if path.is_relative_to("fairdash/ui")
        for name in imported_names(path)
        if name.split(".")[0] in ("numpy", "scipy")
    }
    assert computing == set(), "a room outside `ui` computes what it shows"
    leave = [path.name for path in SOURCES if "st.switch_page" in path.read_text()]
    assert leave == ["selection.py"], "which drops polls that come late"


def test_pages_end_without_dropping_what_was_clicked_meanwhile():
    # st.stop() drops what a reader did in a fragment while the page was drawn
    pages = [*(ROOT / "fairdash" / "ui").rglob("*.py"), *(ROOT / "pages").glob("*.py")]
    stopping = [path.name for path in pages if "st.stop()" in path.read_text("utf-8")]
    assert len(pages) > 40
    assert stopping == []


def test_one_module_of_the_screen_uses_what_streamlit_does_not_promise():
    modules = r"\.runtime|\.delta_generator_singletons|.*error_util"
    private = re.compile(rf"^(from|import) streamlit({modules})", re.MULTILINE)
    sources = (ROOT / "fairdash" / "ui").rglob("*.py")
    using = [path.name for path in sources if private.search(path.read_text("utf-8"))]
    assert using == ["private.py"]


def test_a_page_process_never_loads_torch():
    code = """
import sys
import fairdash.ui, fairdash.jobs, fairdash.sweep, fairdash.store, fairdash.plots
import fairdash.methods.noisy_groups
from fairdash.methods import CATALOG
assert CATALOG
assert "torch" not in sys.modules, "torch was imported"
assert "distributed" not in sys.modules, "dask.distributed was imported"
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


@cache
def exported():
    """Return the names that each room hands on, its ``__all__``."""
    rooms = {}
    for init in sorted((ROOT / "fairdash").glob("*/__init__.py")):
        rooms[init.parent.name] = names_in_all(init)
    return rooms


@cache
def names_in_all(init):
    """Return ``__all__`` of a folder, () where it hands on nothing."""
    for statement in ast.parse(init.read_text()).body:
        targets = getattr(statement, "targets", ())
        if any(ast.unparse(target) == "__all__" for target in targets):
            return ast.literal_eval(statement.value)
    return ()


@pytest.mark.parametrize("init", INITS, ids=lambda path: path.parent.name)
def test_a_folder_names_each_import_in_its_all(init):
    """Checkers of whoever installs the package see no name that is not there."""
    imported = [
        alias.asname or alias.name
        for node in ast.walk(ast.parse(init.read_text()))
        if isinstance(node, ast.ImportFrom)
        and (node.module or "").startswith("fairdash")
        and node.module not in ("fairdash", "fairdash._lazy")
        and node.col_offset <= 4  # those of a function are its own
        for alias in node.names
    ]
    assert set(imported) <= set(names_in_all(init))


def test_every_name_that_a_room_hands_on_is_there():
    missing = [
        f"{room}.{name}"
        for room, names in exported().items()
        for name in names
        if not hasattr(importlib.import_module(f"fairdash.{room}"), name)
    ]
    assert missing == []


def test_benchmarks_import_each_other_in_one_direction():
    scripts = {path.stem: path for path in (ROOT / "benchmarks").rglob("*.py")}
    imports = {
        name: {part.split(".")[0] for part in imported_names(path)} & set(scripts)
        for name, path in scripts.items()
    }
    assert any(imports.values())
    circles = [
        name
        for name in scripts
        if name in set().union(*(reached(item, imports) for item in imports[name]))
    ]
    assert circles == []


def reached(name, imports):
    """Return all that a script imports, and what these import."""
    seen = set()
    remaining = [name]
    while remaining:
        room = remaining.pop()
        if room not in seen:
            seen.add(room)
            remaining += imports[room]
    return seen
