"""Whether what a scene asks to look for shows on other people of the same scene.

Scenes were chosen on the people of seed 0. Here each sentence is counted on ten other
seeds, with the models that the playground trains. With ``papers``, what the figures of
four papers say.

    python benchmarks/playground_scenes.py scenes --seeds 10
    python benchmarks/playground_scenes.py papers --seeds 10
"""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

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


def unjust_height_counts_less(seed: int) -> bool:
    """With Zhang, height counts less, on which true outcomes did not depend."""
    share = upright(trained("wrong_labels", "adversarial", seed))
    return bool(share[-1] < share[0])


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
    unjust_height_counts_less,
    records_hide_gaps,
    rare_group,
    parity_costs,
)


@dataclass(frozen=True)
class Claim:
    """What the figure of a paper says, as a number of people of a seed.

    Attributes
    ----------
    paper, text : str
    figure : callable (seed) -> float
    holds : callable (float) -> bool
    """

    paper: str
    text: str
    figure: Callable[[int], float]
    holds: Callable[[float], bool]


def height_left(method: str, place: int) -> Callable[[int], float]:
    """Return how height counts in *Twins*, beside how it does in a plain network."""

    def figure(seed: int) -> float:
        plain = upright(trained("twins", "unconstrained", seed))[0]
        return float(upright(trained("twins", method, seed))[place] / plain)

    return figure


def floor_of_poorer(seed: int) -> float:
    """Return the lowest P(1) of the group with fewer outcomes 1, in *A proxy*."""
    return float(truncated(seed, np.argmin).min())


def cut_of_richer(seed: int) -> float:
    """Return the share of the plane in which P(1) of the other group is at its most."""
    surface = truncated(seed, np.argmax)
    return float((surface > surface.max() - 1e-6).mean())


def truncated(seed: int, choose: Callable[[list[float]], Any]) -> NDArray[np.float32]:
    """Return the surface of fair log-loss for the group with a chosen share of 1."""
    surfaces = trained("proxy", "fair_log_loss", seed)
    people = surfaces.people
    shares = [people.outcome[people.group == code].mean() for code in (0, 1)]
    return surfaces.grid[0, int(choose(shares))]


def corner_left(method: str) -> Callable[[int], float]:
    """Return what is left of the corner's gap when the gap over all has halved."""

    def figure(seed: int) -> float:
        surfaces = trained("hidden_corner", method, seed)
        corner = corner_gaps(surfaces)
        return float(corner[first_half(surfaces)] / corner[0])

    return figure


def corner_at_the_end(method: str) -> Callable[[int], float]:
    """Return what is left of the corner's gap at λ from 2 to 4, on average."""

    def figure(seed: int) -> float:
        corner = corner_gaps(trained("hidden_corner", method, seed))
        return float(corner[4:].mean() / corner[0])

    return figure


CLAIMS = (
    Claim(
        "SenSeI",
        "at ρ 0 height counts as with a plain network, within a quarter",
        height_left("sensei", 0),
        lambda share: 0.75 < share < 1.25,
    ),
    Claim(
        "SenSeI",
        "at ρ 0.5 height counts less than half",
        height_left("sensei", 1),
        lambda share: share < 0.5,
    ),
    Claim(
        "SenSeI",
        "at ρ 4 height counts less than a quarter",
        height_left("sensei", -1),
        lambda share: share < 0.25,
    ),
    Claim(
        "SenSR",
        "at ε 0 height counts less than a quarter already",
        height_left("sensr", 0),
        lambda share: share < 0.25,
    ),
    Claim(
        "Fair log-loss",
        "probabilities of the group with fewer outcomes 1 have a floor above 5 %",
        floor_of_poorer,
        lambda level: level > 0.05,
    ),
    Claim(
        "Fair log-loss",
        "those of the other group are cut on 1 % of the plane or more",
        cut_of_richer,
        lambda share: share >= 0.01,
    ),
    *(
        Claim(paper, text, figure(method), lambda share: share < 0.5)
        for paper, method in (("ROAD", "road"), ("Zhang", "adversarial"))
        for text, figure in (
            ("the corner has closed by half when the gap over all has", corner_left),
            ("the corner has closed by half at λ from 2 to 4", corner_at_the_end),
        )
    ),
)


def count_sentences(seeds: Sequence[int]) -> None:
    """Print how often each sentence holds."""
    for sentence in SENTENCES:
        holds = [sentence(seed) for seed in seeds]
        print(f"{sum(holds)} of {len(seeds)}: {sentence.__doc__}", flush=True)


def count_claims(seeds: Sequence[int]) -> None:
    """Print how often each claim holds, and its figures."""
    for claim in CLAIMS:
        figures = [claim.figure(seed) for seed in seeds]
        n_holds = sum(claim.holds(figure) for figure in figures)
        low, middle, high = np.percentile(figures, [0, 50, 100])
        print(
            f"{n_holds} of {len(seeds)}: {claim.paper}: {claim.text} "
            f"(median {middle:.2f}, {low:.2f} to {high:.2f})",
            flush=True,
        )


def main() -> None:
    """Print how often sentences or claims hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=("scenes", "papers"))
    parser.add_argument("--seeds", type=int, default=10)
    options = parser.parse_args()
    seeds = range(1, options.seeds + 1)
    if options.part == "scenes":
        count_sentences(seeds)
    else:
        count_claims(seeds)


if __name__ == "__main__":
    main()
