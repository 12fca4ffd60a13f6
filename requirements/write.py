"""Write the pinned requirements with the hashes of every file of each release.

``uv pip compile`` resolves; this parts what it finds into files:

- ``app.txt``: what the app, training and a login need;
- ``dev.txt``: what the tests need beside it;
- ``cuda.txt``: what PyTorch's build for CUDA needs beside its build for CPUs;
- ``oldest.txt``: the oldest versions of the core, with what tests it.

Versions come from constraints.txt and constraints-oldest.txt.
"""

import argparse
import re
import subprocess
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent
PYTHON = "3.11.5"  # the oldest that mkdocstrings takes
EVERYWHERE = "--universal"
LINUX = "--python-platform=linux"
APP = ("app", "train", "cluster", "login")
HEAD = """\
# Written by requirements/write.py; see CONTRIBUTING.md. Do not edit.
# pip install --require-hashes --no-deps -r requirements/{name}
"""


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "wheels",
        type=Path,
        help="folder with the wheels of PyTorch's build for CPUs: their hashes are "
        "written beside those of its build for CUDA",
    )
    return parser.parse_args()


def resolve(source: str, pins: str, *options: str) -> dict[str, str]:
    """Return the lines about each package that `uv pip compile` writes, by name."""
    pinned = ROOT / "build" / "pins.txt"
    pinned.parent.mkdir(exist_ok=True)
    pinned.write_text(pins)
    command = ["uv", "pip", "compile", source, "--constraint", str(pinned), *options]
    command += ["--python-version", PYTHON, "--generate-hashes", "--no-config"]
    command += ["--no-header", "--no-annotate", "--quiet"]
    text = subprocess.run(
        command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True
    ).stdout
    requirements = re.split(r"\n(?! )", text.strip())
    return {one.partition("==")[0]: one for one in requirements}


def hashes(requirement: str) -> set[str]:
    """Return the hashes that the lines about a package name."""
    return set(re.findall(r"--hash=(\S+)", requirement))


def with_hashes(requirement: str, more: set[str]) -> str:
    """Return the lines about a package with more hashes."""
    first = requirement.partition(" \\\n")[0]
    each = sorted(hashes(requirement) | more)
    return " \\\n    ".join([first, *(f"--hash={one}" for one in each)])


def write(name: str, requirements: dict[str, str]) -> None:
    """Write one file, in the order of names."""
    lines = [requirements[one] for one in sorted(requirements)]
    (HERE / name).write_text("\n".join([HEAD.format(name=name) + lines[0], *lines[1:], ""]))


def main() -> None:
    """Write all files."""
    wheels = arguments().wheels
    pins = (ROOT / "constraints.txt").read_text()
    oldest = (ROOT / "constraints-oldest.txt").read_text()

    project = ("pyproject.toml", pins)
    extras = [f"--extra={one}" for one in APP]
    app = resolve(*project, *extras, EVERYWHERE)
    with_cuda = resolve(*project, *extras, LINUX)
    with_cpu = resolve(*project, *extras, LINUX, f"--find-links={wheels}")
    cuda = {name: app.pop(name) for name in with_cuda.keys() - with_cpu.keys()}
    if not cuda:
        raise SystemExit(f"{wheels} holds no wheel of PyTorch's build for CPUs.")
    app["torch"] = with_hashes(app["torch"], hashes(with_cpu["torch"]))
    write("app.txt", app)
    write("cuda.txt", cuda)

    everything = resolve(*project, "--extra=dev", EVERYWHERE)
    known = {**app, **cuda, "torch": everything["torch"]}
    # A package may be needed by the app on Windows and by the tests everywhere.
    dev = {
        name: requirement
        for name, requirement in everything.items()
        if requirement != known.get(name)
    }
    write("dev.txt", dev)

    tested = ROOT / "build" / "tested.in"
    tested.write_text("pytest\npytest-timeout\nhypothesis\n")
    old = {line.partition("==")[0] for line in oldest.splitlines()}
    new = [line for line in pins.splitlines() if line.partition("==")[0] not in old]
    both = "\n".join([oldest, *new])
    write("oldest.txt", resolve("pyproject.toml", both, str(tested), EVERYWHERE))


if __name__ == "__main__":
    main()
