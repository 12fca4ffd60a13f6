"""Certificates of finished models beside what was found of them."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import streamlit as st

from fairdash.methods.noisy_groups import (
    soft_certificate,
    tv_certificate,
    violations,
)
from fairdash.ui.noisy_groups.live_ball import BallRow
from fairdash.ui.noisy_groups.noise import Noise, Question
from fairdash.ui.noisy_groups.rows import decided_rows
from fairdash.ui.widgets.score_source import Source

COLUMNS = ["noisy", "true", "drawn", "soft", "ball"]
_SIDES: dict[str, tuple[tuple[int, ...], int]] = {
    "tpr": ((1,), -1),
    "fpr": ((0,), 1),
    "positive_rate": ((0, 1), -1),
}


def certificate_table(
    models: Mapping[str, Sequence[Source]],
    dataset_id: str | None,
    noise: Noise,
    radius: float,
    question: Question,
) -> pd.DataFrame:
    """Return the largest violations of every model, averaged over its seeds.

    Raises
    ------
    ValueError
        When a noisy group has no rows with an outcome of the constraint.
    """
    rows = []
    for label, sources in models.items():
        found = [
            _largest(source, dataset_id, noise.key, radius, question, noise)
            for source in sources
        ]
        rows.append([label, *np.mean(found, axis=0).tolist()])
    return pd.DataFrame(rows, columns=["label", *COLUMNS])


def ball_rows(
    source: Source, dataset_id: str | None, noise: Noise, question: Question
) -> list[BallRow]:
    """Return what the worst rate of every noisy group depends on, for one model."""
    rows = decided_rows(source, dataset_id)
    noisy = noise.noisy[rows.where].astype(str)
    asked = question._asdict()
    found = tv_certificate(rows.y, rows.decided, noisy, 0.0, n_draws=0, **asked)
    several = len(set(found["rate"])) > 1
    result = []
    for row in found.to_dict("records"):
        outcomes, sign = _SIDES[row["rate"]]
        mine, over = noisy == row["group"], np.isin(rows.y, outcomes)
        short = row["rate"].upper()
        result.append(
            BallRow(
                name=f"{row['group']}, {short}" if several else str(row["group"]),
                rate=row["value"],
                overall=row["overall"],
                limit=row["overall"] + sign * question.slack,
                share=float(over[mine].mean()),
                sign=sign,
                movable=bool((rows.decided[over] == (sign > 0)).any()),
                reach=noise.reach.get(str(row["group"]), 1.0),
            )
        )
    return result


@st.cache_data(max_entries=5000, show_spinner=False)
def _largest(
    source: Source,
    dataset_id: str | None,
    noise_key: str,
    radius: float,
    question: Question,
    _noise: Noise,
) -> list[float]:
    """Return the largest violation of each kind, in the order of `COLUMNS`."""
    rows = decided_rows(source, dataset_id)
    asked = question._asdict()
    noisy = _noise.noisy[rows.where].astype(str)
    radii = _noise.radii(radius)
    ball = tv_certificate(rows.y, rows.decided, noisy, radii, **asked)
    known = _noise.matrix.loc[np.unique(noisy)]
    soft = soft_certificate(rows.y, rows.decided, noisy, known, **asked)
    true = np.nan
    if _noise.true is not None:
        groups = _noise.true[rows.where].astype(str)
        true = violations(rows.y, rows.decided, groups, **asked)["violation"].max()
    return [
        float(value)
        for value in (
            ball["violation"].max(),
            true,
            ball["drawn_violation"].max(),
            soft["worst_violation"].max(),
            ball["worst_violation"].max(),
        )
    ]
