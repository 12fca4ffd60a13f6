"""What an auxiliary sample that has both groups says of the noise."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.stats import beta

from fairdash._escaping import of_cell
from fairdash._validation import encode_groups, value_label
from fairdash.methods.noisy_groups.inputs import SLACK_OF_SUMS, error_of_ends
from fairdash.methods.noisy_groups.noise import tv_bounds

Float = NDArray[np.float64]
SEPARATORS = "\t;,"


@dataclass(frozen=True)
class NoiseEstimate:
    """Noise between two groupings, estimated from a sample that has both.

    Attributes
    ----------
    counts : DataFrame
        Rows of the sample, true groups in rows, noisy groups in columns.
    group_given_noisy, noisy_given_group : DataFrame
        P(G = j | noisy group k) and P(noisy group k | G = j); rows sum to one.
    bounds : DataFrame
        By group: ``paper`` and ``general`` as of `tv_bounds`, each with ``_low`` and
        ``_high``, and ``equal_priors``.
    """

    counts: pd.DataFrame
    group_given_noisy: pd.DataFrame
    noisy_given_group: pd.DataFrame
    bounds: pd.DataFrame


def estimate_noise(
    true_groups: ArrayLike,
    noisy_groups: ArrayLike,
    *,
    expected: Sequence[object] = (),
    confidence: float = 0.95,
) -> NoiseEstimate:
    """Estimate the noise from a sample in which both groupings are known.

    Parameters and errors are those of `estimate_from_counts`; a missing value is
    refused, too.
    """
    true, code = encode_groups(true_groups, noisy_groups, at_least=1)
    noisy, noisy_code = encode_groups(noisy_groups, true_groups, at_least=1)
    flat = np.bincount(len(noisy) * code + noisy_code, minlength=len(true) * len(noisy))
    counts = pd.DataFrame(
        flat.reshape(len(true), len(noisy)),
        index=[value_label(name) for name in true],
        columns=[value_label(name) for name in noisy],
    )
    return estimate_from_counts(counts, expected=expected, confidence=confidence)


def estimate_from_counts(
    counts: pd.DataFrame,
    *,
    expected: Sequence[object] = (),
    confidence: float = 0.95,
) -> NoiseEstimate:
    r"""Estimate the noise from the rows counted by true and by noisy group.

    Parameters
    ----------
    counts : DataFrame of shape (n_groups, n_groups)
        Rows, or shares of all rows that are known: they sum to one and have no error.
    expected : sequence, optional
        Noisy groups of the data that the estimate is for; the sample must have them.
    confidence : float, default=0.95
        With which the intervals of both error rates of all groups hold together:
        Clopper and Pearson's, exact, the error shared out over all ends (Bonferroni).
        ``general_high`` is the larger of a group's two upper ends, so every radius is
        at most that with this confidence.

    Raises
    ------
    ValueError
        When an expected group is not in the sample, a group has no rows, or true and
        noisy groups differ in their names.
    """
    absent = [one for one in map(value_label, expected) if one not in counts.columns]
    if absent:
        raise ValueError(
            f"The auxiliary sample has no row of the noisy group {absent[0]!r}, so "
            "nothing is known of who belongs to it; it has "
            f"{', '.join(map(str, counts.columns))}. Add rows or join groups."
        )
    for kind, n in (("true", counts.sum(axis=1)), ("noisy", counts.sum(axis=0))):
        if empty := [str(name) for name in n.index[n <= 0]]:
            raise ValueError(
                f"The auxiliary sample has no row of the {kind} group {empty[0]!r}; "
                "add rows, take the group out or join it with another."
            )
    if set(counts.index) != set(counts.columns):
        raise ValueError(
            "True and noisy groups of the auxiliary sample must have the same names, "
            f"got true {', '.join(map(str, counts.index))} and noisy "
            f"{', '.join(map(str, counts.columns))}; rename or join groups."
        )
    counts = counts[list(counts.index)]
    return NoiseEstimate(
        counts=counts.rename_axis(index="true group", columns="noisy group"),
        group_given_noisy=counts.T.div(counts.sum(axis=0), axis=0),
        noisy_given_group=counts.div(counts.sum(axis=1), axis=0),
        bounds=_with_intervals(counts, confidence),
    )


def read_counts(text: str) -> pd.DataFrame:
    """Return a small table of counts from text, as pasted from a spreadsheet.

    The first line names the noisy groups, each further line a true group and its rows
    in each of them, separated by tabs, semicolons or commas::

        ,Female,Male
        Female,3782,404
        Male,496,4318

    Raises ValueError when a cell is empty or no number, or a name comes twice.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) < 2:
        raise ValueError(
            "The counts need a first line with the recorded groups and a line for each "
            "true group."
        )
    separator = max(SEPARATORS, key=lines[0].count)
    rows = [
        [of_cell(cell.strip()) for cell in row]
        for row in csv.reader(lines, delimiter=separator, skipinitialspace=True)
    ]
    width = max(map(len, rows[1:]))
    if rows[0][0] and len(rows[0]) == width - 1:
        rows[0] = ["", *rows[0]]  # a corner that was not copied
    columns, index = rows[0][1:], [row[0] for row in rows[1:]]
    for names, kind in ((columns, "recorded"), (index, "true")):
        if "" in names:
            raise ValueError(f"A {kind} group of the counts has no name.")
        if twice := [name for name in names if names.count(name) > 1]:
            raise ValueError(f"The counts name the {kind} group {twice[0]!r} twice.")
    for row in rows[1:]:
        for name, cell in zip(columns, row[1:] + [""] * len(columns), strict=False):
            where = f"true group {row[0]!r}, recorded group {name!r}"
            if not cell:
                raise ValueError(
                    f"The counts have an empty cell: {where}; 0 is a count."
                )
            if not _is_count(cell):
                raise ValueError(f"The counts have {cell!r}, no number >= 0: {where}.")
        if len(row) > len(columns) + 1:
            raise ValueError(
                f"The line of true group {row[0]!r} has {len(row) - 1} counts for "
                f"{len(columns)} recorded groups."
            )
    values = [[float(cell) for cell in row[1:]] for row in rows[1:]]
    return pd.DataFrame(values, index=index, columns=columns)


def write_counts(counts: pd.DataFrame) -> str:
    """Return counts as text that `read_counts` reads back."""
    bare = counts.rename_axis(index=None, columns=None)
    return bare.to_csv(sep="\t", float_format="%.12g", lineterminator="\n")


def check_counts(name: str, value: object) -> None:
    """Raise ValueError unless ``value`` is empty or a table as of `read_counts`."""
    if value:
        estimate_from_counts(read_counts(str(value)))


def share_limits(counts: pd.DataFrame, confidence: float) -> tuple[Float, Float]:
    """Return limits of P(G = j | noisy group k) that hold together, from a sample.

    Clopper and Pearson's, whose error is shared out over all ends (Bonferroni).

    ``counts``, (n_groups, n_groups), are those of `NoiseEstimate`; shares that are
    known have no error; limits are of shape (n_groups, n_groups).
    """
    hits = counts.to_numpy(dtype=np.float64).T
    whole = hits.sum(axis=1, keepdims=True)
    if hits.sum() <= 1 + SLACK_OF_SUMS:
        return hits / whole, hits / whole
    misses = whole - hits
    error = error_of_ends(hits, confidence)
    low = beta.ppf(error, hits, misses + 1)
    high = beta.isf(error, hits + 1, misses)
    return np.where(hits > 0, low, 0.0), np.where(misses > 0, high, 1.0)


def _with_intervals(counts: pd.DataFrame, confidence: float) -> pd.DataFrame:
    table = counts.to_numpy(dtype=np.float64)
    hits, whole = np.diag(table), np.stack([table.sum(axis=1), table.sum(axis=0)])
    low = high = (whole - hits) / whole
    if table.sum() > 1 + SLACK_OF_SUMS:
        error, wrong = error_of_ends(whole, confidence), whole - hits
        low = np.where(wrong > 0, beta.ppf(error, wrong, hits + 1), 0.0)
        high = np.where(hits > 0, beta.isf(error, wrong + 1, hits), 1.0)
    known = tv_bounds(table / table.sum()).set_index(counts.index)
    return pd.DataFrame(
        {
            "paper": known["paper"],
            "paper_low": low[0],
            "paper_high": high[0],
            "general": known["general"],
            "general_low": low.max(axis=0),
            "general_high": high.max(axis=0),
            "equal_priors": known["equal_priors"],
        }
    )


def _is_count(cell: str) -> bool:
    try:
        return 0 <= float(cell) < float("inf")
    except ValueError:
        return False
