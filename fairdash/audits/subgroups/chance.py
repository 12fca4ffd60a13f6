r"""How large the largest gap of all subgroups is by chance.

Group labels are permuted among the rows of a stratum, and the largest statistic over
*all* subgroups searched is taken each time (Westfall and Young 1993). Columns and
values stay as they are, so the statistics keep the dependence of subgroups that
overlap. Up to `JOINT` rows every permutation is one of whole rows. Of more, each block
of columns is permuted by itself: its table of cells is then drawn from the multivariate
hypergeometric distribution, at a cost that does not grow with the rows. Blocks taken as
independent make the largest one larger, never smaller, where the statistics are jointly
normal (the Gaussian correlation inequality), so that p-values are at most too large.

References
----------
P. H. Westfall and S. S. Young (1993), Resampling-based multiple testing. Wiley.
T. Royen (2014), A simple proof of the Gaussian correlation conjecture extended to
multivariate gamma distributions. Far East J. Theor. Stat. 48, 139-145.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairdash.audits.subgroups.counts import Block, Float, Rows
from fairdash.audits.subgroups.search import Found, Limits
from fairdash.audits.subgroups.statistic import screen, studentised

JOINT = 100_000  # rows up to which permutations are of whole rows
_CHUNK = 64  # subgroups whose statistics are computed at once


@dataclass(frozen=True, eq=False)
class Chance:
    """The largest statistics under permutation.

    Attributes
    ----------
    largest : float array of shape (n_permutations,)
        Over all subgroups searched.
    later : float array of shape (n_permutations, n_found + 1)
        Over all but the better ones among those found; the last over none of these.
    z : float array of shape (n_found,)
        Statistics of those found, best first.
    """

    largest: Float
    later: Float
    z: Float
    n_searched: int

    def p_values(self, z: ArrayLike) -> Float:
        """Return step-down adjusted p-values of statistics of subgroups searched.

        That of each is the share of permutations, the table itself being one, in which
        some subgroup that is no better in the table has a statistic as large.
        """
        asked = np.asarray(z, np.float64)
        # statistics under permutation are of single precision
        known = np.append(self.z, -np.inf)
        beaten = (self.later >= known * (1 - 1e-5)).sum(0)
        stepped = np.maximum.accumulate((1 + beaten) / (1 + len(self.later)))
        better = (self.z[:, None] > asked * (1 + 1e-9)).sum(0)
        own = (self.later[:, better] >= asked * (1 - 1e-5)).sum(0)
        p = (1 + own) / (1 + len(self.later))
        before = np.where(better > 0, stepped[better - 1], 0.0)
        adjusted: Float = np.maximum(p, before)
        return adjusted

    def critical(self, alpha: float) -> float:
        """Return what the largest statistic exceeds with probability ``alpha``."""
        rank = int(np.ceil((1 - alpha) * (1 + len(self.largest)))) - 1
        ordered = np.sort(self.largest)
        return float(ordered[rank]) if rank < len(ordered) else float("inf")


def permute(
    rows: Rows,
    found: Found,
    limits: Limits,
    *,
    n_permutations: int,
    joint: bool | None = None,
    random_state: int | None = None,
) -> Chance:
    """Return the largest statistics of all subgroups under permutation.

    Parameters
    ----------
    found : Found
        Of largest studentised gaps; for each the largest over those no better.
    joint : bool, optional
        Whether whole rows are permuted; by default up to `JOINT` rows. Blocks by
        themselves are drawn without ``joint``.
    """
    depth, min_size, beyond = limits
    rng = np.random.default_rng(random_state)
    whole = len(rows) <= JOINT if joint is None else joint
    tables = _rows_permuted if whole else _cells_drawn
    places = defaultdict(list)
    for i, block in enumerate(found.blocks):
        places[block].append(i)
    total = rows.total.astype(np.float32) if beyond else None
    rest = np.zeros(n_permutations, np.float32)
    own = np.zeros((n_permutations, len(found.score)), np.float32)
    n_searched = 0
    for block, cells in tables(rows, depth, n_permutations, beyond, rng):
        counts = np.moveaxis(rows.conjunctions(block, cells), 0, 2)
        # rows of a subgroup do not change, so the first permutation tells its size
        large = np.flatnonzero(counts[..., 0].sum((0, 1)) >= min_size)
        n_searched += len(large)
        which = places.get(block, [])
        at = found.places[which]
        own[:, which] = studentised(counts[:, :, at], total).T
        others = large[~np.isin(large, at)] if which else large
        for start in range(0, len(others), _CHUNK):
            _raise(rest, counts[:, :, others[start : start + _CHUNK]], total)
    later = np.concatenate([own, rest[:, None]], axis=1)[:, ::-1]
    later = np.sqrt(np.maximum.accumulate(later, axis=1)[:, ::-1])
    return Chance(later[:, 0], later, found.score, n_searched)


def _raise(largest: Float, counts: Float, total: Float | None) -> None:
    """Raise the largest statistic of every permutation to those of some subgroups."""
    if total is not None:
        np.maximum(largest, studentised(counts, total).max(0), out=largest)
        return
    # few pass the screen, and only these are looked at in full
    which, when = np.nonzero(screen(counts) > largest)
    if len(which):
        np.maximum.at(largest, when, studentised(counts[:, :, which, when]))


def _rows_permuted(
    rows: Rows, depth: int, times: int, beyond: bool, rng: np.random.Generator
) -> Iterator[tuple[Block, Float]]:
    """Yield the cells of every block, (cells, groups, 2, times), rows permuted.

    Cells of all blocks that differ in their last column are sums of products of its
    bins with the permuted labels, which are one matrix product per cell of the others.
    """
    labels = _permuted(rows, times, beyond, rng)
    n_labels = labels.shape[1] // times
    fixed = np.zeros(len(rows), np.int64) if beyond else rows.value
    n_fixed = 1 if beyond else 2
    widths = [column.n_bins for column in rows.columns]
    ends = np.concatenate([[0], np.cumsum(widths)])
    bins = np.concatenate(
        [c.codes[:, None] == np.arange(c.n_bins) for c in rows.columns], axis=1
    ).astype(np.float32)
    for prefix in [(), *rows.blocks(depth - 1)]:
        first = prefix[-1] + 1 if prefix else 0
        if first == len(widths):
            continue
        code, inside = np.zeros(len(rows), np.int64), np.ones(len(rows), bool)
        for j in prefix:
            codes = rows.columns[j].codes
            inside &= codes < widths[j]
            code = code * widths[j] + codes
        n_cells = int(np.prod([widths[j] for j in prefix])) * n_fixed
        code = np.where(inside, code * n_fixed + fixed, n_cells)
        order = np.argsort(code, kind="stable")
        parts = np.searchsorted(code[order], np.arange(n_cells + 1))
        mine, theirs = labels[order], bins[order, ends[first] :]
        sums = np.empty((n_cells, theirs.shape[1], labels.shape[1]), np.float32)
        for cell in range(n_cells):
            own = slice(parts[cell], parts[cell + 1])
            sums[cell] = theirs[own].T @ mine[own]
        sums = sums.reshape(-1, n_fixed, theirs.shape[1], n_labels, times)
        for last in range(first, len(widths)):
            at = slice(ends[last] - ends[first], ends[last + 1] - ends[first])
            # (cells of others, fixed, bins of the last, labels, times)
            cells = np.moveaxis(sums[:, :, at], 1, 3)
            cells = cells.reshape(-1, n_labels, n_fixed, times)
            yield (*prefix, last), cells.reshape(-1, rows.n_groups, 2, times)


def _permuted(rows: Rows, times: int, beyond: bool, rng: np.random.Generator) -> Float:
    """Return permuted indicators of groups, or of group and value, side by side."""
    label = rows.group * 2 + rows.value if beyond else rows.group
    n_labels = rows.n_groups * (2 if beyond else 1)
    permuted = np.empty((len(rows), times), label.dtype)
    for stratum in range(rows.n_strata):
        own = np.flatnonzero(rows.stratum == stratum)
        for b in range(times):
            permuted[own, b] = label[rng.permutation(own)]
    return np.concatenate(
        [(permuted == k).astype(np.float32) for k in range(n_labels)], axis=1
    )


def _cells_drawn(
    rows: Rows, depth: int, times: int, beyond: bool, rng: np.random.Generator
) -> Iterator[tuple[Block, Float]]:
    """Yield the cells of every block, (cells, groups, 2, times), drawn by themselves.

    Cells with their values hand out their rows to one group after the other, in every
    stratum; what lies outside all bins takes part.
    """
    for block in rows.blocks(depth):
        cells = rows.cells(block)
        drawn = np.zeros((*cells.shape[:1], rows.n_groups, 2, times), np.float32)
        for stratum in range(rows.n_strata):
            inside = cells[:, stratum]
            drawn += _hand_out(rows, inside, stratum, times, beyond, rng)
        yield block, drawn


def _hand_out(
    rows: Rows,
    cells: NDArray[np.int64],
    stratum: int,
    times: int,
    beyond: bool,
    rng: np.random.Generator,
) -> Float:
    own = rows.stratum == stratum
    kinds = rows.kind[own] % (2 * rows.n_groups)
    total = np.bincount(kinds, minlength=2 * rows.n_groups).reshape(-1, 2)
    outside = total - cells.sum(0)
    # boxes: what stays together; labels: what is handed out
    if beyond:
        boxes = np.append(cells.sum((1, 2)), outside.sum())
        labels = total.ravel()
    else:
        boxes = np.append(cells.sum(1), outside.sum(0)[None], axis=0).ravel()
        labels = total.sum(1)
    some = np.flatnonzero(boxes)
    left = np.repeat(boxes[None, some], times, axis=0)
    drawn = np.zeros((len(labels), times, len(boxes)), np.float32)
    for k, n in enumerate(labels[:-1]):
        taken = _marginals(left, int(n), rng)
        drawn[k][:, some] = taken
        left = left - taken
    drawn[-1][:, some] = left
    kept = drawn.reshape(len(labels), times, len(cells) + 1, -1)[:, :, :-1]
    # (labels, times, cells, fixed) to (cells, groups, 2, times)
    moved = kept.transpose(2, 0, 3, 1)
    return moved.reshape(len(cells), rows.n_groups, 2, times)


def _marginals(
    boxes: NDArray[np.int64], n: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Draw how many of ``n`` rows come from each box, for every row of ``boxes``."""
    taken = np.empty_like(boxes)
    after = boxes.sum(1)
    wanted = np.full(len(boxes), n)
    for i in range(boxes.shape[1]):
        after = after - boxes[:, i]
        taken[:, i] = rng.hypergeometric(boxes[:, i], after, wanted)
        wanted = wanted - taken[:, i]
    return taken
