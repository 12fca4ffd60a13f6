"""What is installed is what was tried: it fits together, and each part is pinned."""

import re
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PINS = {
    canonicalize_name(name): pinned
    for name, pinned in re.findall(
        r"^(\S+)==(\S+)$", (ROOT / "constraints.txt").read_text(), re.MULTILINE
    )
}


def installed():
    """Return the version of all that fairdash and its extras need, by name."""
    extras = PROJECT["optional-dependencies"].values()
    left = [*PROJECT["dependencies"], *(one for group in extras for one in group)]
    waiting, seen, found = [Requirement(one) for one in left], set(), {}
    while waiting:
        one = waiting.pop()
        wanted = {"", *one.extras}
        if one.marker and not any(one.marker.evaluate({"extra": e}) for e in wanted):
            continue
        key = canonicalize_name(one.name), frozenset(one.extras)
        if key in seen:
            continue
        seen.add(key)
        try:
            found[key[0]] = Version(version(one.name)).public  # no "+cpu"
        except PackageNotFoundError:  # for another system
            continue
        for text in requires(one.name) or ():
            need = Requirement(text)
            marker = need.marker
            if not marker or any(marker.evaluate({"extra": e}) for e in wanted):
                need.marker = None
                waiting.append(need)
    del found["fairdash"]  # an extra of it names others
    return found


def test_everything_that_is_needed_is_pinned_at_the_version_that_is_tested():
    found = installed()
    assert len(found) > 100
    assert {name: PINS.get(name) for name in found} == found


def test_what_is_installed_fits_together():
    done = subprocess.run([sys.executable, "-m", "pip", "check"], capture_output=True)
    assert (done.returncode, done.stdout) == (0, b"No broken requirements found.\n")
