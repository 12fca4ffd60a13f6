"""Headlines are short facts: read back, they agree with the numbers they are of."""

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdash._wording import between, fitting, listing, number, percent, wrap
from fairdash.metrics import Correlation
from fairdash.plots import (
    plot_comparison,
    plot_ratio_against_di,
)
from fairdash.plots._local import local_finding
from fairdash.plots._training import training_finding

METRICS = ("accuracy", "demographic_parity_difference", "worst_1_di")
shares = st.floats(0, 1).map(lambda share: round(share, 4))


def value_of(words):
    """Return the first number of a sentence."""
    return float(re.search(r"\d+\.\d+", words).group())


@st.composite
def model_tables(draw):
    """Tables of models with intervals, some without a worst gap, some constant."""
    rows = []
    for label in ("Unconstrained", "ROAD λ 2", "Zhang λ 1")[: draw(st.integers(1, 3))]:
        row = {"label": label, "colour_role": "road"}
        for metric in METRICS:
            ends = sorted([draw(shares), draw(shares), draw(shares)])
            low, row[metric], high = ends
            row |= {f"{metric}_low": low, f"{metric}_high": high}
        if draw(st.booleans()):
            row |= dict.fromkeys([name for name in row if "worst" in name], np.nan)
        rows.append(row | {"constant": float(draw(st.booleans()))})
    return pd.DataFrame(rows)


@st.composite
def change_tables(draw):
    """Paired changes such as `fairdash.metrics.compare` gives, some undefined."""
    rows = []
    for metric in METRICS:
        value, reference = draw(shares), draw(shares)
        spread = draw(st.floats(0, 0.5))
        low, high = value - reference - spread, value - reference + spread
        if draw(st.integers(0, 5)) == 0:
            low = high = np.nan
        rows.append((metric, value, reference, value - reference, low, high))
    columns = ["metric", "value", "reference", "difference", "low", "high"]
    return pd.DataFrame(rows, columns=columns)


@given(model_tables())
def test_only_models_that_decide_are_called_the_best(table):
    words = plot_comparison(table).headline
    able = table[(table["constant"] == 0) & table["worst_1_di"].notna()]
    if len(table) == 1:
        assert words == f"{table['label'].iloc[0]} alone"
    elif len(able) < 2:
        assert words == "Fewer than two models decide and can be compared"
    elif able["worst_1_di_low"].max() <= able["worst_1_di_high"].min():
        assert words == "On the worst local gap all intervals overlap"
    else:
        best = able.loc[able["worst_1_di"].idxmin(), "label"]
        assert words == f"The smallest worst local gap is that of {best}"


@given(model_tables(), st.none() | change_tables(), shares)
def test_what_a_model_came_to_is_its_change_beyond_noise(table, changes, chance):
    row = table.iloc[-1]
    picture = plot_comparison(table, label=row["label"], changes=changes, chance=chance)
    words = picture.headline
    assert len(words) <= 70
    if row["constant"]:
        assert "is constant, or not told" in words
        return
    if changes is None:
        if np.isnan(row["worst_1_di"]):
            assert words.startswith("No subgroup is estimable")
        else:
            assert value_of(words) == pytest.approx(row["worst_1_di"], abs=5.1e-4)
            assert ("is within what chance shows" in words) == (
                row["worst_1_di"] <= chance
            )
        return
    known = changes.set_index("metric")
    worst, accuracy = known.loc["worst_1_di"], known.loc["accuracy"]
    if np.isnan(worst["low"]) or np.isnan(accuracy["low"]):
        assert "not estimable" in words
        return
    clear = worst["low"] > 0 or worst["high"] < 0
    assert ("Worst-1-DI: the intervals overlap" in words) == (not clear)
    if clear:
        assert ("cuts" in words) == (worst["difference"] < 0)
        amount = value_of(words)
        assert amount == pytest.approx(abs(worst["difference"]), abs=6e-3)
    sure = accuracy["low"] > 0 or accuracy["high"] < 0
    assert ("accuracy intervals overlap" in words) == (not sure)
    if sure:
        points = float(re.search(r"([\d.]+) pt", words).group(1))
        assert points == pytest.approx(100 * abs(accuracy["difference"]), abs=0.051)
        assert ("falls" in words) == (accuracy["difference"] < 0)


@given(st.lists(shares, min_size=1, max_size=6), st.data())
def test_the_worst_subgroup_is_named_with_its_gap(gaps, data):
    estimable = data.draw(st.lists(st.booleans(), min_size=len(gaps), max_size=6))
    estimable = estimable[: len(gaps)]
    chance = data.draw(shares)
    table = pd.DataFrame({"gap": gaps, "estimable": estimable, "label": "ROAD"})
    table["subgroup"] = [f"age {letter}" for letter in "abcdef"[: len(gaps)]]
    words = local_finding(table, label="ROAD", chance=chance)
    known = table[table["estimable"]]
    if known.empty:
        assert words.startswith("No subgroup is estimable")
        return
    worst = known.loc[known["gap"].idxmax()]
    assert value_of(words) == pytest.approx(worst["gap"], abs=5.1e-3)
    assert ("is within what chance shows" in words) == (worst["gap"] <= chance)
    assert (worst["subgroup"] in words) == (worst["gap"] > chance)


def test_a_clear_gain_is_said_and_an_unclear_one_is_not(local_table, changes):
    words = local_finding(local_table, label="ROAD λ 2", changes=changes)
    assert words == "ROAD λ 2 cuts the worst gap from 0.30 to 0.15"
    unclear = changes.assign(high=0.1)
    words = local_finding(local_table, label="ROAD λ 2", changes=unclear)
    assert words == "Worst local gaps: 0.15 and 0.30, the intervals overlap"
    # over seeds the mean of maxima exceeds the largest of the means that are drawn
    words = local_finding(
        local_table, label="ROAD λ 2", changes=unclear.replace(0.15, 0.18)
    )
    assert (
        words == "Mean of each seed's worst gap: 0.18 and 0.30, the intervals overlap"
    )
    above = changes.replace({"reference": {0.3: 0.33}})
    words = local_finding(local_table, label="ROAD λ 2", changes=above)
    said = "cuts the mean of each seed's worst gap from 0.33 to 0.15"
    assert words == f"ROAD λ 2 {said}"
    undefined = changes.assign(low=np.nan, high=np.nan)
    words = local_finding(local_table, label="ROAD λ 2", changes=undefined)
    assert words == "The gap is largest in Men 25–34: 0.15"
    idle = local_finding(local_table, label="ROAD λ 2", changes=changes, constant=1.0)
    assert idle == "ROAD λ 2 is constant, or not told from chance"


def losses(values):
    epochs = np.arange(1, len(values) + 1)
    return pd.DataFrame({"epoch": epochs, "validation_loss": values})


def test_validation_loss_falls_only_beyond_its_noise():
    rng = np.random.default_rng(0)
    level = [training_finding(losses(rng.normal(0.6, 0.01, 60))) for _ in range(400)]
    assert np.mean(["no longer" not in words for words in level]) < 0.05
    falling = 0.7 - 0.004 * np.arange(60)
    for noise in (0, 0.005):
        noisy = falling + rng.normal(0, noise, 60)
        assert training_finding(losses(noisy)) == "Validation loss still falls"
    flat = np.concatenate([falling, np.full(60, falling[-1])])
    noisy = flat + rng.normal(0, 0.002, 120)
    assert training_finding(losses(noisy)) == "Validation loss no longer falls"
    assert training_finding(losses(falling[:4])) == "The first epochs"
    assert training_finding(losses(np.full(30, 0.5))).endswith("no longer falls")


@given(st.integers(8, 40), st.integers(0, 1000))
def test_where_validation_loss_turned_is_named(turn, seed):
    noise = np.random.default_rng(seed).normal(0, 0.002, 60)
    values = 0.5 + np.abs(np.arange(1, 61) - turn) / 100 + noise
    words = training_finding(losses(values))
    assert words.endswith("and rises again")
    assert abs(int(re.search(r"epoch (\d+)", words).group(1)) - turn) <= 2


@pytest.mark.parametrize(
    "low, high, words",
    [
        (0.7, 0.98, "Larger weights lie where the gaps are larger"),
        (-0.9, -0.1, "Larger weights lie where the gaps are smaller"),
        (-0.2, 0.9, "No clear link of weights and gaps: the interval covers 0"),
        (np.nan, np.nan, "Too few subgroups to relate weights and gaps"),
    ],
)
def test_a_correlation_is_claimed_only_if_its_interval_excludes_0(
    ratio_table, low, high, words
):
    related = Correlation(0.5, low, high, 4, np.nan, np.nan)
    picture = plot_ratio_against_di(ratio_table, colour_role="road", related=related)
    assert picture.headline == words


@given(st.text(st.characters(categories=["L", "Nd", "Zs"]), min_size=1, max_size=90))
def test_long_names_never_make_a_finding_longer_than_70(name):
    words = fitting(f"The gap is largest in {name}: 0.30", f"Largest gap: {name}")
    assert 0 < len(words) <= 70


def test_numbers_are_written_as_the_house_writes_them():
    assert number(-0.0761) == "−0.076"
    assert number(float("nan")) == percent(float("nan")) == "–"
    assert percent(0.6512, 1) == "65.1%"
    assert between(0.092, 0.199) == "0.092–0.199"
    assert between(-0.118, -0.031) == "−0.118 to −0.031"
    assert listing(["a", "b", "c"]) == "a, b and c"
    assert listing(["a"]) == "a"
    assert (
        wrap("African-American 18 to 24 years") == "African-American 18<br>to 24 years"
    )
