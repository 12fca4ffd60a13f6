"""What a method sees in the playground, each against a computation of its own."""

import base64
import json

import numpy as np
import pytest
from cases import sampled
from scipy.special import expit, logit

from fairdash.audits import playground
from fairdash.audits.playground import GROUPS, SCENES, sights
from fairdash.methods import CATALOG
from fairdash.methods.noisy_groups import (
    cell_probabilities,
    soft_certificate,
    soft_group_rates,
    tv_certificate,
)

NAMES = list(GROUPS)


def trained(method, scene, n=300, **params):
    """Return a method fitted alone in a scene, the people, and what it sees."""
    entry = CATALOG[method]
    people = SCENES[scene].people(n=n)
    model = entry.estimator(playground.settings_of(entry, params), random_state=0)
    groups = np.array(GROUPS)[people.group]
    model.fit(people.X, people.outcome, sensitive_features=groups)
    return model, people, sights.sight_of(model, people)


def decoded(text, kind=np.uint8):
    return np.frombuffer(base64.b64decode(text), kind)


def by_hand(network, X):
    """Return the last hidden layer and the outputs of a network."""
    hidden = np.asarray(X, float)
    for weight, bias in zip(network.weights[:-1], network.biases[:-1], strict=True):
        hidden = np.maximum(hidden @ weight + bias, 0)
    return hidden, hidden @ network.weights[-1] + network.biases[-1]


@pytest.mark.parametrize(
    ("method", "reads_hidden"), [("adversarial", False), ("fad", True)]
)
def test_the_guess_is_what_the_adversary_makes_of_what_it_reads(method, reads_hidden):
    model, people, sight = trained(method, "proxy", fairness_weight=1.0)
    points = playground.grid_points(32)
    hidden, output = by_hand(model.network_, points)
    read = hidden if reads_hidden else output
    _, guess = by_hand(model.adversary_, read)
    np.testing.assert_allclose(sight.surface.ravel(), expit(guess[:, 0]), atol=1e-6)
    hidden, output = by_hand(model.network_, people.X)
    _, guess = by_hand(model.adversary_, hidden if reads_hidden else output)
    right = np.mean((guess[:, 0] > 0) == (people.group == 1))
    assert sight.right == pytest.approx(right)
    assert sight.usual == max(people.group.mean(), 1 - people.group.mean())
    assert sight.weights is None
    for code in (0, 1):
        positive = expit(output[people.group == code, 0])
        counts, _ = np.histogram(positive, np.linspace(0, 1, 21))
        np.testing.assert_allclose(sight.outputs[code], counts / counts.sum())
    bins = np.minimum((expit(output[:, 0]) * 20).astype(int), 19)
    for place, mean in enumerate(sight.guesses):
        inside = expit(guess[bins == place, 0])
        assert (
            np.isnan(mean) if not len(inside) else mean == pytest.approx(inside.mean())
        )
    caption = sight.caption(NAMES)
    assert ("last hidden layer, not its output" in caption) == reads_hidden
    assert f"guesses the group of {100 * right:.1f}% of people right" in caption


def test_without_a_fairness_term_a_proxy_is_guessed_and_with_one_it_is_not():
    people = SCENES["proxy"].people()
    surfaces = playground.train(people, "adversarial", stops=(0, 4))
    free, debiased = surfaces.sights
    assert free.right > free.usual + 0.1
    assert debiased.right < debiased.usual + 0.02


def test_under_equalized_odds_the_adversary_reads_the_outcome_too():
    model, _, sight = trained("adversarial", "proxy", constraints="equalized_odds")
    assert "the model's output, and the outcome" in sight.caption(NAMES)
    points = playground.grid_points(32)
    qualified = model.guess_groups(points, np.ones(len(points)))[:, 1]
    np.testing.assert_allclose(sight.surface.ravel(), qualified)
    assert not np.allclose(
        qualified, model.guess_groups(points, 0 * points[:, 0])[:, 1]
    )


@pytest.mark.parametrize(("method", "fairness_weight"), [("road", 2.0), ("broad", 0.0)])
def test_half_of_the_weight_is_on_few_people_where_tau_is_small(
    method, fairness_weight
):
    captions = []
    for tau in (0.05, 0.8):
        model, people, sight = trained(
            method, "hidden_corner", tau=tau, fairness_weight=fairness_weight
        )
        np.testing.assert_array_equal(sight.weights, model.ratio_)
        falling = np.sort(model.ratio_)[::-1]
        n_needed = next(
            n for n in range(len(people)) if falling[:n].sum() >= falling.sum() / 2
        )
        share = 100 * n_needed / len(people)
        captions.append(share)
        words = f"Half of the weight r is on {share:.1f}% of people."
        assert sight.caption(NAMES).endswith(words)
        assert "Larger points: more weight r." in sight.key(NAMES)
        sent = decoded(sight.payload()["weights"]) / 255 * 9
        np.testing.assert_allclose(sent, np.minimum(model.ratio_, 9), atol=0.02)
    assert captions[0] < captions[1] / 2


@pytest.mark.parametrize("method", ["sensei", "sensr"])
def test_counterparts_raise_what_training_makes_small(method):
    """At each person at least as high, and nearly as high as a search on a line."""
    model, people, sight = trained(method, "twins")

    def raised(points):
        change = model.decision_function(points) - model.decision_function(people.X)
        if method == "sensei":
            return change**2 / 4
        p = expit(model.decision_function(points))
        return -np.log(np.where(people.outcome == 1, p, 1 - p))

    moved = sight.ends - people.X
    free = model.fair_metric_.basis
    apart = moved - moved @ free @ free.T
    price = model.history_["multiplier"].iloc[-1] * (apart**2).sum(axis=1)
    assert (raised(sight.ends) - price >= raised(people.X) - 1e-5).all()
    line = [raised(people.X + step * free[:, 0]) for step in np.linspace(-3, 3, 61)]
    assert raised(sight.ends).mean() > 0.8 * np.max(line, axis=0).mean()
    positive = model.predict_proba(sight.ends)[:, 1]
    np.testing.assert_allclose(sight.after, positive)
    change = np.abs(positive - model.predict_proba(people.X)[:, 1]).mean()
    assert f"differ by {100 * change:.1f} pt on average" in sight.caption(NAMES)


def test_a_counterpart_of_clp_has_the_free_part_of_another_person():
    model, people, sight = trained("clp", "twins")
    free = model.fair_metric_.basis[:, 0]
    np.testing.assert_allclose(
        np.sort(sight.ends @ free), np.sort(people.X @ free), atol=1e-5
    )
    apart = sight.ends - people.X
    np.testing.assert_allclose(apart, np.outer(apart @ free, free), atol=1e-5)
    assert not np.allclose(apart, 0)


def test_the_browser_gets_counterparts_of_people_spread_over_all():
    _, people, sight = trained("sensei", "twins")
    sent = sight.payload()
    assert sent["who"][0] == 0
    assert sent["who"][-1] == len(people) - 1
    places = decoded(sent["ends"], "<i2").reshape(-1, 2) / 1000
    np.testing.assert_allclose(places, sight.ends[sent["who"]], atol=1e-3)


def test_fair_log_loss_raises_one_group_to_a_floor_and_cuts_the_other():
    people = SCENES["hidden_corner"].people()
    entry = CATALOG["fair_log_loss"]
    model = entry.estimator(
        playground.settings_of(entry, {"alpha": 0.02}), random_state=0
    )
    groups = np.array(GROUPS)[people.group]
    model.fit(people.X, people.outcome, sensitive_features=groups)
    sight = sights.sight_of(model, people)
    plain = expit(people.X @ model.coef_[0] + model.intercept_[0])
    p = model.predict_proba(people.X, sensitive_features=groups)[:, 1]
    changed = np.abs(p - plain) > 1e-9
    ways = []
    for code, name in enumerate(GROUPS):
        members = people.group == code
        x, y = sight.knots[code].T
        np.testing.assert_allclose(np.interp(plain[members], x, y), p[members])
        assert sight.shares[code] == pytest.approx(changed[members].mean())
        limits = p[members & changed]
        np.testing.assert_allclose(limits, limits[0])
        raised = limits[0] > plain[members & changed][0]
        where, way = ("below", "raised to it") if raised else ("above", "cut")
        ways.append(way)
        assert (
            f"Probabilities of {name} {where} {100 * limits[0]:.1f}% are {way}, "
            f"for {100 * changed[members].mean():.1f}% of {name}."
        ) in sight.caption(NAMES)
    assert sorted(ways) == ["cut", "raised to it"]
    points = playground.grid_points()
    expected = expit(points @ model.coef_[0] + model.intercept_)
    np.testing.assert_allclose(sight.before.ravel(), expected)


@pytest.mark.parametrize(
    "params", [{"constraints": "equalized_odds"}, {"group_feature": "included"}]
)
def test_where_truncation_depends_on_more_than_the_score_nothing_is_said(params):
    _, _, sight = trained("fair_log_loss", "hidden_corner", **params)
    assert sight is None


@pytest.mark.parametrize("tolerance", [0.0, 0.1])
def test_the_staircase_of_hardt_is_its_chance(tolerance):
    model, people, sight = trained("hardt", "hidden_corner", tolerance=tolerance)
    score = model.solver_.predict_proba(people.X)[:, 1]
    for code, name in enumerate(GROUPS):
        members = people.group == code
        groups = np.full(members.sum(), name)
        p = model.predict_proba(people.X[members], sensitive_features=groups)[:, 1]
        x, y = sight.knots[code].T
        np.testing.assert_allclose(np.interp(score[members], x, y), p, atol=1e-9)
        drawn = (p > 1e-9) & (p < 1 - 1e-9)
        assert sight.shares[code] == pytest.approx(drawn.mean())
        if drawn.any():
            words = f"chance decides, for {100 * drawn.mean():.1f}% of {name}"
            assert words in sight.caption(NAMES)
        sure = score[members][p > 1 - 1e-9].min()
        assert (p[score[members] > sure] > 1 - 1e-9).all()
        assert f"{name} is accepted above a score of" in sight.caption(NAMES)
    assert tolerance or (sight.bands[:, :, 2] > 0).any()


RATES = {"tpr": "with outcome 1", "fpr": "with outcome 0", "positive_rate": ""}
CONSTRAINTS = (
    "true_positive_rate_parity",
    "false_positive_rate_parity",
    "equalized_odds",
    "demographic_parity",
)


def check_worst(sight, table, people, decided):
    """Compare a sight with the largest violation of a certificate."""
    row = table.loc[table["worst_violation"].idxmax()]
    assert GROUPS[sight.group] == row["group"]
    assert sight.worst[sight.group] == pytest.approx(row["worst"])
    assert sight.overall == pytest.approx(row["overall"])
    outcomes = {"tpr": [1], "fpr": [0], "positive_rate": [0, 1]}[row["rate"]]
    counted = np.isin(people.outcome, outcomes)
    weighted = np.average(decided[counted], weights=sight.weights[counted])
    assert weighted == pytest.approx(row["worst"])
    assert RATES[row["rate"]] in sight.caption(NAMES)
    words = f"{100 * row['worst']:.1f}% of {row['group']} are accepted"
    assert words in sight.caption(NAMES)


@pytest.mark.parametrize("constraints", CONSTRAINTS)
def test_the_worst_case_in_the_ball_is_that_of_the_certificate(constraints):
    model, people, sight = trained(
        "noisy_dro", "wrong_records", constraints=constraints, tv_radius=0.15
    )
    groups = np.array(GROUPS)[people.group]
    decided = model.predict(people.X)
    table = tv_certificate(
        people.outcome, decided, groups, 0.15, constraints=constraints
    )
    check_worst(sight, table, people, decided)
    members = people.group == sight.group
    assert sight.weights.min() >= 0
    assert sight.weights.sum() == pytest.approx(members.sum())
    moved = np.abs(sight.weights - members).sum() / 2 / members.sum()
    assert moved <= 0.15 + 1e-9
    assert "Up to 15.0% of each recorded group" in sight.caption(NAMES)


@pytest.mark.parametrize("constraints", CONSTRAINTS)
def test_the_worst_memberships_are_those_of_the_certificate(constraints):
    model, people, sight = trained(
        "noisy_soft", "wrong_records", constraints=constraints, noise_level=0.2
    )
    groups = np.array(GROUPS)[people.group]
    decided = model.predict(people.X)
    table = soft_certificate(
        people.outcome, decided, groups, model.noise_, constraints=constraints
    ).replace({"group": {0: "A", 1: "B"}})
    check_worst(sight, table, people, decided)
    assert sight.weights.min() >= 0
    assert sight.weights.max() <= 1 + 1e-9
    for code in (0, 1):
        mean = sight.weights[people.group == code].mean()
        assert mean == pytest.approx(model.noise_[code, sight.group])
    kept = 100 * model.noise_[0, 0]
    assert f"Of those recorded as A, {kept:.1f}% are" in sight.caption(NAMES)


def test_the_worst_memberships_of_a_mixture_follow_its_chances():
    model, people, sight = trained("noisy_ideal", "wrong_records", noise_level=0.2)
    chance = model.predict_proba(people.X)[:, 1]
    table = cell_probabilities(people.outcome, 0 * people.outcome, people.group) * 0.0
    for code in (0, 1):
        for decision, p in ((0, 1 - chance), (1, chance)):
            for outcome in (0, 1):
                rows = (people.group == code) & (people.outcome == outcome)
                table.loc[code, [(decision, outcome)]] = p[rows].sum() / len(people)
    worst = soft_group_rates(table, model.noise_)["min_tpr"]
    np.testing.assert_allclose(sight.worst, worst)


def test_the_worst_case_moves_away_as_the_ball_grows():
    surfaces = playground.train(SCENES["wrong_records"].people(), "noisy_dro")
    apart = [(sight.recorded - sight.worst)[sight.group] for sight in surfaces.sights]
    assert apart[0] == pytest.approx(0, abs=1e-9)
    assert apart[-1] > 0.3
    assert np.corrcoef(apart, surfaces.slider.stops)[0, 1] > 0.9


def test_a_method_without_noise_takes_records_as_they_are():
    _, people, sight = trained("noisy_dro", "proxy", tv_radius=0.0)
    np.testing.assert_allclose(sight.weights, people.group == sight.group)
    np.testing.assert_allclose(sight.worst, sight.recorded)


KINDS = {
    "guess": {"guess", "share", "outputs", "guesses"},
    "counterparts": {"who", "ends", "before", "after"},
    "rules": {"bands", "knots"},
    "records": {"weights", "recorded", "worst", "overall"},
}


@pytest.mark.parametrize("method", sampled(["cuma", "hardt", "noisy_soft", "clp"], 1))
def test_the_browser_gets_a_sight_for_each_setting_in_plain_words(method):
    people = SCENES["wrong_records"].people(n=200)
    entry = CATALOG[method]
    second = playground.second_slider_of(entry)
    surfaces = playground.train(
        people,
        method,
        stops=playground.slider_of(entry, people).stops[:2],
        second_stops=second.stops[:2] if second else (),
    )
    sees = json.loads(json.dumps(playground.payload(surfaces)["sees"]))
    assert len(sees["stops"]) == len(surfaces.settings) == (4 if second else 2)
    for stop in sees["stops"]:
        assert KINDS[sees["kind"]] <= set(stop)
        assert stop["caption"].endswith(".")
        assert stop["key"].endswith(".")
    assert sees["title"] == surfaces.sights[0].title


def test_a_base_model_below_all_stops_is_sent_once():
    surfaces = playground.train(SCENES["proxy"].people(n=200), "hardt", stops=(0, 0.1))
    first, second = playground.payload(surfaces)["sees"]["stops"]
    sent = decoded(first["before"]) / 255
    np.testing.assert_allclose(sent, surfaces.sights[1].before.ravel(), atol=0.003)
    assert "before" not in second


def test_a_plain_method_sees_no_more_than_its_surface():
    surfaces = playground.train(SCENES["proxy"].people(n=120), "logistic")
    assert surfaces.sights == ()
    assert playground.payload(surfaces)["sees"] is None


def test_the_guess_of_a_zhang_adversary_is_a_function_of_the_output():
    model, _, sight = trained("adversarial", "proxy")
    output = logit(model.predict_proba(playground.grid_points(32))[:, 1])
    order = np.argsort(output)
    output = output[order]
    guess = sight.surface.ravel()[order]
    near = np.diff(output) < 1e-3
    assert near.any()
    assert np.abs(np.diff(guess))[near].max() < 1e-2
