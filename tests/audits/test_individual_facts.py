"""What is said of audits is computed: sentences are read and held against numbers."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from fairdash._deciding import Deciding
from fairdash.audits import AuditedModel, AuditRows, look_alikes
from fairdash.datasets import Roles, make_dataset, split
from fairdash.metrics import ignore_columns, intervals
from fairdash.scored import ScoredModel, Trained


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(3)
    n = 200
    frame = pd.DataFrame(
        {
            "years": rng.integers(0, 9, n),
            "score": rng.normal(size=n).round(2),
            "kind": rng.choice(["a", "b", "c"], n),
            "origin": rng.choice(["here", "there"], n),
            "hired": rng.choice(["yes", "no"], n),
        }
    )
    frame.loc[::7, "kind"] = None
    roles = Roles(
        target="hired",
        positive="yes",
        sensitive_feature="origin",
        features=("years", "score", "kind"),
    )
    return AuditRows.of(make_dataset(frame, roles, name="small"), 0)


def trial(**params):
    return ScoredModel(Trained("k", "sensei", params), split=0)


def test_columns_that_do_not_count_are_those_the_model_was_trained_with():
    features = ("years", "score", "kind")
    assert look_alikes.trained_columns(trial(), features) == ()
    both_options = trial(metric="both", columns="kind, gone")
    assert look_alikes.trained_columns(both_options, features) == ("kind",)
    assert look_alikes.trained_columns(trial(columns="kind"), features) == ()


def test_a_column_is_set_to_all_of_few_values_or_to_quantiles(rows):
    flips = look_alikes.flip_values(rows.dataset, ["kind", "score"])
    assert flips["kind"] == ("a", "b", "c")
    assert len(flips["score"]) == 5
    assert set(flips["score"]) <= set(rows.dataset.frame["score"])
    with pytest.raises(ValueError, match=r"'hired' cannot be flipped.*years, score"):
        look_alikes.flip_values(rows.dataset, ["hired"])


class Scorer:
    """Decides by the first number, and by what is told of the kind."""

    def positive(self, X, group):
        return np.clip(0.5 + 0.3 * X[:, 0] + 0.2 * X[:, -1], 0, 1)


@pytest.fixture(scope="module")
def model(rows):
    return AuditedModel("k", "logistic", Scorer(), rows)


@pytest.mark.parametrize("columns", [(), ("score",)])
def test_the_most_similar_person_is_the_nearest_other_row(model, columns):
    rows = model.rows
    X = rows.test.X.astype(float)
    names = rows.encoder.feature_names
    sigma = ignore_columns(columns, names).sigma if columns else np.eye(X.shape[1])
    difference = X[:, None] - X
    distance = ((difference @ sigma) * difference).sum(-1)
    np.fill_diagonal(distance, np.inf)
    places = rows.sample(25)
    pairs = look_alikes.similar_people(model, columns, places=places)
    assert pairs.n == len(pairs.people) == 25
    number = rows.dataset.row_number[rows.where] + 1
    scores = Scorer().positive(rows.test.X, None)
    for pair in pairs.people.itertuples():
        other_row = int(np.flatnonzero(number == pair.other)[0])
        assert other_row != pair.place
        assert distance[pair.place, other_row] == pytest.approx(
            distance[pair.place].min()
        )
        assert pair.fair_distance == pytest.approx(distance[pair.place].min(), abs=1e-9)
        assert pair.before == pytest.approx(scores[pair.place])
        assert pair.after == pytest.approx(scores[other_row])
        for change in pair.changes:
            if change.column == "origin":  # no column of the model, and yet shown
                groups = rows.dataset.sensitive_features[rows.where]
                assert (change.before, change.after) == (
                    groups[pair.place],
                    groups[other_row],
                )
            else:
                assert str(rows.frame[change.column].iloc[other_row]) == str(
                    change.after
                )
    turned = pairs.people["decision_changed"].to_numpy()
    assert (turned[:-1] >= turned[1:]).all()  # those decided otherwise come first
    assert pairs.share == turned.mean()
    low, high = pairs.interval
    ends = intervals.wilson_interval(turned.sum(), 25)
    assert low < ends[0] < ends[1] < high  # two people can be each other's nearest


def test_the_most_similar_person_is_no_other_visit_of_the_same(rows):
    frame = rows.dataset.frame.head(100)
    visits = pd.concat([frame, frame], ignore_index=True)
    visits["person"] = [f"p{i}" for i in np.tile(np.arange(100), 2)]
    roles = rows.dataset.roles.model_copy(update={"unit": "person"})
    data = AuditRows.of(make_dataset(visits, roles, name="visits"), 0)
    model = AuditedModel("k", "logistic", Scorer(), data)
    places = data.sample(data.n)
    unit = data.dataset.unit[data.where]
    assert len(places) == len(set(unit[places])) == data.n / 2
    flips = look_alikes.flip_values(data.dataset, ["kind"])
    assert look_alikes.changed_people(model, flips).n == len(places)
    people = look_alikes.similar_people(model, (), places=places).people
    number = data.dataset.row_number[data.where] + 1
    own_unit, other_unit = (
        unit[np.searchsorted(number, people[c])] for c in ("row", "other")
    )
    assert (own_unit != other_unit).all()


def test_only_the_columns_asked_for_change_and_the_worst_value_counts(model):
    flips = look_alikes.flip_values(model.rows.dataset, ["kind"])
    pairs = look_alikes.changed_people(model, flips)
    assert pairs.n == model.rows.n
    p = np.stack(model.flipped(flips))
    for pair in pairs.people.itertuples():
        mine = p[:, pair.place]
        turned = (mine > 0.5) != (pair.before > 0.5)
        assert pair.decision_changed == turned.any()
        if not turned.any():
            most = np.abs(mine - pair.before).max()
            assert abs(pair.after - pair.before) == pytest.approx(most)
        assert {change.column for change in pair.changes} <= {"kind"}


def test_the_answer_says_both_and_its_numbers_are_those_of_pairs(model, monkeypatch):
    decides = Deciding()  # the outcomes here are random
    monkeypatch.setitem(vars(model), "deciding", decides)
    similar = look_alikes.similar_people(model, (), places=np.arange(model.rows.n))
    changed = look_alikes.changed_people(
        model, look_alikes.flip_values(model.rows.dataset, ["kind"])
    )
    answer = look_alikes.alike_answer(
        similar, similar, changed, ("kind",), label="m", model=model
    )
    assert answer.verdict == (
        f"For {similar.share:.0%} of people the most similar other person is decided "
        f"otherwise. Changing only kind changes {changed.share:.0%} of decisions."
    )
    cards = {card.label: card for card in answer.cards}
    assert cards["Similar, other result"].value == f"{similar.share:.1%}"
    assert cards["Decisions changed"].value == f"{changed.share:.1%}"
    drawn = answer.figure.table
    assert drawn["before"].iloc[0] == similar.people["before"].iloc[0]
    ends = [frozenset(pair) for pair in zip(drawn["row"], drawn["other"], strict=True)]
    assert len(set(ends)) == len(ends)  # nobody is drawn from both sides
    none = ("origin",)
    nobody = replace(similar, people=similar.people.assign(decision_changed=False))
    equal = look_alikes.alike_answer(
        nobody, nobody, nobody, none, label="m", model=model
    )
    assert equal.verdict == (
        "Nobody's most similar other person is decided otherwise. Changing only origin "
        "changes no decision."
    )
    blind = look_alikes.alike_answer(
        similar, similar, None, none, label="m", model=model
    )
    assert blind.verdict.endswith("The model does not read origin.")
    equal = replace(model, threshold=2.0)
    idle = look_alikes.alike_answer(
        similar, similar, None, none, label="m", model=equal
    )
    share = f"For {similar.share:.0%} of people the most similar other person"
    assert idle.verdict.startswith(f"On these rows the model accepts none. {share}")
    monkeypatch.setitem(vars(model), "deciding", Deciding(guessing=True))
    doubted = look_alikes.alike_answer(
        similar, similar, changed, ("kind",), label="m", model=model
    )
    start = "On these rows the model is not clearly better than guessing. "
    assert doubted.verdict == start + answer.verdict
    assert doubted.cards == answer.cards


def test_invented_people_are_named_so_and_limits_have_the_columns_units(model):
    rows = model.rows
    places = np.arange(rows.n)
    pairs = look_alikes.invented_people(model, ("kind",), places=places, radius=0.5)
    assert pairs.share == pairs.people["decision_changed"].sum() / rows.n
    assert pairs.people["fair_distance"].max() <= 0.5 + 1e-9
    real = look_alikes.similar_people(model, (), places=np.arange(rows.n))
    answer = look_alikes.alike_answer(
        pairs, real, None, ("origin",), label="m", model=model
    )
    drawn = answer.figure.table
    assert drawn["pair"].str.contains("invented").all()
    years = rows.dataset.frame["years"].iloc[split(rows.dataset, 0).train]
    assert (
        look_alikes.own_units(rows.encoder, 0.25, most=1)
        == f"years ±{years.std(ddof=0) / 2:.2f}"
    )
    nobody = look_alikes.Pairs("similar", pairs.people.iloc[:0], 0)
    assert np.isnan(nobody.share)


def test_pairs_are_decided_at_the_threshold_of_the_model(model):
    low = replace(model, threshold=0.3)
    everyone = np.arange(model.rows.n)
    flips = look_alikes.flip_values(model.rows.dataset, ["kind"])
    for pairs in (
        look_alikes.similar_people(low, (), places=everyone),
        look_alikes.changed_people(low, flips),
        look_alikes.invented_people(low, ("kind",), places=everyone, radius=0.5),
    ):
        people = pairs.people
        turned = (people["before"] > 0.3) != (people["after"] > 0.3)
        assert (turned == people["decision_changed"]).all()
        assert turned.any()
    decided = model.encoded(model.rows.test.X, everyone) > 0.3
    moved = np.any([(p > 0.3) != decided for p in model.flipped(flips)], axis=0)
    assert look_alikes.changed_people(low, flips).share == pytest.approx(moved.mean())


def test_a_pair_that_rows_of_counts_repeat_is_drawn_once():
    people = pd.DataFrame(
        {
            "row": [1, 1, 1, 2, 3, 3],
            "other": [1, 1, 1, 1, 0, 0],
            "changes": [[], [], ["sex: f → m"], [], ["age: 3 → 4"], ["age: 3 → 4"]],
        }
    )
    assert look_alikes._once(people).index.tolist() == [0, 2, 3, 4]
