"""The data of a sweep that the browser gets: the summary, and the reader's choices.

It is compressed JSON, made once a sweep and a limit; every text in it can be read.
"""

import json
import zlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from fairdash._escaping import visible
from fairdash._metric_names import ODDS, OPPORTUNITY
from fairdash._wording import group_label
from fairdash.audits import StoredSweep, linked
from fairdash.methods import CATALOG
from fairdash.plots import theme
from fairdash.sweep import PARITY

# the files stand with the component; a report puts the same ones into its page
_UI = Path(__file__).parents[1] / "ui"
_HERE = _UI / "linked"
_SLIDER = _UI / "widgets" / "live_slider.css"
# one module, put together in this order: no build, and nothing to load at run time
_SCRIPTS = (
    "d3.min.js",
    "common.js",
    "front.js",
    "map.js",
    "along.js",
    "local.js",
    "weights.js",
    "controls.js",
    "linked.js",
)
_STYLES = ("linked", "stage", "print")
EVERY_PART = (
    "measure",
    "front",
    "map",
    "local",
    "density",
    "tau",
    "lambda",
    "quantiles",
)
_MEASURES = {
    linked.WORST: "Largest local gap",
    PARITY: "Gap over all rows",
    "accuracy": "Accuracy",
    linked.EFFECTIVE: "Effective rows",
    "worst_2_di": "Mean of 2 largest gaps",
    "worst_3_di": "Mean of 3 largest gaps",
    ODDS: "Odds gap",
    OPPORTUNITY: "Opportunity gap",
    "demographic_parity_ratio": "Parity ratio",
    "balanced_accuracy": "Balanced accuracy",
    "auc": "AUC",
    "log_loss": "Log loss",
}
_PERCENT = {"accuracy", linked.EFFECTIVE, "balanced_accuracy"}
_NUMBERS = {"demographic_parity_ratio", "auc", "log_loss"}
_NO_GAPS = {"accuracy", linked.EFFECTIVE, "balanced_accuracy", "auc", "log_loss"}
_HIGHER = {"accuracy", linked.EFFECTIVE, "balanced_accuracy", "auc"} | {
    "demographic_parity_ratio"
}
MEASURES = tuple(_MEASURES)


class LinkedView(NamedTuple):
    """How linked pictures of a sweep are shown.

    Attributes
    ----------
    limit, limited : float, str
        The largest gap that is accepted, and which one it is on.
    measure : str, optional
        What map and curves show first, of `MEASURES`; see `linked.first_measure`.
    shows : tuple of str
        The pictures, of `EVERY_PART`.
    opens : bool
        Whether a click on a subgroup leads anywhere.
    scale : float
        Of text and marks.
    hidden : tuple of str
        Subgroups whose numbers are left out.
    """

    limit: float
    limited: str = PARITY
    measure: str | None = None
    shows: tuple[str, ...] = EVERY_PART
    opens: bool = False
    scale: float = 1.0
    hidden: tuple[str, ...] = ()


def linked_data(sweep: StoredSweep, view: LinkedView) -> bytes:
    """Return what the component takes, as compressed JSON; every text can be read."""
    limit = view.limit
    limited = view.limited
    summary = linked.summary(sweep)
    _hide(summary, view.hidden)
    feature = sweep.store.dataset(sweep.run.dataset_id).roles.group_prefix()
    groups = [visible(group_label(feature, group)) for group in summary["groups"]]
    summary["subgroups"] = [visible(name) for name in summary["subgroups"]]
    for setting in summary["settings"]:
        setting["label"] = visible(setting["label"])
    for method in summary["methods"]:
        colour, symbol = theme.method_mark(method["colour_role"])
        method["colour"] = _colour(colour)
        method["symbol"] = symbol
        method["gives_weights"] = CATALOG[method["key"]].gives_weights
    points = sweep.result.points((linked.WORST, "accuracy"), limit, metric=limited)
    sent = {
        "summary": summary,
        "groups": groups,
        "measures": [
            {
                "name": name,
                "label": label,
                "unit": _unit(name),
                "gap": name not in _NO_GAPS,
                "better": "high" if name in _HIGHER else "low",
            }
            for name, label in _MEASURES.items()
        ],
        "measure": view.measure or linked.first_measure(sweep),
        "limit": limit,
        "limited": limited,
        "within": points["within"].tolist(),
        "none_decides": sweep.none_decides(),
        "own": _own(sweep),
        "shows": list(view.shows),
        "opens": view.opens,
        "scale": view.scale,
        "palette": {
            name: {
                "categorical": [f"#{c}" for c in theme.CATEGORICAL[name].split()],
                "sequential": [f"#{c}" for c in theme.SEQUENTIAL[name].split()],
                "groups": theme.group_colours_of(summary["groups"], name),
            }
            for name in ("light", "dark")
        },
        **_cards(sweep, limit, limited),
    }
    text = json.dumps(sent, separators=(",", ":"), allow_nan=False)
    return zlib.compress(text.encode(), 6)


def _hide(summary: dict[str, Any], subgroups: Sequence[str]) -> None:
    n_groups = len(summary["groups"])
    places = [i for i, name in enumerate(summary["subgroups"]) if name in subgroups]
    for setting in summary["settings"]:
        for place in places:
            setting["local"][place] = setting["against"][place] = None
            setting["rates"][place] = [None] * n_groups
            if setting["weights"] is not None:
                setting["weights"]["inside"][place] = [None] * n_groups


def _unit(measure: str) -> str:
    if measure in _NUMBERS:
        return "number"
    return "percent" if measure in _PERCENT else "points"


def _own(sweep: StoredSweep) -> list[dict[str, Any]]:
    """Return the reader's own scores on the same test rows: marks of the front."""
    marks = []
    for scores in linked.own_scores(sweep):
        colour, symbol = theme.method_mark(scores.pop("colour_role"))
        label = visible(scores.pop("label"))
        look = {"label": label, "colour": _colour(colour), "symbol": symbol}
        marks.append({**look, **scores})
    return marks


def _colour(colour: str) -> int:
    """Return the place of a colour in the categorical palette."""
    return int(colour.removeprefix("#")) - 1


def _cards(sweep: StoredSweep, limit: float, limited: str) -> dict[str, Any]:
    """Return what the cards are called and what they say, by place."""
    labels: list[dict[str, Any]] = []
    values: dict[int, list[dict[str, str]]] = {}
    for method in dict.fromkeys(sweep.result.means["method"]):
        for place, cards in sweep.cards(method, limit, metric=limited).items():
            labels = [{"label": card.label, "help": card.help} for card in cards]
            values[place] = [
                {
                    "value": visible(card.value),
                    "note": visible(card.note),
                    "delta": card.delta,
                }
                for card in cards
            ]
    return {"cards": labels, "values": values}


@cache
def script() -> str:
    """Return the component's script: one module without imports."""
    return "\n".join((_HERE / name).read_text("utf-8") for name in _SCRIPTS)


@cache
def styles() -> str:
    """Return the component's style sheet."""
    return "\n".join(
        path.read_text("utf-8")
        for path in (_SLIDER, *(_HERE / f"{name}.css" for name in _STYLES))
    )
