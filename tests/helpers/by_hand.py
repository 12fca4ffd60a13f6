"""What tests compute beside the package, with the libraries of the core alone."""

import numpy as np
from scipy.stats import norm

from fairdash.metrics import LocalMeasure, intervals


def newcombe_interval(positives, n, other_positives, other_n, confidence=0.95):
    """Return Newcombe's interval of a difference of rates (1998, method 10)."""
    z = norm.ppf((1 + confidence) / 2)

    def wilson(k, rows):
        rate = np.divide(k, rows)
        root = np.sqrt(rate * (1 - rate) * rows + z**2 / 4)
        ends = (
            np.asarray(k) + z**2 / 2 - z * root,
            np.asarray(k) + z**2 / 2 + z * root,
        )
        return rate, *(end / (rows + z**2) for end in ends)

    p, low, high = wilson(np.asarray(positives), np.asarray(n))
    q, least, most = wilson(np.asarray(other_positives), np.asarray(other_n))
    down = np.hypot(p - low, most - q)
    up = np.hypot(high - p, q - least)
    return p - q - down, p - q + up


def local_measure(measure, y_true, y_pred, **rows):
    """Return the table of a measure inside subgroups."""
    return LocalMeasure.of(measure, y_true, y_pred, **rows).table()


def gap_interval(positives, n, *, confidence=0.95, axes=1):
    """Return the interval of the largest difference of rates, as an audit does."""
    positives, n = np.broadcast_arrays(*(np.asarray(x, float) for x in (positives, n)))
    rate = np.divide(positives, n, where=n > 0, out=np.full(n.shape, np.nan))

    def ends(z):
        return intervals.wilson_ends(rate, n, z)

    return intervals.largest_gap(rate, ends, confidence=confidence, axes=axes)
