"""Time and peak memory of reading a large CSV file into the store's Parquet.

    python benchmarks/bench_reading.py [ROWS]

Each way runs in a process of its own: pandas.read_csv and to_parquet, the baseline;
`convert_table`, which the store uses; and `read_table`.
"""

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

from fairdash.datasets import convert_table, read_table

CHUNK = 500_000


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
        convert_table(path, out)
    else:
        read_table(path)
    seconds = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    share = peak / path.stat().st_size
    print(f"{way:15} {seconds:6.1f} s  peak {peak / 1e6:6.0f} MB = {share:.2f} x file")


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
