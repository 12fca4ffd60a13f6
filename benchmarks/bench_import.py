"""What importing costs, and what the core and each extra bring.

Each figure is of a new process, the least of three; the baseline is pandas alone.
"""

import subprocess
import sys
from importlib.metadata import distribution, requires

from packaging.requirements import Requirement

REPEATS = 3
CODE = """
import resource, time
start = time.perf_counter()
{}
mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(time.perf_counter() - start, mb)
"""
HELP = "import sys; sys.argv = ['fairdash', '--help']\nfrom fairdash.cli import app\n"
HELP += "import contextlib, io\nwith contextlib.redirect_stdout(io.StringIO()):\n"
HELP += "    with contextlib.suppress(SystemExit): app()"
CASES = {
    "import pandas": "import pandas",
    "import fairdash; fairdash.audit": "import fairdash; fairdash.audit",
    "fairdash --help": HELP,
}
EXTRAS = ("app", "train", "cluster", "duckdb", "onnx", "login")


def cost(code):
    """Return seconds and megabytes of a new process."""
    runs = [
        subprocess.run(
            [sys.executable, "-c", CODE.format(code)],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        for _ in range(REPEATS)
    ]
    return min(float(s) for s, _ in runs), min(float(mb) for _, mb in runs)


def packages_of(extra=""):
    """Return what an install brings, with its megabytes; an extra with the core."""
    sizes = {}
    waiting = [("fairdash", extra)]
    while waiting:
        name, wanted = waiting.pop()
        for line in requires(name) or []:
            needed = Requirement(line)
            if needed.marker and not needed.marker.evaluate({"extra": wanted}):
                continue
            if needed.name.lower() not in sizes:
                sizes[needed.name.lower()] = megabytes(needed.name)
                chosen = [*needed.extras] or [""]
                waiting += [(needed.name, first) for first in chosen]
    return sizes


def megabytes(name):
    """Return what an installed package takes on the disk, in whole blocks as `du`."""
    paths = [file.locate() for file in distribution(name).files or []]
    blocks = sum(path.stat().st_blocks for path in paths if path.exists())
    return blocks * 512 / 2**20


if __name__ == "__main__":
    base, _ = cost(CASES["import pandas"])
    for name, code in CASES.items():
        seconds, mb = cost(code)
        print(f"{name:34} {seconds:5.2f} s {mb:5.0f} MB {seconds / base:5.1f} x pandas")
    core = packages_of()
    print(f"core: {len(core)} packages, {sum(core.values()):.0f} MB")
    for extra in EXTRAS:
        more = {k: v for k, v in packages_of(extra).items() if k not in core}
        largest = sorted(more, key=more.get)[-3:][::-1]
        size = sum(more.values())
        print(f"{extra}: {len(more)} more, {size:.0f} MB, {', '.join(largest)}")
