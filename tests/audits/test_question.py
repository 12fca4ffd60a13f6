"""One model in question, and what is recommended, after sweeps on generated tables."""

import numpy as np
import pandas as pd
import pytest
from cases import examples, sampled
from hypothesis import given
from hypothesis import strategies as st
from toys import people

from fairdash._deciding import nearly_alike
from fairdash._wording import gap_size, percent
from fairdash.audits import (
    DecisionRule,
    choices,
    portable,
    question,
    recommendation,
    sweeps,
    training,
    trials,
)
from fairdash.audits.gaps.evaluation import paired_changes
from fairdash.audits.trials.models import on_shared_seeds
from fairdash.datasets import Roles, Subgroups
from fairdash.jobs import queue, run_open
from fairdash.store import open_store
from fairdash.sweep import BASELINE, PARITY, SweepResult, SweepSpec, decides

QUICK = {"n_epochs": 6, "batch_size": 64}
GRID = {"fairness_weight": [0.5, 4.0]}
ROLES = Roles(
    target="hired",
    positive="yes",
    sensitive_feature="origin",
    features=("age", "skill", "branch"),
)


def three_groups():
    """Three groups, one of them far worse off."""
    frame = people(600, seed=3)
    rng = np.random.default_rng(3)
    frame["origin"] = np.where(rng.random(600) < 0.3, "far", frame["origin"])
    frame.loc[(frame["origin"] == "far") & (frame["skill"] < 1), "hired"] = "no"
    return frame


def fair():
    """Groups that nothing tells apart: the plain model keeps the limit."""
    frame = people(600, seed=4)
    frame["origin"] = np.random.default_rng(4).permutation(frame["origin"])
    return frame


def of_chance():
    """Outcomes that no feature says anything of."""
    frame = people(600, seed=5)
    frame["hired"] = np.random.default_rng(5).permutation(frame["hired"])
    return frame


def counts():
    """Rows that stand for several people each."""
    return people(500, seed=6).assign(n=np.random.default_rng(6).integers(1, 6, 500))


def sixty_rows():
    """Fewer test rows than a subgroup needs."""
    return people(60, seed=7)


TABLES = {f.__name__: f for f in (three_groups, fair, of_chance, counts, sixty_rows)}


@pytest.fixture(scope="module", params=sampled(TABLES, 2))
def sweep(request, tmp_path_factory):
    """A sweep of two methods at three seeds over one of the tables."""
    store = open_store(tmp_path_factory.mktemp("question") / "home")
    frame = TABLES[request.param]()
    weight = "n" if "n" in frame else None
    roles = ROLES.model_copy(update={"sample_weight": weight})
    table = store.add_table(frame.to_csv(index=False).encode(), "people.csv")
    subgroups = Subgroups(columns=("branch",), min_size=20)
    store.add_dataset(table, roles, request.param, subgroups)
    spec = SweepSpec.model_validate(
        {
            "data": {"table": table, "roles": roles, "name": request.param},
            "methods": [
                {"method": "unconstrained", "params": QUICK},
                {"method": "road", "params": {**QUICK, **GRID}},
                {"method": "adversarial", "params": {**QUICK, **GRID}},
            ],
            "seeds": [0, 1, 2],
            "subgroups": subgroups,
        }
    )
    run = queue(store, spec, name="Two")
    run_open(store)
    yield sweeps.finished_sweep(store, run)
    store.close()


def test_every_place_speaks_of_the_model_a_sweep_opens_on(sweep):
    store = sweep.store
    run = sweep.run
    query = question.ModelInQuestion.of(store, run.id)
    limit = float(run.spec["di_limit"])
    assert query.id == sweep.ids[sweep.result.start(limit)]
    assert (query.named, query.splits) == (False, (0, 1, 2))
    assert choices.opened_on(store, run.id).id == query.id
    assert portable.model_asked(store, run.id).id == query.id
    (row,) = training.run_table(store, [run]).to_dict("records")
    assert row["Model"] == query.setting.label
    compared = question.models_of(
        store, trials.known_models_of(store, [run.id]), run.id
    )
    assert compared[-1].id == query.id


def test_a_named_model_its_seed_and_the_rule_are_kept(sweep):
    store = sweep.store
    run = sweep.run.id
    top = DecisionRule("top", 30)
    for model in trials.known_models_of(store, [run]):
        query = question.ModelInQuestion.of(store, run, name=model.id, seed=1, rule=top)
        assert (query.id, query.splits, query.named) == (model.id, (1,), True)
        (trial,) = query.decided.trials
        assert (trial.split, trial.rule) == (1, top)
        other_question = question.ModelInQuestion.of(store, run, name=model.id, seed=9)
        assert other_question.splits == (0, 1, 2)


LIMITS = pytest.mark.parametrize("limit", [0.0, 0.05, 0.5])


@LIMITS
def test_a_recommendation_has_its_accuracy_and_decides(sweep, limit):
    best = recommendation.recommend(sweep, limit)
    means = sweep.result.means
    start = sweep.result.start(limit)
    if best.place is None and decides(means, "validation")[start]:
        assert "on test rows." in best.words
        assert not decides(means, "test")[start]
        return
    if best.place is None:
        assert "No setting is recommended: on validation rows" in best.words
        return
    row = means.iloc[best.place]
    assert decides(means, "validation")[start]
    assert f"accuracy {percent(row['test_accuracy'])}" in best.words
    assert f"gap {gap_size(row[f'test_{PARITY}'])}" in best.words
    assert not nearly_alike(row["test_selection_rate"], 0.5)


@LIMITS
def test_a_recommendation_is_the_plain_model_else_the_best_within_the_limit(
    sweep, limit
):
    best = recommendation.recommend(sweep, limit)
    if best.place is None:
        return
    means = sweep.result.means
    plain = means.index[means["method"] == BASELINE]
    able = decides(means, "validation")
    keeps = able & (means[f"validation_{PARITY}"] <= limit)
    assert ("nothing to fix" in best.words) == bool(keeps[plain].any())
    if keeps[plain].any():
        assert best.place in plain
    elif keeps.any():
        limited = f"Best within the limit of {100 * limit:g} points on the gap: "
        assert best.words.startswith(limited)
        accuracy = means["validation_accuracy"]
        assert accuracy[best.place] == accuracy[keeps].max()
        assert " gap" in best.words.split("). ")[1]  # whether it changed clearly
    else:
        assert best.words.startswith("No setting keeps the gap within")
        gaps = means.loc[able, f"validation_{PARITY}"]
        assert gaps[best.place] == gaps.min()
    assert best.beside(best.place) == best.choice
    assert best.beside(None) == best.words


@LIMITS
def test_a_recommendation_without_a_clear_change_says_that_the_plain_model_may_do(
    sweep, limit
):
    best = recommendation.recommend(sweep, limit)
    means = sweep.result.means
    if best.place is None or means["method"].iloc[best.place] == BASELINE:
        return
    before, after = on_shared_seeds(sweep.compared(best.place)).models
    data = sweep.run.dataset_id
    arguments = sweep.subgroups
    changes = paired_changes(sweep.store, after, before, data, arguments)
    gap = changes.set_index("metric").loc[PARITY]
    unsure = gap["low"] <= 0 <= gap["high"]
    assert ("the plain model may do as well" in best.words) == unsure
    piece = gap_size(means.iloc[best.place][f"validation_{PARITY}"])
    assert (f"on validation rows, {piece} against " in best.words) == unsure
    headline = choices.setting_answer(sweep, best.place).verdict
    if not unsure:  # so nothing is lost beside it
        label = sweep.result.labels[best.place]
        assert best.change.replace("It ", f"{label} ", 1) in headline
    assert "accuracy" in headline
    assert best.change in best.words


def test_the_answer_of_a_setting_is_about_that_setting(sweep):
    labels = set(sweep.result.labels)
    result = sweep.result
    decides = [
        not (result.deciding(place).idle or result.deciding(place, "test").idle)
        for place in range(len(result.labels))
    ]
    texts = [
        "No setting decides on these rows" in text
        for text in (
            sweep.none_decides(),
            *(choices.setting_answer(sweep, p).verdict for p in range(len(decides))),
        )
    ]
    assert set(texts) == {not any(decides)}
    if not any(decides):
        opened = result.start(0.05)
        assert result.means["method"][opened] == BASELINE
    for place, label in enumerate(sweep.result.labels):
        answer = choices.setting_answer(sweep, place)
        other_labels = labels - {label, "Unconstrained"}
        assert not any(other_label in answer.verdict for other_label in other_labels)
        tested = sweep.result.deciding(place, "test")
        judged = sweep.result.deciding(place)
        if tested.idle or judged.idle:
            fact = tested if tested.idle else judged
            assert answer.verdict.startswith(f"{label} {fact.predicate()}")
        assert ("narrows" not in answer.verdict) or "accuracy" in answer.verdict


SHARE = st.integers(0, 8).map(lambda value: value / 8)


@examples(60)
@given(st.data())
def test_no_sweep_opens_on_a_model_worse_than_the_plain_one(data):
    """On validation rows: neither over the limit nor at a larger gap than the plain."""
    n = data.draw(st.integers(2, 6))
    names = ["accuracy", PARITY, "constant"]
    columns = [f"{part}_{name}" for part in ("validation", "test") for name in names]
    values = st.tuples(*[SHARE] * len(columns))
    rows = pd.DataFrame(
        data.draw(st.lists(values, min_size=n + 1, max_size=n + 1)), columns=columns
    )
    for part in ("validation", "test"):
        rows[f"{part}_constant"] = (rows[f"{part}_constant"] > 0.7).astype(float)
    rows = rows.assign(
        key=[str(i) for i in range(n + 1)],
        method=[BASELINE, *["road"] * n],
        seed=0,
        fairness_weight=[np.nan, *np.arange(n) / 2],
    )
    limit = data.draw(SHARE)
    result = SweepResult.of(rows)
    opened = rows.iloc[result.start(limit)]
    plain = rows.iloc[0]
    gap = f"validation_{PARITY}"
    if plain["validation_constant"] == 0:
        assert opened["validation_constant"] == 0
        assert opened[gap] <= max(plain[gap], limit)
        if plain[gap] <= limit:
            assert opened["key"] == plain["key"]
        elif opened[gap] > limit and opened["key"] != plain["key"]:
            assert opened[gap] < plain[gap]
    able = rows["validation_constant"] == 0
    if able.any():
        assert able[result.start(limit)]
