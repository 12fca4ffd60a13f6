"""How many groups may be recorded wrongly before a promise of fairness breaks."""

import math
from collections.abc import Mapping

import pandas as pd

from fairdash._wording import Kpi, in_points, percent
from fairdash.audits.answer import Answer, Drawing
from fairdash.audits.noisy_groups.certificates import (
    RATES,
    STATUS_WORDS,
    Certificate,
    Question,
    RadiusCurve,
)

_NONE_WRONG = 0.0005  # would be shown as 0.0%
_LEAST_SHOWN, _BEYOND = 0.1, 4  # end of the figure: a share, in shares tolerated
_HOW = """
For each share of a group that may be recorded wrongly: how much worse off than all
rows the worst group **can** be. Nothing is assumed of who is recorded wrongly; some
wrong records attain the line. The promise breaks where the line crosses the dashed one.
The share is the paper's TV radius (γ): the part of a group that would have to be
exchanged to make the recorded group the true one.
"""


def promise_words(question: Question) -> str:
    """Return the promise as a sentence, without an end.

    Examples
    --------
    >>> promise_words(Question("true_positive_rate_parity", 0.05))
    "No group's true positive rate is more than 5.0 points worse than that of all rows"
    """
    return (
        f"No group's {RATES[question.constraints]} is more than "
        f"{in_points(question.slack)} points worse than that of all rows"
    )


def promise_verdict(certificate: Certificate, curve: RadiusCurve) -> str:
    """Return up to which share of wrong records the promise holds, in 20 words."""
    share = curve.tolerated
    if certificate.status:
        why = STATUS_WORDS[certificate.status]
        return f"There is no promise to keep: the model {why}."
    if math.isnan(share):
        return "The promise is broken already, with every group recorded right."
    if all(curve.kept):
        far = percent(min(curve.reach, curve.radii[-1]))
        return f"The promise holds with {far} of any group recorded wrongly."
    if share < _NONE_WRONG:
        return "The promise holds only if nearly every group is recorded right."
    most = percent(share)
    return f"The promise holds if at most {most} of any group is recorded wrongly."


def shares_shown(curve: RadiusCurve) -> float:
    """Return where the figure and its slider end: well beyond the share tolerated."""
    tolerated = curve.tolerated if any(curve.kept) else 0.0
    wide = max(_LEAST_SHOWN, _BEYOND * tolerated)
    return min(curve.radii[-1], math.ceil(20 * wide) / 20)


def promise_answer(
    certificate: Certificate,
    curves: Mapping[str, RadiusCurve],
    question: Question,
    share: float,
    rows: str,
) -> Answer:
    """Return up to which share the promise of a model holds, and its worst case.

    Parameters
    ----------
    certificate : Certificate
        Of the model, at ``share``.
    curves : mapping of str to RadiusCurve
        By label of the model, that of the certificate first.
    question : Question
    share : float
        Share of a group that may be recorded wrongly.
    rows : str
        What the rows are called, such as "test rows".
    """
    curve, slack = curves[certificate.label], question.slack
    end = max(share, *map(shares_shown, curves.values()))
    table = pd.concat(
        [_worst(label, each, slack, end) for label, each in curves.items()],
        ignore_index=True,
    )
    drawn = {"slack": slack, "share": share, "tolerated": curve.tolerated}
    return Answer(
        promise_verdict(certificate, curve),
        _cards(certificate, curve, slack, share),
        Drawing("plot_worst_case", table, drawn),
        caption=f"The promise: {promise_words(question).lower()}. {_rows(curve, rows)}",
        details=f"{certificate.label}. {certificate.details(share)}".rstrip(),
        how=_HOW,
    )


def _worst(label: str, curve: RadiusCurve, slack: float, end: float) -> pd.DataFrame:
    table = pd.DataFrame({"share": curve.radii, "worst": curve.largest})
    table = table[table["share"] <= end + 1e-9]
    return table.assign(label=label, worst=table["worst"] + slack)


def _rows(curve: RadiusCurve, rows: str) -> str:
    several = f", on each of {curve.n_seeds} splits" if curve.n_seeds > 1 else ""
    return f"Exact for the {rows}{several}: other people bring an error of their own."


def _cards(
    certificate: Certificate, curve: RadiusCurve, slack: float, share: float
) -> list[Kpi]:
    """Return the share tolerated, the worst case and what the records show."""
    share = certificate.covered(share)
    means, allowed = certificate.means, f"{in_points(slack)} points are allowed"
    tolerated = "none" if math.isnan(curve.tolerated) else percent(curve.tolerated)
    cards = [
        Kpi(
            "May be wrong",
            tolerated,
            "of any group, at most",
            help="The largest share of a group that may be recorded wrongly with the "
            "promise still kept on every split.",
        ),
        Kpi(
            f"Worst, {percent(share)} wrong",
            f"{in_points(means['ball'] + slack)} points",
            allowed,
            help="How much worse off than all rows a group can be, if at most this "
            "share of it is recorded wrongly.",
        ),
        Kpi(
            "Worst, none wrong",
            f"{in_points(means['noisy'] + slack)} points",
            allowed,
            help="How much worse off the worst group is if every group is recorded "
            "right.",
        ),
    ]
    if not math.isnan(certificate.reach):
        sure = certificate.confidence
        cards.append(
            Kpi(
                "Can be wrong",
                percent(certificate.reach),
                "at most, as known" if sure is None else f"at most, {sure:.0%} sure",
                help="How much of a group can be recorded wrongly on these rows, from "
                "what is known of the records.",
            )
        )
    return cards
