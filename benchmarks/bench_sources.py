"""What an audit of a source costs that counts its own rows, beside reading the rows.

Generated rows in a folder of Parquet files: four races, two sexes, a whole age, a
decision, an outcome, and a column of noise that no question reads. Each way runs in a
process of its own, several times, one after the other in turns:

- *group by*: the bare query of DuckDB, the same columns, and nothing after it;
- *counted*: the audit by race × sex inside ages, of every measure, from that query;
- *rows*: the same audit of the rows, read into memory.

Printed are seconds by the clock and of the processor, from the call until the verdict
(imports not counted), the largest memory, and whether all numbers agree.

    python benchmarks/bench_sources.py [--rows 2_000_000 10_000_000] [--times 3]
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

WAYS = "group by", "counted", "rows"
RUN = """
import json, sys, time
way, folder = sys.argv[1:]
import duckdb
from fairdash.audits import tables
from fairdash.datasets import read_table
question = tables.TableQuestion(
    groups=("race", "sex"), decision="decision=yes", outcome="y=1", subgroups=("age",)
)
tables.audit_table
begun, work = time.perf_counter(), time.process_time()
verdict, gap = "", 0.0
if way == "group by":
    with duckdb.connect() as link:
        link.sql(
            "SELECT race, sex, decision, y, age, COUNT(*) FROM "
            f"read_parquet('{folder}/*.parquet') GROUP BY ALL"
        ).to_arrow_table()
else:
    if way == "counted":
        asked = tables.read_asked(folder, question)
    else:
        rows = read_table(folder)
        asked = rows, question, tables.Source.of_frame("rows", "", rows)
    audited = tables.audit_table(*asked)
    verdict = audited.verdict
    gap = float(audited.estimates()["value"].abs().sum())
with open("/proc/self/status") as status:
    peak = next(line for line in status if line.startswith("VmHWM"))
print(json.dumps({
    "clock": time.perf_counter() - begun,
    "processor": time.process_time() - work,
    "MB": int(peak.split()[1]) * 1024 / 1e6,
    "verdict": verdict,
    "sum": gap,
}))
"""


def write(folder: Path, n_rows: int) -> None:
    """Write generated rows as four Parquet files."""
    rng = np.random.default_rng(0)
    for part in range(4):
        n = n_rows // 4
        race = rng.choice(
            ["White", "Black", "Asian", "Other"], n, p=[0.6, 0.2, 0.15, 0.05]
        )
        accepted = rng.random(n) < np.where(race == "Black", 0.3, 0.4)
        table = pa.table(
            {
                "race": race,
                "sex": rng.choice(["f", "m"], n),
                "age": rng.integers(18, 80, n),
                "decision": np.where(accepted, "yes", "no"),
                "y": rng.integers(0, 2, n),
                "noise": rng.normal(size=n),
            }
        )
        parquet.write_table(table, folder / f"{part}.parquet")


def measure(way: str, folder: Path) -> dict:
    """Run one way in a process of its own."""
    command = [sys.executable, "-c", RUN, way, str(folder)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def main() -> None:
    """Print a line for each way and number of rows."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[2_000_000, 10_000_000])
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=WAYS)
    options = parser.parse_args()
    for n_rows in options.rows:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write(folder, n_rows)
            measured = {way: [] for way in options.ways}
            for _ in range(options.times):
                for way in options.ways:
                    measured[way].append(measure(way, folder))
        for way, runs in measured.items():
            print(f"{n_rows:>12,} rows  {way:<9} {cost(runs)}")
        if {"counted", "rows"} <= measured.keys():
            counted = measured["counted"][0]
            second = measured["rows"][0]
            agree = counted["verdict"] == second["verdict"] and np.isclose(
                counted["sum"], second["sum"], rtol=1e-9
            )
            print(f"{'':>18}verdict and numbers {'agree' if agree else 'DIFFER'}")


def cost(runs: list[dict]) -> str:
    """Return the median seconds and the largest memory of runs."""
    clock, processor = (
        statistics.median(run[kind] for run in runs) for kind in ("clock", "processor")
    )
    most = max(run["MB"] for run in runs)
    return f"{clock:6.2f} s, of a processor {processor:6.2f} s, {most:6,.0f} MB"


if __name__ == "__main__":
    main()
