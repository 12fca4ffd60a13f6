"""A search where rows lie finds what their rows say, and nothing by chance."""

import numpy as np
import pandas as pd
import pytest
from made_sources import put
from scipy.stats import norm

from fairdash.audits import tables
from fairdash.datasets.sources import database


def loans(seed, n=4_000, gap=0.3):
    """Women in the north under a worse rule than others."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "sex": rng.choice(["f", "m"], n),
            "region": rng.choice(["north", "south", "east", None], n),
            "size": rng.choice([1, 2, 3], n),
            "good": rng.choice(["no", "yes"], n),
        }
    )
    planted = (
        (frame["sex"] == "f") & (frame["region"] == "north") & (frame["size"] == 2)
    )
    frame["status"] = np.where(rng.random(n) < 0.6 - gap * planted, "1", "2")
    return frame


QUESTION = tables.TableQuestion(groups=("sex",), decision="status=1")
KINDS = ("parquet", "sqlite", "duckdb", "postgres")


@pytest.mark.parametrize("kind", KINDS)
def test_the_planted_subgroup_comes_first_with_the_numbers_of_its_rows(
    kind, tmp_path, request
):
    frame = loans(1)
    address = put(kind, frame, tmp_path, request)
    result = tables.search_source(address, QUESTION, ["region", "size"])
    best = result.iloc[0]
    assert best["subgroup"] == "region = north and size = 2"
    rows = frame[(frame["region"] == "north") & (frame["size"] == 2)]
    rates = rows.groupby("sex")["status"].agg(lambda s: (s == "1").mean())
    assert (best["lower"], best["higher"]) == ("f", "m")
    assert best["n"] == len(rows)
    assert best["gap"] == pytest.approx(rates["m"] - rates["f"])
    assert best["p_adjusted"] < 0.05
    assert best["ci_low"] > 0
    # 3 regions and 3 sizes, alone and together: one pair of groups each
    assert result.attrs["n_tests"] == 3 + 3 + 9


def test_p_values_are_those_of_agresti_and_caffo_by_holm(tmp_path, request):
    frame = loans(2)
    address = put("parquet", frame, tmp_path, request)
    question = QUESTION.model_copy(
        update={"outcome": "good=yes", "measures": ("true_positive_rate",)}
    )
    result = tables.search_source(address, question, ["size"], depth=1)
    good = frame[frame["good"] == "yes"].assign(hit=frame["status"] == "1")
    p = {}
    for size, rows in good.groupby("size"):
        near = [(g.sum() + 1, len(g) + 2) for _, g in rows.groupby("sex")["hit"]]
        shares = [k / n for k, n in near]
        variance = sum(s * (1 - s) / n for s, (_, n) in zip(shares, near, strict=True))
        p[f"size = {size}"] = 2 * norm.sf(abs(np.diff(shares)[0]) / np.sqrt(variance))
    ordered = sorted(p, key=p.get)
    holm = np.maximum.accumulate([p[k] * (3 - i) for i, k in enumerate(ordered)])
    assert result["subgroup"].tolist() == ordered
    assert result["p_adjusted"].tolist() == pytest.approx(np.minimum(holm, 1))


def test_a_fair_table_is_seldom_suspected(tmp_path, request):
    found = []
    for seed in range(20):
        folder = tmp_path / str(seed)
        folder.mkdir()
        address = put("parquet", loans(seed, n=800, gap=0.0), folder, request)
        result = tables.search_source(address, QUESTION, ["region", "size"])
        found.append(result["p_adjusted"].min() < 0.05)
    assert sum(found) <= 4  # of 20 by chance 1; 5 and more in 3 of 1,000


def test_names_and_values_that_read_alike_are_subgroups_of_their_own(tmp_path, request):
    frame = loans(5).rename(columns={"region": "a", "size": "a and b"})
    frame["b"] = np.where(np.arange(len(frame)) % 2 == 0, "1", "2 and b = 3")
    frame["a"] = np.where(np.arange(len(frame)) % 3 == 0, "x", "x and b = 1")
    address = put("parquet", frame, tmp_path, request)
    result = tables.search_source(address, QUESTION, ["a", "b", "a and b", "a"])
    # 2 and 2 and 3 values; of two columns 4 and 6 and 6
    assert result.attrs["n_tests"] == 2 + 2 + 3 + 4 + 6 + 6
    assert result["n"].max() < len(frame)


def test_a_database_answers_all_choices_by_one_query(tmp_path, request, monkeypatch):
    address = put("duckdb", loans(3), tmp_path, request)
    statements = []
    batches = database._batches

    def heard(place, statement, *rest):
        statements.append(statement)
        return batches(place, statement, *rest)

    monkeypatch.setattr(database, "_batches", heard)
    tables.search_source(address, QUESTION, ["region", "size", "good"])
    assert sum("GROUP BY" in text for text in statements) == 1


@pytest.mark.parametrize(
    ("question", "columns", "options", "words"),
    [
        ({}, ["sex"], {}, "`column` must be one of"),
        ({}, ["rigion"], {}, "`column` must be one of"),
        ({}, [], {}, "name 1 to 30 columns"),
        ({}, ["size"], {"depth": 3}, "`depth` must be 1 or 2"),
        ({}, ["size"], {"min_size": 5_000}, "No subgroup has 5,000 rows"),
        ({"unit": "size"}, ["region"], {}, "need rows"),
        ({"measures": ("precision",)}, ["size"], {}, "needs an outcome"),
        ({"measures": ("brier",)}, ["size"], {}, "`measure` must be one of"),
    ],
)
def test_what_cannot_be_searched_is_said(
    question, columns, options, words, tmp_path, request
):
    address = put("parquet", loans(4), tmp_path, request)
    asked = QUESTION.model_copy(update=question)
    with pytest.raises(ValueError, match=words):
        tables.search_source(address, asked, columns, **options)
