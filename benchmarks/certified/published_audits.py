"""Published bias audits whose printed ratios do not follow from their counts.

FILE is audits/audits_full.csv of aclu-national/auditing-the-audits-facct-2025, GitHub,
the data of Gerchick et al., Auditing the audits (FAccT 2025). Tables are read that have
whole counts of two categories or more, and two printed ratios.

python benchmarks/certified/published_audits.py FILE
"""

import sys

import pandas as pd

from fairdash.audits.tables import inconsistencies, published_audit

NAMES = {
    "number_of_applications": "n",
    "n_selected_or_n_above_median": "selected",
    "impact_ratio": "ratio",
}
TABLE = ["audit_id", "protected_char_group", "selection_or_scoring_rate"]


def main(path):
    """Print a row for each table with a ratio that does not follow, and how many."""
    rows = pd.read_csv(path).rename(columns=NAMES)
    rows["category"] = rows["sex"] + ", " + rows["race_ethnicity"]
    rows = rows[~rows["flag_miss"]].dropna(subset=["n", "selected"])
    tables = 0
    consistent = 0
    for key, table in rows.groupby(TABLE, sort=False):
        fractions = (table[["n", "selected"]] % 1).any(axis=None)
        few = len(table) < 2 or table["ratio"].notna().sum() < 2
        if fractions or few or not table["selected"].any():
            continue
        if table["category"].duplicated().any():
            continue
        published_audit(table)
        wrong = inconsistencies(table[["category", "n", "selected", "ratio"]])
        tables = tables + 1
        consistent = consistent + (not wrong)
        if wrong:
            print(*key, len(wrong), wrong[0], sep=" | ")
    print(f"{tables} tables, {consistent} whose ratios follow from their counts")


if __name__ == "__main__":
    main(sys.argv[1])
