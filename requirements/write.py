"""Write the pinned requirements with the hashes of every file of each release.

``uv pip compile`` resolves; this parts what it finds into files:

- ``app.txt``: what the app, training and a login need beside PyTorch;
- ``torch-cpu.txt``: PyTorch's build for CPUs, of which a package index may not know;
- ``torch.txt``: any other build, on Linux that for CUDA with its libraries;
- ``dev.txt``: what the tests need beside these;
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
APP = ("app", "train", "cluster", "login", "statistics")
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
        help="folder with the wheels of PyTorch's build for CPUs",
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


def write(name: str, requirements: dict[str, str]) -> None:
    """Write one file, in the order of names."""
    lines = [requirements[one] for one in sorted(requirements)]
    text = HEAD.format(name=name) + "\n".join(lines) + "\n"
    (HERE / name).write_text(text)


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
    if "+cpu" not in with_cpu["torch"]:
        raise SystemExit(f"{wheels} holds no wheel of PyTorch's build for CPUs.")
    cuda = with_cuda.keys() - with_cpu.keys()
    torch = {name: app.pop(name) for name in (*cuda, "torch")}
    write("app.txt", app)
    write("torch.txt", torch)
    write("torch-cpu.txt", {"torch": with_cpu["torch"]})

    everything = resolve(*project, "--extra=dev", EVERYWHERE)
    known = {**app, **torch}
    # A package may be needed by the app on Windows and by the tests everywhere.
    dev = {
        name: requirement
        for name, requirement in everything.items()
        if requirement != known.get(name)
    }
    write("dev.txt", dev)

    tested = ROOT / "build" / "tested.in"
    tested.write_text("setuptools\npytest\npytest-timeout\nhypothesis\n")
    old = {line.partition("==")[0] for line in oldest.splitlines()}
    new = [line for line in pins.splitlines() if line.partition("==")[0] not in old]
    both = "\n".join([oldest, *new])
    write("oldest.txt", resolve("pyproject.toml", both, str(tested), EVERYWHERE))


if __name__ == "__main__":
    main()
