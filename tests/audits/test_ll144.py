"""Local Law 144: published audits, and audits of a table of people."""

import numpy as np
import pandas as pd
import pytest

from fairdash.audits.tables import inconsistencies, published_audit
from fairdash.audits.tables.ll144 import bias_audit
from fairdash.audits.tables.question import TableQuestion


def counts(**categories):
    rows = [(name, n, k) for name, (n, k) in categories.items()]
    return pd.DataFrame(rows, columns=["category", "n", "selected"])


def test_published_counts_are_held_against_what_was_printed():
    """Dover by race, https://perma.cc/C4E7-XP63, in the data of Gerchick et al."""
    published = counts(
        Hispanic=(65, 4),
        White=(379, 18),
        Black=(130, 12),
        Pacific=(23, 3),
        Asian=(95, 7),
    ).assign(ratio=[0.4718, 0.3641, 0.7077, 1.0, 0.5649])
    assert inconsistencies(published, digits=4) == []
    wrong = published.assign(ratio=[0.47, 0.41, 0.71, 1.0, 0.56])
    words = "The ratio of White is printed as 0.41; its counts give 0.36."
    assert inconsistencies(wrong) == [words]
    published_report = published_audit(pd.concat([published, counts(Unknown=(10, 2))]))
    assert published_report.unknown["category"] == (10, 2)
    assert published_report.tables["category"]["ratio"].round(4).tolist() == [
        *published["ratio"]
    ]
    with pytest.raises(ValueError, match="whole numbers"):
        published_audit(published.assign(n=0.5))


def test_a_table_of_people_is_counted_with_its_unknown():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "sex": rng.choice(["f", "m", None], 900, p=[0.45, 0.5, 0.05]),
            "race": rng.choice(["x", "y", "z", None], 900, p=[0.5, 0.38, 0.02, 0.1]),
            "hired": rng.choice(["yes", "no", None], 900, p=[0.3, 0.69, 0.01]),
            "score": rng.random(900).round(2),
        }
    )
    question = TableQuestion(groups=("sex", "race"), decision="hired=yes")
    audit = bias_audit(frame, question)
    rows = frame.dropna(subset="hired")
    assert audit.rows == len(rows)
    hired = rows["hired"] == "yes"
    crossed = (rows["sex"] + " × " + rows["race"]).where(
        rows["sex"].notna() & rows["race"].notna()
    )
    for name, labels in (
        ("sex", rows["sex"]),
        ("race", rows["race"]),
        ("sex × race", crossed),
    ):
        wanted = hired.groupby(labels).agg(["size", "sum"])
        table = audit.tables[name].set_index("category")
        assert table["n"].to_dict() == wanted["size"].to_dict()
        assert table["selected"].to_dict() == wanted["sum"].to_dict()
        missing = labels.isna()
        assert audit.unknown[name] == (missing.sum(), hired[missing].sum())
        inside = table[table["included"]]
        assert (inside["bound_low"] <= inside["ratio"]).all()
        assert (inside["ratio"] <= inside["bound_high"]).all()
    scored = bias_audit(frame, TableQuestion(groups=("sex",), score="score"))
    above = frame["score"] > frame["score"].median()
    wanted = above.groupby(frame["sex"]).sum().to_dict()
    table = scored.tables["sex"].set_index("category")
    assert table["selected"].to_dict() == wanted
    assert scored.kind == "scoring"
