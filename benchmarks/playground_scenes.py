"""Whether what a scene asks to look for shows on other people of the same scene.

Scenes were chosen on the people of seed 0. Here each sentence is counted on ten other
seeds, with the models that the playground trains.

    python benchmarks/playground_scenes.py --seeds 10
"""

import argparse
from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from fairdash.audits import playground
from fairdash.audits.playground import SCENES, People, Surfaces


@cache
def trained(scene: str, method: str, seed: int) -> Surfaces:
    """Return all stops of a method's first slider on the people of a seed."""
    return playground.train(SCENES[scene].people(seed), method)


def corner_gaps(surfaces: Surfaces) -> NDArray[np.float64]:
    """Return the gap between groups in the upper right, at each stop."""
    people = surfaces.people
    corner = people.corner == "upper right"
    decided = surfaces.scores > 0.5
    rates = [
        decided[:, corner & (people.group == code)].mean(axis=1) for code in (0, 1)
    ]
    return np.abs(rates[0] - rates[1])


def upright(surfaces: Surfaces) -> NDArray[np.float64]:
    """Return how much scores change with height, relative to across, at each stop."""
    grid = surfaces.grid[:, 0]
    upward = np.abs(np.diff(grid, axis=1)).mean(axis=(1, 2))
    across = np.abs(np.diff(grid, axis=2)).mean(axis=(1, 2))
    return np.asarray(upward / across)


def first_half(surfaces: Surfaces) -> int:
    """Return the first stop at which the gap over all is at most half; -1: none."""
    gap = surfaces.path["gap"].to_numpy()
    places = np.flatnonzero(gap <= gap[0] / 2)
    return int(places[0]) if len(places) else -1


def corner_stays_with_zhang(seed: int) -> bool:
    """With Zhang, the gap over all halves while most of the corner's gap stays."""
    surfaces = trained("hidden_corner", "adversarial", seed)
    place = first_half(surfaces)
    corner = corner_gaps(surfaces)
    return place >= 0 and bool(corner[place] > corner[0] / 2)


def road_closes_the_corner_further(seed: int) -> bool:
    """At the same λ, from 2 to 4, ROAD leaves a smaller gap there than Zhang."""
    gaps = [
        corner_gaps(trained("hidden_corner", method, seed))
        for method in ("road", "adversarial")
    ]
    return bool(gaps[0][4:].mean() < gaps[1][4:].mean())


def road_costs_more(seed: int) -> bool:
    """And it decides fewer people rightly."""
    right = [
        trained("hidden_corner", method, seed).path["accuracy"].iloc[4:].mean()
        for method in ("road", "adversarial")
    ]
    return bool(right[0] < right[1])


def height_counts_less(seed: int) -> bool:
    """With Zhang, height counts less than half of what it did beside across."""
    share = upright(trained("proxy", "adversarial", seed))
    return bool(share[-1] < share[0] / 2)


def twins_alike(seed: int) -> bool:
    """With SenSeI, scores of twins are five times nearer at the end."""
    scores = trained("twins", "sensei", seed).scores
    distance = np.abs(scores[:, 0::2] - scores[:, 1::2]).mean(axis=1)
    return bool(distance[-1] < distance[0] / 5)


def labels_cost_accuracy(seed: int) -> bool:
    """With Zhang, accuracy falls as the gap halves."""
    path = trained("wrong_labels", "adversarial", seed).path
    halved = path["gap"].iloc[-1] < path["gap"].iloc[0] / 2
    return bool(halved and path["accuracy"].iloc[-1] < path["accuracy"].iloc[0])


def records_hide_gaps(seed: int) -> bool:
    """Without a method, recorded groups show a smaller gap than true groups."""
    surfaces = trained("wrong_records", "unconstrained", seed)
    people = surfaces.people
    decided = surfaces.scores[0] > 0.5
    gaps = [
        abs(decided[groups == 0].mean() - decided[groups == 1].mean())
        for groups in (people.group, people.true_group)
    ]
    return bool(gaps[0] < gaps[1])


def rare_group(seed: int) -> bool:
    """Fewer than a tenth are of group B, at least 80 % of them at the lower edge."""
    people: People = SCENES["rare"].people(seed)
    members = people.group == 1
    return bool(members.mean() < 0.1 and (people.X[members, 1] < -1).mean() >= 0.8)


def parity_costs(seed: int) -> bool:
    """With Zhang, rates meet to a quarter and accuracy falls by 15 points or more."""
    path = trained("equal_rates", "adversarial", seed).path
    met = path["gap"].iloc[-1] < path["gap"].iloc[0] / 4
    return bool(met and path["accuracy"].iloc[-1] < path["accuracy"].iloc[0] - 0.15)


SENTENCES: tuple[Callable[[int], bool], ...] = (
    corner_stays_with_zhang,
    road_closes_the_corner_further,
    road_costs_more,
    height_counts_less,
    twins_alike,
    labels_cost_accuracy,
    records_hide_gaps,
    rare_group,
    parity_costs,
)


def main() -> None:
    """Print how often each sentence holds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    n_seeds = parser.parse_args().seeds
    for sentence in SENTENCES:
        holds = [sentence(seed) for seed in range(1, n_seeds + 1)]
        print(f"{sum(holds)} of {n_seeds}: {sentence.__doc__}", flush=True)


if __name__ == "__main__":
    main()
