"""Time and peak memory of reading a large CSV file, and what the box costs a small one.

    python benchmarks/bench_reading.py [ROWS]

Each way to read the large file runs in a process of its own: pandas.read_csv and
to_parquet, the baseline; `convert_table`, which the store uses; and `read_table`. The
small one is read here and in the box in turn, thirty times each.
"""

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

from fairdash.datasets import read_table, reading

CHUNK = 500_000
SMALL, TURNS = 1_000, 30  # rows of a small table, times it is read


def make_file(path: Path, n_rows: int) -> None:
    rng = np.random.default_rng(0)
    for start in range(0, n_rows, CHUNK):
        n = min(CHUNK, n_rows - start)
        table = {"sex": rng.choice(["Female", "Male"], n)}
        table |= {f"place{i}": rng.choice([*"abcdefgh"], n) for i in range(7)}
        table |= {f"count{i}": rng.integers(0, 80, n) for i in range(13)}
        table |= {f"score{i}": rng.normal(size=n).round(2) for i in range(9)}
        mode, header = ("w", True) if start == 0 else ("a", False)
        pd.DataFrame(table).to_csv(path, index=False, mode=mode, header=header)


def run(way: str, path: Path, out: Path) -> None:
    began = time.perf_counter()
    if way == "pandas":
        pd.read_csv(path).to_parquet(out, index=False)
    elif way == "convert_table":
        reading.convert_table(path, out)
    else:
        read_table(path)
    seconds = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    share = peak / path.stat().st_size
    print(f"{way:15} {seconds:6.1f} s  peak {peak / 1e6:6.0f} MB = {share:.2f} x file")


def compare_small(content: bytes, folder: Path) -> None:
    """Print the median time of a small table here, in the box, and the difference."""
    out = folder / "table.parquet"
    name = "small.csv"
    seconds: dict[str, list[float]] = {"here": [], "in the box": []}
    for _ in range(TURNS + 1):
        for way, convert in (
            ("here", reading.convert_table),
            ("in the box", reading.convert_apart),
        ):
            began = time.perf_counter()
            convert(content, out, name=name)
            seconds[way].append(time.perf_counter() - began)
    in_process, boxed = (np.array(times[1:]) * 1e3 for times in seconds.values())
    more = np.quantile(boxed - in_process, [0.5, 0.1, 0.9])
    print(
        f"{len(content) / 1e3:.0f} kB: {np.median(in_process):.0f} ms here, "
        f"{np.median(boxed):.0f} ms in the box, {more[0]:.0f} more "
        f"({more[1]:.0f} to {more[2]:.0f}, paired)"
    )


if __name__ == "__main__":
    if len(sys.argv) == 4:
        run(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
    else:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "table.csv"
            make_file(path, int((sys.argv[1:] or ["5000000"])[0]))
            print(f"{path.stat().st_size / 1e6:.0f} MB, 30 columns", flush=True)
            for way in ("pandas", "convert_table", "read_table"):
                out = Path(folder) / f"{way}.parquet"
                subprocess.run([sys.executable, __file__, way, path, out], check=True)
            make_file(path, SMALL)
            compare_small(path.read_bytes(), Path(folder))
