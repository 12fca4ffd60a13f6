"""The version of the code that an answer follows from, to keep answers beside data."""

from functools import cache
from hashlib import sha256
from pathlib import Path

from fairdash import __version__

_PACKAGE = Path(__file__).parent
_KINDS = (".py", ".toml")  # files that decide what rooms compute


@cache
def version_of(*rooms: str) -> str:
    """Return the version of the code of rooms, in hexadecimal digits.

    It changes with every change of a file in one of the folders ``rooms`` of this
    package, of a file that every room imports, and of the package's version. An answer
    that is kept with it is never mistaken for that of other code.
    """
    digest = sha256(__version__.encode())
    folders = sorted(_PACKAGE / room for room in rooms)
    files = sorted(_PACKAGE.glob("_*.py"))
    for folder in folders:
        files += sorted(path for path in folder.rglob("*") if path.suffix in _KINDS)
    for path in files:
        digest.update(path.relative_to(_PACKAGE).as_posix().encode())
        digest.update(sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]
