"""A TV radius that follows the hand: solved in the browser, in closed form."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from fairdash.ui.widgets.live_component import live_component

_HERE = Path(__file__).parent


@dataclass(frozen=True)
class BallRow:
    """What the worst rate of a group in a ball of any radius depends on.

    Attributes
    ----------
    name : str
        Group, and rate if there are several.
    rate, overall : float
        Of the noisy group and of all rows.
    limit : float
        The rate at which the constraint is broken.
    share : float
        Of the group's rows that the rate is over.
    sign : int
        -1 when a smaller rate is worse, 1 when a larger one is.
    movable : bool
        Whether any row is decided in the worse way.
    reach : float
        How far the group can be, whatever the radius; 1 where that is not known.
    """

    name: str
    rate: float
    overall: float
    limit: float
    share: float
    sign: int
    movable: bool
    reach: float


def live_ball(
    seeds: Sequence[Sequence[BallRow]],
    *,
    slack: float,
    start: float,
    most: float,
    key: str,
) -> float:
    """Draw the slider with the worst case of every group; return the radius released.

    Parameters
    ----------
    seeds : sequence of sequences of BallRow
        One entry for each group, in the same order for every seed; the largest
        violation is that of each seed, averaged.
    slack : float
    start, most : float
        First and largest radius.
    key : str
        Identity between reruns.
    """
    result = live_component("live_ball", _HERE)(
        data={
            "seeds": [[asdict(row) for row in rows] for rows in seeds],
            "slack": slack,
            "start": start,
            "most": most,
            "title": "TV radius (γ)",
            "help": "How far a true group may be from its noisy one: the share of its "
            "people that would have to be exchanged.",
            "words": {"limit": "all rows, less the slack", "found": "noisy group"},
        },
        default={"radius": start},
        key=key,
        on_radius_change=lambda: None,
    )
    return float(result.radius)
