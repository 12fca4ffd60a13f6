"""Scenes of the playground: people in the plane, each scene with a question.

A scene draws people with two features, a group and an outcome, by a rule that is
written here: what a method does to them can be compared with what was planted.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairdash._arrays import FloatArray
from fairdash.audits.playground.people import EDGE, People

N_PEOPLE = 600


@dataclass(frozen=True)
class Scene:
    """A way to draw people, with the question that it puts.

    Attributes
    ----------
    key, title, question : str
    look_for : str
        One sentence: what to watch while a slider moves.
    draw : callable (generator, n) -> People
    """

    key: str
    title: str
    question: str
    look_for: str
    draw: Callable[[np.random.Generator, int], People]

    def people(self, seed: int = 0, n: int = N_PEOPLE) -> People:
        """Return ``n`` people, the same for the same seed."""
        return self.draw(np.random.default_rng(seed), n)


def _square(generator: np.random.Generator, n: int) -> FloatArray:
    return generator.uniform(-2, 2, (n, 2))


def _chance(score: FloatArray) -> FloatArray:
    return 1 / (1 + np.exp(-score))


def _people(
    generator: np.random.Generator,
    X: FloatArray,
    chance_of_b: FloatArray,
    score: Callable[[NDArray[np.int64]], FloatArray],
) -> People:
    """Draw groups by their chance, then outcomes by their log odds."""
    group = (generator.random(len(X)) < chance_of_b).astype(np.int64)
    outcome = (generator.random(len(X)) < _chance(score(group))).astype(np.int64)
    return People(np.clip(X, -EDGE, EDGE), group, outcome, group)


def _hidden_corner(generator: np.random.Generator, n: int) -> People:
    X = _square(generator, n)
    across, up = X.T
    corner = (across > 0.4) & (up > 0.4)
    # B lives deep in the corner, where outcomes were denied, and along the lower edge
    deep = corner & (across + up > 2)
    chance_of_b = np.select([deep, corner, up < -1], [0.9, 0.1, 0.75], 0.4)
    merit = 1.6 * across + 0.8 * up
    return _people(generator, X, chance_of_b, lambda group: merit - 6.0 * deep * group)


def _proxy(generator: np.random.Generator, n: int) -> People:
    group = (generator.random(n) < 0.4).astype(np.int64)
    across = generator.normal(0, 1, n)
    up = generator.normal(np.where(group == 1, -1.1, 0.8), 0.45)
    X = np.clip(np.column_stack([across, up]), -EDGE, EDGE)
    chance = _chance(2 * X[:, 0] + 1.2 * X[:, 1])
    outcome = (generator.random(n) < chance).astype(np.int64)
    return People(X, group, outcome, group)


def _twins(generator: np.random.Generator, n: int) -> People:
    """Make pairs who differ in the second feature and the group alone."""
    half = (n + 1) // 2
    merit = np.repeat(generator.normal(0, 1, half), 2)[:n]
    group = np.tile([0, 1], half)[:n]
    up = np.where(group == 1, -1.2, 1.2) + generator.normal(0, 0.25, n)
    X = np.clip(np.column_stack([merit, up]), -EDGE, EDGE)
    chance = _chance(2.5 * merit + 1.5 * np.sign(up))
    outcome = (generator.random(n) < chance).astype(np.int64)
    return People(X, group, outcome, group)


def _wrong_labels(generator: np.random.Generator, n: int) -> People:
    X = _square(generator, n)
    across, up = X.T
    drawn = _people(
        generator, X, np.where(up < 0, 0.75, 0.25), lambda group: 2.2 * across
    )
    wrong = (drawn.group == 1) & (generator.random(n) < 0.45)
    return People(X, drawn.group, np.where(wrong, 0, drawn.outcome), drawn.group)


def _wrong_records(generator: np.random.Generator, n: int) -> People:
    X = _square(generator, n)
    across, up = X.T
    drawn = _people(
        generator,
        X,
        np.where(up < 0, 0.85, 0.15),
        lambda group: 2 * across + 1.2 * up,
    )
    wrong = generator.random(n) < 0.25
    recorded = np.where(wrong, 1 - drawn.group, drawn.group)
    return People(X, recorded, drawn.outcome, drawn.group)


def _rare(generator: np.random.Generator, n: int) -> People:
    X = _square(generator, n)
    across, up = X.T
    merit = np.where(up < -1, -1.5, 0) + 2 * across
    chance_of_b = np.where(up < -1, 0.2, 0.005)
    return _people(generator, X, chance_of_b, lambda group: merit)


def _equal_rates(generator: np.random.Generator, n: int) -> People:
    group = (generator.random(n) < 0.5).astype(np.int64)
    across = generator.normal(np.where(group == 1, -0.7, 0.7), 0.8)
    up = generator.normal(np.where(group == 1, -0.4, 0.4), 0.8)
    X = np.clip(np.column_stack([across, up]), -EDGE, EDGE)
    chance = _chance(2.5 * X[:, 0])
    outcome = (generator.random(n) < chance).astype(np.int64)
    return People(X, group, outcome, group)


SCENES = {
    scene.key: scene
    for scene in (
        Scene(
            "hidden_corner",
            "A hidden corner",
            "Is a model fair where nobody looked?",
            "Compare ROAD with Zhang at the same λ: in the upper right ROAD leaves a "
            "smaller gap, and it is right less often.",
            _hidden_corner,
        ),
        Scene(
            "proxy",
            "A proxy",
            "What if a feature tells the group?",
            "Height tells the group. Does the decision line turn upright, so that "
            "height no longer counts?",
            _proxy,
        ),
        Scene(
            "twins",
            "Twins",
            "Does the same person in the other group get the same answer?",
            "Every person has a twin above or below. The line turns upright when "
            "twins are decided alike.",
            _twins,
        ),
        Scene(
            "wrong_labels",
            "Wrong labels for one group",
            "What if the past was unjust to one group?",
            "Part of the outcomes of B are recorded wrongly, and accuracy is counted "
            "on what is recorded.",
            _wrong_labels,
        ),
        Scene(
            "wrong_records",
            "Wrong group records",
            "What if groups are recorded wrongly?",
            "The gap between recorded groups is smaller than the one between true "
            "groups.",
            _wrong_records,
        ),
        Scene(
            "rare",
            "A rare group",
            "Can few people be protected?",
            "Few points of B, all at the lower edge, carry the whole constraint.",
            _rare,
        ),
        Scene(
            "equal_rates",
            "Equal rates, unequal outcomes",
            "Why is parity not enough?",
            "Rates meet and many more decisions are wrong: the groups differ in "
            "outcomes, which parity does not ask about.",
            _equal_rates,
        ),
    )
}
