"""What is installed is what was tried: it fits together, and each part is pinned."""

import re
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

HASHED = re.compile(
    r"^(\S+?)==(\S+)((?: ;.*)?)((?: \\\n {4}--hash=sha256:[0-9a-f]{64})+)$", re.M
)
ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PINS = {
    canonicalize_name(name): pinned
    for name, pinned in re.findall(
        r"^(\S+)==(\S+)$", (ROOT / "constraints.txt").read_text(), re.MULTILINE
    )
}


def hashed(name):
    """The requirements of a file: name, version and marker of each, all with hashes."""
    text = (ROOT / "requirements" / f"{name}.txt").read_text()
    matches = HASHED.findall(text)
    assert len(matches) == len(re.findall(r"^\w", text, re.MULTILINE))  # none without
    return [
        (canonicalize_name(first), Version(version).public, marker.removeprefix(" ;"))
        for first, version, marker, _ in matches
    ]


def installed():
    """Return the version of all that fairdash and its extras need, by name."""
    extras = PROJECT["optional-dependencies"].values()
    remaining = [
        *PROJECT["dependencies"],
        *(requirement for group in extras for requirement in group),
    ]
    waiting = [Requirement(requirement) for requirement in remaining]
    seen = set()
    requirements = {}
    while waiting:
        requirement = waiting.pop()
        wanted = {"", *requirement.extras}
        if requirement.marker and not any(
            requirement.marker.evaluate({"extra": e}) for e in wanted
        ):
            continue
        key = canonicalize_name(requirement.name), frozenset(requirement.extras)
        if key in seen:
            continue
        seen.add(key)
        try:
            requirements[key[0]] = Version(
                version(requirement.name)
            ).public  # no "+cpu"
        except PackageNotFoundError:  # for another system
            continue
        for text in requires(requirement.name) or ():
            need = Requirement(text)
            marker = need.marker
            if not marker or any(marker.evaluate({"extra": e}) for e in wanted):
                need.marker = None
                waiting.append(need)
    del requirements["fairdash"]  # an extra of it names others
    return requirements


def test_everything_that_is_needed_is_pinned_at_the_version_that_is_tested():
    versions = installed()
    assert len(versions) > 100
    assert {name: PINS.get(name) for name in versions} == versions


def test_every_pin_is_needed_and_every_file_of_it_has_its_hash():
    files = {name: hashed(name) for name in ("app", "torch", "torch-cpu", "dev")}
    build = {name for name, _, _ in files["torch"]} - {"torch"}
    wanted = {
        name: version
        for rows in files.values()
        for name, version, marker in rows
        if name not in build and (not marker or Marker(marker).evaluate())
    }
    pinned_versions = {name: PINS[name] for name in installed()}
    assert wanted == pinned_versions
    elsewhere = {name: v for rows in files.values() for name, v, _ in rows}
    assert {name: elsewhere.get(name) for name in PINS} == PINS


def test_the_oldest_versions_have_hashes_too():
    oldest = (ROOT / "constraints-oldest.txt").read_text()
    pins = dict(re.findall(r"^(\S+)==(\S+)$", oldest, re.MULTILINE))
    expected = {name: version for name, version, _ in hashed("oldest")}
    assert len(pins) >= 4
    assert {name: expected[name] for name in pins} == pins


def test_everything_that_make_installs_has_its_hash():
    text = (ROOT / "Makefile").read_text()
    assert "HASHED := $(INSTALL) --require-hashes" in text
    assert "EDITABLE := $(INSTALL) --no-build-isolation --editable ." in text
    lines = [line for line in text.splitlines() if re.search(r"pip|-r |\$\(INST", line)]
    files = [line for line in lines if " -r " in line]
    assert len(files) == 5
    assert all("$(HASHED) -r requirements/" in line for line in files)
    assert sum("-m pip" in line for line in lines) == 1  # INSTALL itself


def test_no_requirement_names_where_it_comes_from():
    for path in (ROOT / "requirements").iterdir():
        assert "://" not in path.read_text(), path


def test_what_is_installed_fits_together():
    done = subprocess.run([sys.executable, "-m", "pip", "check"], capture_output=True)
    assert (done.returncode, done.stdout) == (0, b"No broken requirements found.\n")
