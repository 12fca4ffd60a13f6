"""What a source says of its rows by counting them is what the rows say."""

import json
from itertools import product

import numpy as np
import pandas as pd
import pytest
from cases import sampled
from made_sources import put
from typer.testing import CliRunner

from fairdash.audits import tables
from fairdash.cli import app
from fairdash.datasets import read_table

GROUPS = ("race", "sex (as recorded)")
KINDS = ("parquet", "arrow", "sqlite", "duckdb", "postgres")
N_TABLES = 50  # for each kind of source
MEASURES = ("selection_rate", "true_positive_rate", "precision", "accuracy")


def people(seed, n):
    """Return rows with rare groups, missing values, codes and numbers to cut."""
    rng = np.random.default_rng(seed)
    race = rng.choice(["White", "Black", "other", "self"], n, p=[0.7, 0.2, 0.09, 0.01])
    hired = rng.random(n) < np.where(race == "Black", 0.25, 0.4)
    return pd.DataFrame(
        {
            "race": np.where(rng.random(n) < 0.02, None, race),
            "sex (as recorded)": rng.choice(["f", "m"], n),
            "income": rng.lognormal(3, 1, n).round(-1),
            "status": np.where(hired, rng.choice(["1", "2"], n), "3"),
            "year": rng.choice([2023, 2024], n),
            "good": rng.choice(["no", "yes", "8888"], n, p=[0.4, 0.55, 0.05]),
            "score": rng.integers(0, 21, n) / 20,
            "secret": rng.random(n),
        }
    )


def questions(seed):
    """Return questions of every form, drawn by a seed."""
    rng = np.random.default_rng(seed)
    some = {
        "negative": [(), ("status=3",)],
        "rows": [(), {"year": ["2024"]}, [{"column": "income", "at_least": 20}]],
        "subgroups": [(), ("income",), ("sex (as recorded)", "income")],
        "groups": [("race",), GROUPS, ("race=White,Black",)],
        "outcome": [None, "good=yes"],
        "preparation": [
            (),
            ({"kind": "missing", "column": "good", "values": ["8888"]},),
        ],
        "favourable": [True, False],
        "measures": [(), ("selection_rate",), MEASURES],
    }
    for fields in (
        {"decision": "status=1,2"},
        {"decision": "status=1"},
        {"score": "score"},
        {"score": "score", "threshold": 0.3},
    ):
        drawn = {name: ways[rng.integers(len(ways))] for name, ways in some.items()}
        if "score" in fields:
            drawn["negative"] = ()
        if drawn["outcome"] is None:
            drawn["measures"] = tuple(m for m in drawn["measures"] if m in MEASURES[:1])
        yield tables.TableQuestion(**fields, **drawn)


@pytest.mark.parametrize(
    ("kind", "seed"), sampled(product(KINDS, range(N_TABLES)), every=N_TABLES // 2)
)
def test_an_audit_of_counts_is_that_of_the_rows(kind, seed, tmp_path, request):
    """Of 250 tables, each with four questions: recipes, measures and subgroups."""
    frame = people(seed, (900, 250, 3_000)[seed % 3])
    address = put(kind, frame, tmp_path, request)
    rows = read_table(address)
    for question in questions(seed):
        of_rows = tables.audit_table(
            rows, question, tables.Source.of_frame("rows", "", rows)
        ).to_dict()
        query = tables.read_asked(address, question)
        assert len(query.frame) < len(rows) or len(rows) < 1_000
        assert "secret" not in query.frame
        of_counts = tables.audit_table(*query).to_dict()
        assert query.source.rows == len(rows)
        for part in ("verdict", "rows", "counts", "excluded"):
            assert of_counts[part] == of_rows[part]
        pd.testing.assert_frame_equal(
            pd.DataFrame(of_counts["estimates"]),
            pd.DataFrame(of_rows["estimates"]),
            rtol=1e-12,
            atol=1e-12,
        )


def asked_by_shell(*arguments):
    done = CliRunner().invoke(app, ["audit", *map(str, arguments)])
    return done.exit_code, done.output


def test_the_shell_counts_an_address_where_it_lies(tmp_path, request):
    folder = tmp_path / "rows"
    folder.mkdir()
    put("parquet", people(5, 600), folder, request)
    out = tmp_path / "audit.json"
    page = tmp_path / "audit.html"
    options = ("--decision", "status=1,2", "--group", "race", "--out", out)
    status, text = asked_by_shell(folder, *options, "--report", page)
    assert status == 0
    assert "600 rows counted where they lie, by race and status." in text
    numbers = json.loads(out.read_text())
    assert numbers["source"]["counted_by"] == ["race", "status"]
    assert numbers["source"]["rows"] == 600
    assert "SHA-256 of the counts" in page.read_text()


def test_numbers_of_an_address_are_read_with_their_outcomes(tmp_path, request):
    put("parquet", people(5, 600), tmp_path, request)
    status, text = asked_by_shell(
        tmp_path,
        *("--kind", "numbers", "--score", "score", "--outcome", "income"),
        *("--group", "sex (as recorded)"),
    )
    assert status == 0, text
    assert "counted where they lie" not in text


@pytest.mark.parametrize("option", [("--weight", "income"), ("--unit", "year")])
def test_weights_and_units_need_rows(option, tmp_path, request):
    put("parquet", people(5, 600), tmp_path, request)
    status, text = asked_by_shell(
        tmp_path, "--decision", "status=1,2", "--group", "race", *option
    )
    assert status == 0
    assert "counted where they lie" not in text


def test_some_rows_can_be_drawn_instead(tmp_path, request):
    put("parquet", people(5, 600), tmp_path, request)
    status, text = asked_by_shell(
        tmp_path,
        *("--decision", "status=1,2", "--group", "race", "--sample-rows", "300"),
    )
    assert status == 0
    assert "300 of 600 rows" in text


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--group", "rase", "--decision", "status=1"), "`--group` must be one of"),
        (("--group", "race", "--decision", "state=1"), "`--decision` must be one of"),
        (("--group", "race", "--score", "points"), "must be one of"),
        (("--group", "race", "--decision", "status=9"), "It has no '9'"),
        (
            ("--group", "race", "--decision", "status=1", "--subgroup", "secret"),
            "has more than 100,000 combinations",
        ),
    ],
)
def test_what_cannot_be_counted_is_said(options, words, tmp_path, request, monkeypatch):
    put("parquet", people(5, 600), tmp_path, request)
    if "100,000" in words:
        many = pd.concat([people(seed, 30_000) for seed in range(4)])
        many.to_parquet(tmp_path / "more.parquet")
    status, text = asked_by_shell(tmp_path, *options)
    assert status == 2
    assert words in " ".join(text.split())


def test_a_policy_is_held_against_counts(tmp_path, request):
    frame = people(7, 900)
    folder = tmp_path / "rows"
    folder.mkdir()
    address = put("parquet", frame, folder, request)
    policy = tmp_path / "policy.yaml"
    policy.write_text(
        "groups: [race]\ndecision: status=1,2\n"
        "limits:\n  - {measure: selection_rate, of: ratio, at_least: 0.8}\n"
    )
    file = tmp_path / "rows.parquet"
    frame.to_parquet(file)
    outputs = []
    for place in (address, file):
        done = CliRunner().invoke(app, ["check", str(place), "--policy", str(policy)])
        outputs.append((done.exit_code, done.output.replace("  ", " ")))
    (status, of_counts), (other_status, of_rows) = outputs
    assert status == other_status < 4, of_counts
    assert "900 rows counted where they lie, by race and status.\n" in of_counts
    without = of_counts.replace(
        "900 rows counted where they lie, by race and status.\n", ""
    )
    assert without == of_rows
