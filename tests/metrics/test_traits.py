"""What the rows with the largest weights have in common."""

import numpy as np
import pandas as pd
import pytest

from fairdash.metrics import top_rows, traits, wilson_interval

FRAME = pd.DataFrame(
    {
        "sex": ["Female", "Male"] * 50,
        "age": np.repeat(np.arange(20, 70), 2),
        "income": np.linspace(0.5, 9.5, 100),
        "member": [True, False, False, False] * 25,
        "region": ["north", None, "south", "south"] * 25,
    }
)


def test_the_top_rows_are_the_largest_in_falling_order():
    assert top_rows([0.1, 3.0, 2.0, 3.0], 0.5).tolist() == [1, 3]
    assert top_rows(np.arange(200), 0.001).tolist() == [199]
    with pytest.raises(ValueError, match="`share` must lie in"):
        top_rows([1.0], 0)


def test_a_trait_is_a_share_among_the_top_against_all():
    top = np.arange(0, 10, 2)  # five women among the youngest
    table = traits(FRAME, top).set_index("column")
    sex = table.loc["sex"]
    assert (sex["trait"], sex["share_all"], sex["share_top"]) == ("sex Female", 0.5, 1)
    assert sex["lift"] == 2
    n_values = 2 + 4 + 4 + 2 + 3  # sex, quarters of age and income, member, region
    low, high = wilson_interval(5, 5, confidence=1 - 0.05 / n_values)
    assert (sex["ci_low"], sex["ci_high"]) == (low, high)
    assert table.loc["age", "trait"] == "age 20–32"
    assert table.loc["member", "trait"] == "member 1"
    gain = table["share_top"] - table["share_all"]
    assert gain.is_monotonic_decreasing


def test_of_rows_drawn_at_random_few_have_a_trait_beyond_its_interval():
    rng = np.random.default_rng(2)
    claimed = 0
    for _ in range(100):
        columns = {f"c{i}": rng.choice(list("abcd"), 1000) for i in range(8)}
        table = traits(pd.DataFrame(columns), rng.choice(1000, 100, replace=False))
        claimed += (table["ci_low"] > table["share_all"]).any()
    assert claimed <= 6


def test_ranges_of_whole_numbers_do_not_overlap_and_cover_all_rows():
    ages = {
        traits(FRAME[["age"]], [row]).loc[0, "value"]: traits(FRAME[["age"]], [row])
        for row in range(100)
    }
    assert list(ages) == ["20–32", "33–44", "45–57", "58–69"]
    assert sum(table.loc[0, "share_all"] for table in ages.values()) == pytest.approx(1)
    for name, table in ages.items():
        low, high = map(int, name.split("–"))
        inside = FRAME["age"].between(low, high).mean()
        assert table.loc[0, "share_all"] == pytest.approx(inside)


def test_missing_values_are_a_value_of_their_own():
    table = traits(FRAME[["region"]], [1, 5])
    assert table.loc[0, ["value", "share_all", "share_top"]].tolist() == [
        "missing", 0.25, 1,
    ]  # fmt: skip


def test_large_or_close_numbers_are_named_apart():
    """Amounts, times and years with decimals differ beyond a few digits."""
    seconds = pd.DataFrame({"x": 1_700_000_000 + 37 * np.arange(100)})
    assert traits(seconds, [0]).loc[0, "value"] == "1700000000–1700000915"
    close = pd.DataFrame({"x": np.linspace(10001, 10002, 100).round(3)})
    assert traits(close, [0]).loc[0, "value"] == "10001–10001.3"


@pytest.mark.parametrize("confidence", [0, -1, 1.5])
def test_a_confidence_that_is_shared_out_is_checked_as_it_is_given(confidence):
    message = f"`confidence` must lie between 0 and 1, got {confidence}"
    with pytest.raises(ValueError, match=message):
        traits(FRAME, [0], confidence=confidence)
