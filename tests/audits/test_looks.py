"""Questions asked of the same rows are counted, and corrected for all of them."""

import numpy as np
import pytest
from scipy.stats import norm

from fairdash.audits import Answer, Looks
from fairdash.audits.looks import chance_of
from fairdash.metrics import Finding
from fairdash.store import Store


def answer(value, half, *, sure=True, details=""):
    ends = value - half, value + half
    gap = Finding("selection_rate", None, "a", "b", value, *ends, 100, sure)
    return Answer(f"A gap of {value}.", difference=gap, details=details)


def test_the_chance_of_a_finding_is_that_of_its_interval():
    gap = answer(0.2, 0.15).difference
    assert chance_of(gap) == pytest.approx(2 * norm.sf(0.2 / (0.15 / 1.959964)))
    turned = answer(-0.2, 0.15).difference
    assert chance_of(turned) == pytest.approx(chance_of(gap))
    assert chance_of(answer(0.2, 0.3, sure=False).difference) == 1
    assert chance_of(None) == 1


def test_one_question_and_the_same_again_need_no_correction():
    looks = Looks()
    assert looks.words(answer(0.2, 0.19)) == ""
    assert looks.words(answer(0.2, 0.19)) == ""


def test_a_gap_is_no_longer_sure_after_enough_other_questions():
    looks = Looks()
    clear = answer(0.3, 0.1)
    near = answer(0.2, 0.19)
    looks.words(clear)
    for part in range(5):
        assert looks.words(answer(0.1, 0.3, sure=False, details=str(part))) == ""
    assert "7 different questions" in looks.words(near)
    assert "no longer sure" in looks.words(near)
    assert "7 different questions" in looks.words(clear)
    assert "stays sure" in looks.words(clear)


def test_windows_count_on_from_what_is_kept_with_a_run(tmp_path):
    store = Store(tmp_path)
    first = Looks(store=store, owner="run 1")
    two = Looks(store=store, owner="run 1")
    near = answer(0.2, 0.19)
    assert first.words(near) == ""
    for part in range(4):
        two.words(answer(0.1, 0.3, sure=False, details=str(part)))
    assert "6 different questions" in first.words(answer(0.3, 0.1))
    later = Looks(store=Store(tmp_path), owner="run 1")
    assert "no longer sure" in later.words(near)
    assert Looks(store=store, owner="run 2").words(near) == ""
    store.delete_looks("run 1")
    assert store.looks("run 1") == {}
    assert len(store.looks("run 2")) == 1


def test_a_damaged_question_is_left_out_and_an_address_is_no_path(tmp_path):
    store = Store(tmp_path / "home")
    looks = Looks(store=store, owner="../../elsewhere")
    looks.words(answer(0.2, 0.19))
    looks.words(answer(0.3, 0.1))
    files = list(tmp_path.rglob("look.json"))
    assert len(files) == 2
    assert all(file.is_relative_to(tmp_path / "home" / "looks") for file in files)
    files[0].write_text("{}")
    assert len(store.looks("../../elsewhere")) == 1


def test_of_fair_tables_few_have_a_sure_gap_however_many_questions_are_asked():
    """Of twenty questions one finds a clear gap in two of three fair tables."""
    rng = np.random.default_rng(0)
    n_tables = 400
    clear = 0
    sure = 0
    for _ in range(n_tables):
        looks = Looks()
        drawn = rng.normal(size=20)
        queries = [
            answer(z, 1.959964, sure=abs(z) > 1.959964, details=str(z)) for z in drawn
        ]
        for query in queries:
            looks.words(query)
        clear += any(query.difference.sure for query in queries)
        sure += any("stays sure" in looks.words(query) for query in queries)
    assert clear / n_tables > 0.5
    assert sure / n_tables <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / n_tables)
