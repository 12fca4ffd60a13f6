"""Rooms that load a module when one of its names is used; extras that are missing."""

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

#: What an extra brings, by the name that is imported.
EXTRAS = {
    "model": ("safetensors",),
    "app": (
        "jinja2", "plotly", "pyarrow", "pydantic", "pydantic_core",
        "python_calamine", "rich", "sqlalchemy", "streamlit",
        "typer", "yaml",
    ),
    "train": ("fairlearn", "torch"),
    "cluster": ("cryptography", "dask", "distributed", "fsspec", "psycopg", "s3fs"),
    "duckdb": ("duckdb",),
    "onnx": ("onnx", "onnxruntime"),
    "login": ("authlib",),
    "statistics": ("pyreadstat",),
}  # fmt: skip


def load(module: str) -> Any:
    """Import a module; ImportError says which extra brings what it needs."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        library = (error.name or "").partition(".")[0]
        for extra, libraries in EXTRAS.items():
            if library in libraries:
                raise ImportError(
                    f'This needs {library}: pip install "fairdash[{extra}]"',
                    name=library,
                ) from error
        raise


def is_installed(library: str) -> bool:
    """Return whether a library can be imported."""
    try:
        import_module(library)
    except ImportError:
        return False
    return True


def lazy(
    package: str, file: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a room.

    Its names are those that its file imports for type checkers, under TYPE_CHECKING.
    """
    homes = _homes(Path(file).read_text(encoding="utf-8"))

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, original = homes[name]
        room = sys.modules[package]
        value = None if module == package else getattr(load(module), original, None)
        if value is None:  # a module, not loaded yet
            value = load(f"{module}.{original}")
        setattr(room, name, value)
        return value

    return get, lambda: sorted(homes)


def _homes(source: str) -> dict[str, tuple[str, str]]:
    return {
        alias.asname or alias.name: (statement.module or "", alias.name)
        for branch in ast.parse(source).body
        if isinstance(branch, ast.If)
        for statement in branch.body
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
    }


class LazyModule(ModuleType):
    """A module that is imported when an attribute of it is first asked for."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what tools ask of any module is no use
            raise AttributeError(name)
        loaded = load(self.__name__)
        self.__dict__.update(vars(loaded))  # from now on without this detour
        return getattr(loaded, name)


if TYPE_CHECKING:
    import narwhals as narwhals
    from scipy import special as special
else:
    special = LazyModule("scipy.special")  # half as long to load as pandas
    narwhals = LazyModule("narwhals")  # a tenth; most callers have tables of pandas
