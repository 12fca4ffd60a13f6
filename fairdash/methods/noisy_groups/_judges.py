"""0/1 violations of many models at once, on distinct training rows."""

from collections.abc import Callable

import numpy as np
from sklearn.utils import check_random_state

from fairdash.methods.noisy_groups._certificate import N_DRAWS
from fairdash.methods.noisy_groups._opponents import Known, Mask
from fairdash.methods.noisy_groups._rows import Codes, Float32, Rows, SideRows

Judge = Callable[[Mask], Float32]


def group_judge(rows: Rows, slack: Float32) -> Judge:
    """Return the violations on the noisy groups."""

    def judge(decided: Mask) -> Float32:
        worst = []
        for side in rows.sides:
            overall, rates, _ = _rates(side, decided)
            worst.append((side.side.sign * (rates - overall)).max(axis=1))
        return _largest(worst, slack)

    return judge


def ball_judge(rows: Rows, radius: Float32, slack: Float32) -> Judge:
    """Return the exact violations over the ball: see `robust_rates`."""

    def judge(decided: Mask) -> Float32:
        worst = []
        for side in rows.sides:
            overall, rates, wrong = _rates(side, decided)
            shift = radius / (side.inside / side.sizes) * wrong[:, None]
            rates = np.clip(rates + side.side.sign * shift, 0, 1)
            worst.append((side.side.sign * (rates - overall)).max(axis=1))
        return _largest(worst, slack)

    return judge


def drawn_judge(
    rows: Rows, codes: Codes, radius: Float32, slack: Float32, random_state: object
) -> Judge:
    """Return the worst violations over a few draws: see `tv_certificate`.

    The draws are the same for all iterates; those of a model do not depend on the
    others in its stack.
    """
    random = check_random_state(random_state)
    draws = N_DRAWS, radius.shape[1], len(codes)
    moves = random.standard_exponential(draws).astype(np.float32)
    moves /= moves.sum(axis=2, keepdims=True)
    moves *= random.choice(np.array([-1, 1], np.float32), size=draws)
    different, which = np.unique(radius, axis=0, return_inverse=True)
    tables = [_tilted(rows, codes, radii, moves) for radii in different]

    def judge(decided: Mask) -> Float32:
        worst = []
        for i, side in enumerate(rows.sides):
            overall, _, _ = _rates(side, decided)
            here = decided[:, side.span].astype(np.float32)
            rates = np.stack(
                [
                    tables[table][i] @ here[model]
                    for model, table in enumerate(which.ravel())
                ]
            )
            worst.append((side.side.sign * (rates - overall)).max(axis=1))
        return _largest(worst, slack)

    return judge


def soft_judge(rows: Rows, group_given_noisy: Float32, slack: Float32) -> Judge:
    """Return the exact violations over soft memberships: see `soft_group_rates`."""

    def judge(decided: Mask) -> Float32:
        worst = []
        for side in rows.sides:
            overall, rates, _ = _rates(side, decided)
            share = (side.inside / side.sizes)[:, None]
            yes, no = rates[:, :, None] * share, (1 - rates)[:, :, None] * share
            prior = (side.sizes / side.sizes.sum())[:, None]
            good, bad = (yes, no) if side.side.sign < 0 else (no, yes)
            bad_most = (prior * np.minimum(bad, group_given_noisy)).sum(axis=1)
            good_least = np.maximum(group_given_noisy - 1 + good, 0)
            good_least = (prior * good_least).sum(axis=1)
            whole = good_least + bad_most
            wrong = np.where(whole > 0, bad_most / np.where(whole > 0, whole, 1), 0)
            # wrong decisions: missed positives below TPR, false alarms within FPR
            overall_wrong = 1 - overall if side.side.sign < 0 else overall
            worst.append((wrong - overall_wrong).max(axis=1))
        return _largest(worst, slack)

    return judge


def _rates(side: SideRows, decided: Mask) -> tuple[Float32, Float32, Mask]:
    """Return the rate of all rows, of noisy groups, and whether any can be worse."""
    here = decided[:, side.span].astype(np.float32)
    overall = here @ (side.counts / side.counts.sum())
    rates = here @ Known(side).weights.T
    wrong = here.min(axis=1) == 0 if side.side.sign < 0 else here.max(axis=1) == 1
    return overall[:, None], rates, wrong


def _tilted(rows: Rows, codes: Codes, radii: Float32, moves: Float32) -> list[Float32]:
    """Return, by side, normalised weights of its distinct rows in every draw."""
    groups = np.arange(len(radii))
    base = (codes == groups[:, None]) / np.bincount(codes)[:, None]
    p = np.maximum(base + radii[:, None] * moves, 0).reshape(-1, len(codes))
    merged = np.stack(
        [np.bincount(rows.of_row, draw, minlength=len(rows.share)) for draw in p]
    )
    parts = [merged[:, side.span] for side in rows.sides]
    return [
        np.asarray(part / part.sum(axis=1, keepdims=True), np.float32) for part in parts
    ]


def _largest(worst: list[Float32], slack: Float32) -> Float32:
    return np.asarray(np.max(worst, axis=0) - slack, dtype=np.float32)
