"""Write docs/report.html, the report of a sweep over COMPAS, and its run as a bundle.

Run from the repository: ``python docs/make_report.py``; it takes some minutes. The
file of ProPublica is looked for in ``$FAIRDASH_DATA/raw``, else downloaded.
"""

import os
import tempfile
from contextlib import closing
from pathlib import Path

from fairdash.datasets import PUBLIC, ScoreColumn, fetch_table
from fairdash.jobs import pack_runs, submit
from fairdash.reports import report
from fairdash.store import open_store
from fairdash.sweep import SweepSpec

HERE = Path(__file__).parent
OUT = HERE / "report.html"
BUNDLE = HERE / "compas_run.zip"
ROLES = PUBLIC["compas"].roles.model_copy(
    update={"scores": (ScoreColumn(column="decile_score", kind="score", threshold=5),)}
)
GRID = {
    "seeds": [0, 1, 2],
    "di_limit": 0.1,
    "methods": [
        {"method": "unconstrained"},
        {
            "method": "road",
            "params": {
                "fairness_weight": {"linear": [1, 5, 3]},
                "tau": {"log": [0.05, 1, 3]},
            },
        },
    ],
}
SECTIONS = (
    "audited", "summary", "local", "tried", "data", "definitions", "reproduce"
)  # fmt: skip


def original() -> Path:
    """Return ProPublica's file, downloaded where it is not at hand."""
    at_hand = os.environ.get("FAIRDASH_DATA")
    folder = Path(at_hand) / "raw" if at_hand else Path("~/.cache/fairdash")
    folder = folder.expanduser()
    fetch_table("compas", folder, "all")  # which checks its sha256
    return folder / PUBLIC["compas"].file


def main() -> None:
    """Train the sweep in an empty home folder, write its report and its bundle."""
    os.environ["FAIRDASH_INLINE"] = "1"
    data = {"path": str(original()), "roles": ROLES, "name": "COMPAS"}
    spec = SweepSpec.model_validate({"data": data, **GRID})
    with (
        tempfile.TemporaryDirectory() as home,
        closing(open_store(Path(home))) as store,
    ):
        run = submit(store, spec, name="ROAD on COMPAS")
        document = report(store, run, sections=SECTIONS)
        OUT.write_text(document.to_html())
        pack_runs(store, [run], BUNDLE, rows=False)
    for file in (OUT, BUNDLE):
        print(f"{file}: {file.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
