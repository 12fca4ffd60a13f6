"""Processor time of imports: pydantic beside the records of the core.

    python benchmarks/bench_imports.py

Each is the least of some starts of a fresh interpreter, less those of an empty program.
"""

import argparse
import resource
import subprocess
import sys

PROGRAMS = {
    "pydantic, one model": "import pydantic\nclass A(pydantic.BaseModel): x: int",
    "fairdash._record": "import fairdash._record",
    "fairdash.audit": "import fairdash; fairdash.audit",
}


def processor_seconds(program: str, starts: int) -> float:
    """Return the least processor time that a program takes."""
    seconds = []
    for _ in range(starts):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", program], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        user = after.ru_utime - before.ru_utime
        system = after.ru_stime - before.ru_stime
        seconds.append(user + system)
    return min(seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--starts", type=int, default=10)
    starts = parser.parse_args().starts
    empty = processor_seconds("pass", starts)
    for name, program in PROGRAMS.items():
        print(f"{name}: {processor_seconds(program, starts) - empty:.3f} s")


if __name__ == "__main__":
    main()
