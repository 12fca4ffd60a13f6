"""What importing costs, and what a core install brings.

Each figure is of a new process, the least of three; the baseline is pandas alone.
"""

import subprocess
import sys
from importlib.metadata import distribution, requires

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
CORE = ("numpy", "scipy", "pandas", "scikit-learn")


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


def core_packages():
    """Return every package that a core install brings, with its megabytes."""
    sizes, waiting = {}, list(CORE)
    while waiting:
        name = waiting.pop().lower()
        if name in sizes:
            continue
        files = distribution(name).files or []
        paths = [file.locate() for file in files]
        sizes[name] = sum(p.stat().st_size for p in paths if p.exists()) / 2**20
        for line in requires(name) or []:
            if ";" not in line:
                plain = "".join(c if c.isalnum() or c in "-_" else " " for c in line)
                waiting.append(plain.split()[0])
    return sizes


if __name__ == "__main__":
    base, _ = cost(CASES["import pandas"])
    for name, code in CASES.items():
        seconds, mb = cost(code)
        print(f"{name:34} {seconds:5.2f} s {mb:5.0f} MB {seconds / base:5.1f} x pandas")
    sizes = core_packages()
    print(f"core install: {len(sizes)} packages, {sum(sizes.values()):.0f} MB")
