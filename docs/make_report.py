"""Write docs/report.html: the report of a small sweep over the loans sample.

Run from the repository: ``python docs/make_report.py``; it takes about a minute.
"""

import os
import tempfile
from contextlib import closing
from pathlib import Path

from fairdash.jobs import submit
from fairdash.reports import report
from fairdash.store import open_store
from fairdash.sweep import SweepSpec

OUT = Path(__file__).parent / "report.html"
SPEC = {
    "data": {"sample": "loans"},
    "seeds": [0, 1, 2],
    "methods": [
        {"method": "unconstrained"},
        {
            "method": "road",
            "params": {
                "fairness_weight": {"linear": [0, 5, 5]},
                "tau": {"log": [0.05, 1, 3]},
            },
        },
    ],
}
COMMENTS = {
    "summary": "An example: the table is made up, and its bias was planted. Loan "
    "officers marked down women under 30, most of all after a career break.",
}


def main() -> None:
    """Train the sweep in an empty home folder and write its report."""
    os.environ["FAIRDASH_INLINE"] = "1"
    with (
        tempfile.TemporaryDirectory() as home,
        closing(open_store(Path(home))) as store,
    ):
        spec = SweepSpec.model_validate(SPEC)
        run = submit(store, spec, name="ROAD on the loans sample")
        OUT.write_text(report(store, run, comments=COMMENTS).to_html())
    print(f"{OUT}: {OUT.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
