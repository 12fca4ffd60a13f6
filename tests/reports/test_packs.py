"""Evidence packs: tests by hand, the search by simulation, both formats."""

import json

import numpy as np
import pandas as pd
import pytest
from reading import ReportPage
from scipy.stats import fisher_exact
from typer.testing import CliRunner

from fairdash.audits.tables.adverse import impact_tests
from fairdash.audits.tables.alternative import less_discriminatory
from fairdash.cli import app


def call(*arguments):
    done = CliRunner().invoke(app, ["report", *map(str, arguments)])
    assert done.exit_code == 0, done.output
    return done


@pytest.fixture
def file(tmp_path):
    rng = np.random.default_rng(0)
    sex = rng.choice(["f", "m", None], 800, p=[0.45, 0.5, 0.05])
    score = rng.normal(0.2 * (sex == "m"), 1).round(3)
    frame = pd.DataFrame(
        {
            "sex": sex,
            "race": rng.choice(["<i>x", "y"], 800),
            "score": score,
            "hired": np.where(score > 0.3, "yes", "no"),
        }
    )
    frame.to_csv(tmp_path / "people.csv", index=False)
    return tmp_path / "people.csv"


def test_tests_of_adverse_impact_are_those_of_a_hand_computation():
    """48 of 80 and 12 of 40: a ratio of one half."""
    groups = np.repeat(["m", "f"], [80, 40])
    selected = np.concatenate([np.arange(80) < 48, np.arange(40) < 12])
    scores = np.concatenate([np.tile([1.0, 3.0], 40), np.tile([0.0, 2.0], 20)])
    (row,) = impact_tests(selected, groups, scores=scores).to_dict("records")
    assert (row["group"], row["reference"], row["n"], row["selected"]) == (
        "f", "m", 40, 12,
    )  # fmt: skip
    assert (row["rate"], row["reference_rate"]) == pytest.approx((0.3, 0.6))
    assert row["ratio"] == pytest.approx(0.5)
    assert row["below_four_fifths"]
    # both: 60 of 120; sd = sqrt(.25 (1/40 + 1/80)) = .0968; -.3 / .0968
    assert row["deviations"] == pytest.approx(-3.0984, abs=1e-4)
    assert row["two_deviations"]
    assert row["shortfall"] == pytest.approx(40 * 0.5 - 12)
    assert row["p_fisher"] == pytest.approx(fisher_exact([[12, 28], [48, 32]])[1])
    spread = np.sqrt((79 * 80 / 79 + 39 * 40 / 39) / 118)
    assert row["smd"] == pytest.approx(-1 / spread)


def candidates(rng, n, better):
    """Return outcomes, groups, present decisions and 30 models of equal accuracy.

    One of them, if ``better``, has no gap; the others have the present one.
    """
    group = rng.choice(["a", "b"], n)
    y = rng.random(n) < 0.5

    def model(gap):
        rate = np.where(group == "a", 0.15 + gap, 0.15)
        return np.where(rng.random(n) < rate, ~y, y) | (
            (group == "a") & (rng.random(n) < gap)
        )

    models = {str(k): model(0.25) for k in range(30)}
    if better:
        models["fair"] = model(0.0)
    return y, group, model(0.25), models


def test_an_alternative_that_is_there_is_found_and_one_that_is_not_seldom():
    """With 31 models to search, of which none or one narrows the gap: 8 each."""
    confirmed = {True: 0, False: 0}
    covered = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        for better in (True, False):
            y, group, present, models = candidates(rng, 8000, better)
            alternatives = less_discriminatory(
                y, present, models, sensitive_features=group,
                search_rows=np.arange(4000), confirm_rows=np.arange(4000, 8000),
            )  # fmt: skip
            confirmed[better] += alternatives.name is not None
            if better:
                assert alternatives.name in (None, "fair")
            else:
                covered += alternatives.most >= 0
                assert "None of" in alternatives.words or alternatives.name
    assert confirmed[True] >= 7
    assert confirmed[False] <= 1
    assert covered == 8


def test_a_pack_of_local_law_144_holds_ratios_bounds_and_unknown_people(file, tmp_path):
    frame = pd.read_csv(file)
    command = ["--pack", "ll144", "--group", "sex", "--group", "race"]
    out = tmp_path / "pack.html"
    call(file, *command, "--decision", "hired=yes", "--out", out)
    page = out.read_text()
    document = ReportPage(page)
    table = document.table("By sex")
    hired = (frame["hired"] == "yes").groupby(frame["sex"]).mean()
    ratio = hired.min() / hired.max()
    assert float(table.loc[hired.idxmin(), "Impact ratio"]) == pytest.approx(
        ratio, abs=6e-4
    )
    assert f"{frame['sex'].isna().sum()} people of unknown category" in page
    assert "not legal advice" in page
    assert "Local Law 144" in page
    assert "<i>x" not in page
    call(file, *command, "--score", "score", "--out", tmp_path / "pack.md")
    text = (tmp_path / "pack.md").read_text()
    assert "Scoring rate" in text
    assert "not legal advice" in text
    (tmp_path / "counts.csv").write_text(
        "category,n,selected,ratio\na,90,45,1\nb,90,9,.4"
    )
    call(tmp_path / "counts.csv", "--pack", "ll144", "--out", tmp_path / "counts.md")
    assert "0.4; its counts give 0.20" in (tmp_path / "counts.md").read_text()


def test_packs_of_a_run_search_its_models_and_list_annex_iv(swept, tmp_path):
    store, run_id = swept
    out = tmp_path / "annex.html"
    home = ["--home", store.home]
    call(run_id, "--pack", "eu-ai-act", "--out", out, *home)
    document = ReportPage(out.read_text())
    table = document.table("Technical documentation")
    assert table.loc["2d", "Status"] == "in part"
    assert "origin" in table.loc["2d", "Missing"]
    assert table.loc["2e", "Status"] == "missing"
    assert table.loc["4", "Status"] == "missing"  # a glossary is no reason
    assert (table["Status"] == "filled").sum() == 0
    assert table.loc["2e", "Missing"] == table.loc["2e", "It asks for"]
    out = tmp_path / "alternative.md"
    call(run_id, "--pack", "adverse-impact", "--out", out, *home)
    text = out.read_text()
    assert "Models searched" in text
    assert "not legal advice" in text


def test_documents_of_a_run_share_its_data_its_dates_and_the_model_before(
    swept, tmp_path
):
    store, run_id = swept
    home = ["--home", store.home]
    written = {}
    for name, options in {
        "report": [],
        "annex": ["--pack", "eu-ai-act"],
        "alternatives": ["--pack", "adverse-impact"],
    }.items():
        out = tmp_path / f"{name}.json"
        call(run_id, *options, "--out", out, *home)
        written[name] = json.loads(out.read_text())
    first = written["report"]
    record = store.dataset_record(store.run(run_id).dataset_id)
    assert first["data"]["sha256"] == record.table_sha256
    assert sum(group["n"] for group in first["data"]["groups"]) == first["data"]["used"]
    assert first["before"]
    for other_page in written.values():
        for name in ("run", "before", "after", "started", "finished", "seeds", "data"):
            assert other_page[name] == first[name], name
    assert written["alternatives"]["present"] == first["before"]
    call(run_id, "--pack", "adverse-impact", "--out", tmp_path / "a.md", *home)
    text = (tmp_path / "a.md").read_text()
    for words in (
        record.table_sha256,
        f"**Model before**: {first['before']}",
        "**Seeds**",
    ):
        assert words in text


def test_no_point_of_annex_iv_is_called_filled_that_lacks_something(swept, tmp_path):
    store, run_id = swept
    call(
        run_id, "--pack", "eu-ai-act", "--out", tmp_path / "a.md", "--home", store.home
    )
    text = (tmp_path / "a.md").read_text()
    assert "Of 18 points this run fills 0 whole and 6 in part; of 12" in text
    assert "| filled |" not in text


def test_a_model_that_accepts_nearly_all_is_no_alternative():
    """It closes the gap at no cost in accuracy, for nobody is decided otherwise."""
    rng = np.random.default_rng(1)
    n = 4000
    group = rng.choice(["a", "b"], n)
    y = rng.random(n) < 0.8
    present = rng.random(n) < np.where(group == "a", 0.95, 0.7)
    nearly_all = np.ones(n, int)
    nearly_all[np.flatnonzero(~y)[:20]] = 0  # right, and half a percent of people
    search = np.arange(n // 2)
    confirm = np.arange(n // 2, n)
    rows = {"search_rows": search, "confirm_rows": confirm, "loss": 0.2}
    alternatives = less_discriminatory(
        y, present, {"all": nearly_all}, sensitive_features=group, **rows
    )
    assert (alternatives.name, alternatives.candidate) == (None, None)
    fair = rng.random(n) < np.where(y, 0.9, 0.6)
    models = {"all": nearly_all, "fair": fair.astype(int)}
    alternatives = less_discriminatory(
        y, present, models, sensitive_features=group, **rows
    )
    assert alternatives.name == "fair"
