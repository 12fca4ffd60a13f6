"""`fairdash thresholds` learns from scores, `fairdash model apply` applies."""

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from fairdash.cli import app
from fairdash.postprocessing import (
    HardtThreshold,
    RampThreshold,
    SplitScores,
    Thresholds,
)

N = 1500


def call(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)))


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    sex = rng.choice(["f", "m"], N)
    p = np.clip(rng.normal(0.35 + 0.2 * (sex == "m"), 0.2), 0.01, 0.99).round(4)
    late = np.clip(p + rng.normal(0, 0.05, N), 0.01, 0.99).round(4)
    y = np.where(rng.uniform(size=N) < p, "yes", "no")
    age = rng.choice(["old", "young"], N)
    return pd.DataFrame(
        {"sex": sex, "age": age, "repaid": y, "p_repaid": p, "late": late}
    ).assign(hard=(p > 0.5).astype(int))


@pytest.fixture
def file(table, tmp_path):
    table.to_csv(tmp_path / "scores.csv", index=False)
    return tmp_path / "scores.csv"


def test_rows_held_out_report_what_the_thresholds_do(file, table, tmp_path):
    out = tmp_path / "ramp.json"
    done = call(
        "thresholds",
        file,
        "--group",
        "sex",
        "--score",
        "p_repaid",
        "--outcome",
        "repaid=yes",
        "--out",
        out,
    )
    assert done.exit_code == 0, done.output
    split = SplitScores.of(
        2 * table["p_repaid"].to_numpy() - 1,
        table["sex"].to_numpy(),
        y=(table["repaid"] == "yes").to_numpy(np.int8),
        score_type="probability",
    )
    ramp = RampThreshold(0.1, score_type="probability").fit_rows(split.calibration)
    assert Thresholds.from_json(out.read_text()) == ramp.thresholds()
    assert ramp.report(split.test).details() in done.stdout


def test_width_rate_and_tolerance_are_those_given(file, table, tmp_path):
    out = tmp_path / "ramp.json"
    arguments = ["--score", "late", "--gamma", 0.3, "--rate", 0.4, "--tolerance", 0.02]
    done = call("thresholds", file, "--group", "sex", *arguments, "--out", out)
    assert done.exit_code == 0, done.output
    split = SplitScores.of(
        2 * table["late"].to_numpy() - 1,
        table["sex"].to_numpy(),
        score_type="probability",
    )
    ramp = RampThreshold(0.3, 0.4, 0.02, score_type="probability")
    expected = ramp.fit_rows(split.calibration).thresholds()
    assert Thresholds.from_json(out.read_text()) == expected


def test_decisions_alone_are_corrected_at_random(file, table, tmp_path):
    out = tmp_path / "hard.json"
    decided = tmp_path / "decided.csv"
    arguments = ["--score", "hard", "--outcome", "repaid=yes", "--group", "sex"]
    done = call("thresholds", file, *arguments, "--gamma", 0.1, "--out", out)
    assert done.exit_code == 0, done.output
    columns = ["--score", "hard", "--group", "sex", "--out", decided]
    assert call("model", "apply", out, file, *columns).exit_code == 0
    rates = pd.read_csv(decided).groupby("sex")["h"].mean()
    before = table.groupby("sex")["hard"].mean()
    assert np.ptp(before) > 0.2
    assert np.ptp(rates) < 0.05


@pytest.mark.parametrize(
    "given, message",
    [
        (["--score", "risk"], "got 'risk'"),
        (["--score", "late", "--out", "t.csv"], "`--out` must be one of ['.json']"),
        (["--score", "late", "--rate", "best"], "`target_rate` must be one of"),
        (["--score", "late", "--outcome", "repaid=maybe"], "one of no, yes"),
    ],
)
def test_a_bad_call_ends_in_one_line(given, message, file, tmp_path):
    out = [] if "--out" in given else ["--out", "t.json"]
    given = [tmp_path / a if str(a).startswith("t.") else a for a in (*given, *out)]
    done = call("thresholds", file, "--group", "sex", *given)
    assert done.exit_code == 2
    assert message in done.stderr.replace("\n", " ")
    assert not list(tmp_path.glob("t.*"))


def test_a_method_is_chosen_by_its_name_and_its_parameters(file, table, tmp_path):
    out = tmp_path / "hardt.json"
    arguments = ["--score", "p_repaid", "--outcome", "repaid=yes", "--group", "sex"]
    method = ["--method", "hardt", "--set", "constraints=equalized_odds"]
    done = call("thresholds", file, *arguments, *method, "--out", out)
    assert done.exit_code == 0, done.output
    split = SplitScores.of(
        2 * table["p_repaid"].to_numpy() - 1,
        table["sex"].to_numpy(),
        y=(table["repaid"] == "yes").to_numpy(np.int8),
        score_type="probability",
    )
    hardt = HardtThreshold("equalized_odds", "probability").fit_rows(split.calibration)
    assert Thresholds.from_json(out.read_text()) == hardt.thresholds()
    assert "Hardt " in done.stdout
    assert "The ramp" not in done.stdout


@pytest.mark.parametrize(
    "options, message",
    [
        (["--method", "magic"], "`--method` must be one of"),
        (["--method", "hardt", "--gamma", 0.2], "Hardt has no parameter `gamma`"),
        (["--method", "hardt", "--rate", 0.2], "`--rate` is of the ramp"),
        (["--set", "gamma"], "`--set` must be NAME=VALUE"),
    ],
)
def test_an_option_that_does_not_fit_the_method_is_refused(
    file, tmp_path, options, message
):
    arguments = ["--score", "late", "--group", "sex", "--out", tmp_path / "t.json"]
    done = call("thresholds", file, *arguments, *options)
    assert done.exit_code == 2
    assert message in " ".join(done.output.split())


def learned(source, out, *options):
    done = call(
        *("thresholds", source, "--group", "sex", "--group", "age"),
        *("--score", "p_repaid", "--outcome", "repaid=yes", "--out", out, *options),
    )
    assert done.exit_code == 0, done.output
    return done.output


@pytest.mark.parametrize("method", ["ramp", "hardt"])
def test_an_address_is_counted_and_taught_as_its_rows_are(table, tmp_path, method):
    folder = tmp_path / "bank"
    folder.mkdir()
    rounded = table.assign(p_repaid=table["p_repaid"].round(2))
    rounded.loc[::97, "age"] = None
    rounded.to_parquet(folder / "scores.parquet")
    # The split of rows depends on their order, which counts have by their values.
    order = ["p_repaid", "sex", "age", "repaid"]
    rows = tmp_path / "rows.parquet"
    rounded.sort_values(order).to_parquet(rows)
    counted = tmp_path / "counted.json"
    read = tmp_path / "read.json"
    options = ("--method", method)
    text = learned(folder, counted, *options)
    learned(rows, read, *options)
    assert counted.read_text() == read.read_text()
    assert "1,500 rows counted where they lie" in text
    assert "counted where" not in learned(rows, read, *options)


def test_what_an_address_cannot_teach_is_said(table, tmp_path, monkeypatch):
    folder = tmp_path / "bank"
    folder.mkdir()
    table.to_parquet(folder / "scores.parquet")
    out = tmp_path / "thresholds.json"
    options = ("--group", "sex", "--out", out, "--score")
    done = call("thresholds", folder, *options, "points")
    assert done.exit_code == 2
    assert "must be one of" in done.output
    done = call("thresholds", tmp_path / "nothing.csv", *options, "p_repaid")
    assert done.exit_code == 2
    assert "There is no file" in done.output
    monkeypatch.setattr("fairdash.audits.tables.reading.MOST_PEOPLE", N - 1)
    done = call("thresholds", folder, *options, "p_repaid")
    assert done.exit_code == 2
    assert "holds 1,500 rows" in done.output
    assert not out.exists()
