"""Hold rates, gaps and ratios to Aequitas on five real tables of two to five groups.

Aequitas needs pandas below 3, so it runs in an environment of its own:

    python -m venv peer
    peer/bin/pip install --no-deps aequitas
    peer/bin/pip install "pandas<3" pyarrow altair matplotlib seaborn scipy
    FAIRDASH_DATA=FOLDER python benchmarks/subgroups/aequitas_figures.py peer/bin/python

Prints the largest difference of any figure by table. Rows, outcomes and decisions are
those of tests/metrics/test_five_tables.py, given as a Parquet file.
"""

import argparse
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

from fairdash.metrics import measure_by_group, measure_gaps

sys.path[:0] = [
    str(Path(__file__).parents[2] / "tests" / folder)
    for folder in ("helpers", "metrics")
]

NAMES = {
    "pprev": "selection_rate",
    "tpr": "true_positive_rate",
    "fpr": "false_positive_rate",
    "fnr": "false_negative_rate",
    "precision": "precision",
    "accuracy": "accuracy",
}
PEER = """
import sys
from pathlib import Path
import pandas as pd
from aequitas.bias import Bias
from aequitas.group import Group
for given in Path(sys.argv[1]).glob("*.rows"):
    frame = pd.read_parquet(given)
    found, _ = Group().get_crosstabs(frame, attr_cols=["group"])
    apart = Bias().get_disparity_predefined_groups(
        found, original_df=frame, check_significance=False,
        ref_groups_dict={"group": frame["group"].value_counts().index[0]},
    )
    apart.to_parquet(given.with_suffix(".figures"))
"""


def compared(rows: pd.DataFrame, theirs: pd.DataFrame) -> dict[str, float]:
    """Return the largest difference of each measure, of its values and its ratios."""
    y = rows["label_value"]
    pred = rows["score"]
    group = rows["group"]
    reference = str(group.value_counts().index[0])
    off = {}
    for short, measure in NAMES.items():
        ours = measure_by_group(measure, y, pred, sensitive_features=group)
        ours = ours.set_index("group")["value"]
        differences = [ours - theirs[short].astype(float)[ours.index]]
        if f"{short}_disparity" in theirs:
            ratios = measure_gaps(
                measure, y, pred, sensitive_features=group, reference=reference
            ).set_index("group")["ratio"]
            differences.append(
                ratios - theirs[f"{short}_disparity"].astype(float)[ratios.index]
            )
        joined = pd.concat(differences)
        if joined.isna().any():
            raise SystemExit(
                f"{measure} is undefined for {joined.index[joined.isna()]}"
            )
        off[measure] = float(np.abs(joined).max())
    return off


def main() -> None:
    """Print a row per table and number of groups."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("peer", help="Python that has Aequitas")
    peer = parser.parse_args().peer
    from test_five_tables import TABLES, rows_of

    by_name = {}
    lines = []
    for name in TABLES:
        rows = rows_of(name)
        for groups in (2, 3, 4, 5):
            selected = rows["rank"] < groups
            y, scores, group = (rows[key][selected] for key in ("y", "scores", "group"))
            pred = (scores > np.median(scores)).astype(int)
            by_name[name, groups] = pd.DataFrame(
                {"score": pred, "label_value": y, "group": group}
            )
    with TemporaryDirectory() as folder:
        for (name, groups), rows in by_name.items():
            rows.to_parquet(Path(folder) / f"{name} {groups}.rows")
        subprocess.run([peer, "-c", PEER, folder], check=True)
        for (name, groups), rows in by_name.items():
            theirs = pd.read_parquet(Path(folder) / f"{name} {groups}.figures")
            off = compared(rows, theirs.set_index("attribute_value"))
            lines.append({"table": name, "groups": groups, "rows": len(rows), **off})
    table = pd.DataFrame(lines)
    print(table.to_string(index=False, float_format="%.1e"))
    print(f"largest of all: {table[list(NAMES.values())].max(axis=None):.1e}")


if __name__ == "__main__":
    main()
