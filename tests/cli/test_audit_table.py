"""`fairdash audit`: a table with decisions or scores on the command line."""

import json
from hashlib import sha256

import numpy as np
import pandas as pd
import pytest
from peers import table
from reading import ReportPage, check_schema
from toys import people, pipeline, pipeline_as_onnx
from typer.testing import CliRunner

from fairdash.cli import app


@pytest.fixture
def file(tmp_path):
    y, p, group, weight = table(900, groups=3, seed=2)
    frame = pd.DataFrame(
        {
            "repaid": np.where(y == 1, "yes", "no"),
            "p": p,
            "decile": np.ceil(10 * p.clip(0.01)).astype(int),
            "group": group,
            "region": np.random.default_rng(0).choice(["north", "south"], 900),
            "w": weight,
        }
    )
    path = tmp_path / "scores.csv"
    frame.to_csv(path, index=False)
    return path


def call(file, *arguments):
    return CliRunner().invoke(app, ["audit", str(file), *arguments])


def gaps_of(out):
    """Return the gaps over all rows of the JSON file, by measure."""
    table = pd.DataFrame(json.loads(out.read_text())["estimates"])
    table = table[table["subgroup"].isna() & table["measure"].str.startswith("gap in")]
    table["measure"] = table["measure"].str.removeprefix("gap in ")
    return table.set_index("measure")


def test_it_prints_who_is_behind_and_writes_the_gaps(file, tmp_path):
    out = tmp_path / "audit.json"
    done = call(
        file, "--score", "decile", "--threshold", "6", "--outcome", "repaid=yes",
        "--group", "group=g0,g2", "--subgroup", "region", "--out", str(out),
        "--report", str(tmp_path / "audit.html"),
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    page = ReportPage((tmp_path / "audit.html").read_text())
    assert done.output.splitlines()[0] in page.texts["p"]
    assert "Selection rate" in page.table("Every measure by group").index
    frame = pd.read_csv(file)
    frame = frame[frame["group"] != "g1"]
    picked = frame["decile"] >= 6
    rates = picked.groupby(frame["group"]).mean()
    gap = gaps_of(out).loc["selection_rate"]
    assert gap["value"] == pytest.approx(-abs(rates["g0"] - rates["g2"]))
    assert gap["group"] == rates.idxmin()
    assert f"group: {rates.idxmin()} is predicted repaid=yes" in done.output
    assert "north" in done.output
    assert f"{len(frame)} rows" in done.output


def test_decisions_need_no_outcome_and_excluded_rows_have_reasons(file, tmp_path):
    frame = pd.read_csv(file)
    frame.loc[[3, 6], "repaid"] = None
    frame.loc[[6, 7, 8], "group"] = None
    frame.to_csv(file, index=False)
    complete = frame.dropna(subset=["repaid", "group"])
    complete = complete[complete["group"] != "g1"]
    n_others = (frame.dropna(subset=["repaid", "group"])["group"] == "g1").sum()
    reasons = {
        "no value in repaid": 2,
        "no value in group": 2,
        "another group": n_others,
    }
    n_rows = len(frame)
    out = tmp_path / "audit.json"
    page = tmp_path / "audit.html"
    done = call(
        file, "--decision", "repaid=yes", "--group", "group=g0,g2", "--weight", "w",
        "--out", str(out), "--report", str(page),
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    written = json.loads(out.read_text())
    assert written["rows"] == len(complete)
    assert {e["reason"]: e["rows"] for e in written["excluded"]} == reasons
    assert [e["column"] for e in written["excluded"]] == ["repaid", "group", "group"]
    assert written["source"]["rows"] == n_rows == len(complete) + sum(reasons.values())
    assert written["source"]["digest"] == sha256(file.read_bytes()).hexdigest()
    assert written["source"]["digest"] in page.read_text()
    assert written["source"]["date"] in page.read_text()
    check_schema(written, "audit")
    rates = {
        g: np.average(part["repaid"] == "yes", weights=part["w"])
        for g, part in complete.groupby("group")
    }
    gap = gaps_of(out).loc["selection_rate", "value"]
    assert abs(gap) == pytest.approx(abs(rates["g0"] - rates["g2"]))
    for text in (done.output, page.read_text()):
        for reason, n in reasons.items():
            assert f"{n:,} with {reason}" in text
    refused = call(file, "--group", "group")
    assert refused.exit_code == 2
    assert "--decision" in refused.stderr


def test_several_groups_are_audited_each_and_crossed(file, tmp_path):
    """Counts, rates and ratios are those of a hand count; so is the page."""
    frame = pd.read_csv(file)
    frame.loc[:4, "region"] = None
    frame.to_csv(file, index=False)
    out = tmp_path / "audit.json"
    page = tmp_path / "audit.html"
    done = call(
        file, "--score", "decile", "--threshold", "6", "--group", "group",
        "--group", "region", "--out", str(out), "--report", str(page),
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    written = json.loads(out.read_text())
    complete = frame.dropna(subset=["region"])
    assert written["excluded"] == [
        {"reason": "no value in region", "column": "region", "rows": 5}
    ]
    picked = complete["decile"] >= 6
    crossed = complete["group"] + " × " + complete["region"]
    table = pd.DataFrame(written["estimates"])
    document = ReportPage(page.read_text()).table(
        "Rows and positive decisions by group"
    )
    for name, groups in {
        "group": complete["group"],
        "region": complete["region"],
        "group × region": crossed,
    }.items():
        of_feature = table[table["feature"] == name]
        rates = of_feature[of_feature["measure"] == "selection_rate"].set_index("group")
        wanted = picked.groupby(groups).agg(["mean", "size", "sum"])
        assert rates["value"].to_dict() == pytest.approx(wanted["mean"].to_dict())
        assert rates["n"].to_dict() == wanted["size"].to_dict()
        counts = [row for row in written["counts"] if row["feature"] == name]
        assert {r["group"]: r["positive"] for r in counts} == wanted["sum"].to_dict()
        ratio = of_feature[
            of_feature["measure"] == "ratio of selection_rate"
        ].set_index("group")
        best = wanted["mean"].max()
        for group, value in ratio["value"].items():
            assert value == pytest.approx(wanted["mean"][group] / best)
    assert len(document) == 3 + 2 + 6


def test_a_model_file_scores_the_rows(tmp_path):
    pytest.importorskip("onnxruntime")
    pytest.importorskip("skl2onnx")
    file = tmp_path / "people.csv"
    model = tmp_path / "hire.onnx"
    frame = people()
    frame.to_csv(file, index=False)
    model.write_bytes(pipeline_as_onnx())
    p = pipeline().predict_proba(frame[["age", "skill", "branch", "origin"]])
    for outcome, of_class in (("yes", 1), ("no", 0)):
        out = tmp_path / "audit.json"
        done = call(
            file, "--model", str(model), "--outcome", f"hired={outcome}",
            "--group", "origin", "--out", str(out),
        )  # fmt: skip
        assert done.exit_code == 0, done.output
        rates = pd.Series(p[:, of_class] > 0.5).groupby(frame["origin"]).mean()
        gap = gaps_of(out).loc["selection_rate"]
        assert abs(gap["value"]) == pytest.approx(rates.max() - rates.min())
    model.write_bytes(b"nothing")
    for refused, why in (
        (["--model", str(model)], "hire.onnx cannot be used"),
        ([], "--score"),
    ):
        done = call(file, "--outcome", "hired=yes", "--group", "origin", *refused)
        assert done.exit_code == 2
        assert why in done.output
