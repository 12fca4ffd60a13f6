import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from fairdash.cli import app
from fairdash.postprocessing import RampThreshold, cross

N = 1000


def call(*arguments):
    return CliRunner().invoke(app, ["model", "apply", *map(str, arguments)])


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "score": rng.uniform(-1, 1, N).round(4),
            "sex": rng.choice(["m", "f"], N),
            "level": rng.choice([1, 2], N),
        }
    )


@pytest.fixture
def fitted(table):
    groups = cross(table["sex"], table["level"])
    return RampThreshold(0.4, 0.3).fit(table["score"], sensitive_features=groups)


@pytest.fixture
def rules(fitted, tmp_path):
    (tmp_path / "thresholds.json").write_text(fitted.thresholds().to_json())
    return tmp_path / "thresholds.json"


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_file_is_decided_as_in_memory(kind, table, fitted, rules, tmp_path):
    file = tmp_path / f"new.{kind}"
    out = tmp_path / f"out.{kind}"
    getattr(table, f"to_{kind}")(file, index=False)
    options = ["--score", "score", "--group", "sex", "--group", "level"]
    done = call(rules, file, *options, "--out", out, "--seed", 3)
    assert done.exit_code == 0, done.output
    assert f"{N} rows decided" in done.stdout
    written = getattr(pd, f"read_{kind}")(out)
    groups = cross(table["sex"], table["level"])
    h = fitted.predict_proba(table["score"], sensitive_features=groups)
    assert np.allclose(written["h"], h, atol=1e-12)
    drawn = fitted.predict(table["score"], sensitive_features=groups, random_state=3)
    assert (written["decision"] == drawn).all()
    assert written["sex"].tolist() == table["sex"].tolist()


@pytest.mark.parametrize(
    "change, message",
    [
        (
            lambda t: t.assign(score=t["score"].where(t.index != 700, 5.0)),
            "Column 'score' must hold margins in [-1, 1]; 1 rows do not, first row "
            "701 with 5",
        ),
        (
            lambda t: t.assign(
                score=t["score"].astype(object).where(t.index != 2, "x")
            ),
            "Column 'score' must hold margins in [-1, 1]; 1 rows do not, first row 3",
        ),
        (
            lambda t: t.assign(sex=t["sex"].where(t.index != 4, "x")),
            "`sex × level` has groups ['x × ",
        ),
        (lambda t: t.drop(columns="level"), "got 'level'"),
        (lambda t: t.assign(h=1), "already has columns ['h']"),
    ],
)
def test_a_file_that_does_not_fit_is_one_clear_line(
    change, message, table, rules, tmp_path
):
    file = tmp_path / "new.csv"
    out = tmp_path / "out.csv"
    change(table).to_csv(file, index=False)
    options = ["--score", "score", "--group", "sex", "--group", "level"]
    done = call(rules, file, *options, "--out", out)
    assert done.exit_code == 2
    assert message in done.stderr
    assert "\n" not in done.stderr.strip()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["new.csv", "thresholds.json"]


def decided_file(tmp_path, table, rules, *more):
    file = tmp_path / "new.csv"
    out = tmp_path / "out.csv"
    table.to_csv(file, index=False)
    options = ["--score", "score", "--group", "sex", "--group", "level", *more]
    return call(rules, file, *options, "--out", out), out


@pytest.fixture
def as_probabilities(table):
    return table.assign(score=(table["score"] + 1) / 2)


def test_probabilities_are_refused_where_margins_are_meant(
    as_probabilities, rules, tmp_path
):
    done, _ = decided_file(tmp_path, as_probabilities, rules)
    assert done.exit_code == 2
    assert "may be probabilities" in done.stderr
    assert "--score-type" in done.stderr
    assert not list(tmp_path.glob("out*"))
    done, _ = decided_file(
        tmp_path, as_probabilities, rules, "--score-type", "probability"
    )
    assert done.exit_code == 0, done.output


def test_expected_and_obtained_rates_are_printed(table, rules, tmp_path):
    half = table.iloc[: N // 2]
    done, out = decided_file(tmp_path, half, rules)
    lines = [line.rsplit(maxsplit=3) for line in done.stdout.splitlines()[2:]]
    written = pd.read_csv(out)
    names = written["sex"] + " × " + written["level"].astype(str)
    obtained = written.groupby(names)["h"].agg(["size", "mean"])
    assert [line[0].strip() for line in lines] == list(obtained.index)
    assert [int(line[1]) for line in lines] == obtained["size"].tolist()
    assert {line[2] for line in lines} == {"0.300"}
    assert [line[3] for line in lines] == [f"{rate:.3f}" for rate in obtained["mean"]]


def test_the_result_must_be_csv_or_parquet(table, rules, tmp_path):
    table.to_csv(tmp_path / "new.csv", index=False)
    options = ["--score", "score", "--group", "sex", "--out", tmp_path / "out.xlsx"]
    done = call(rules, tmp_path / "new.csv", *options)
    assert done.exit_code == 2
    assert "`--out` must be one of ['.csv', '.parquet']" in done.stderr
