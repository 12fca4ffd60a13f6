r"""Which of many limits are surely broken: each interval is corrected for all of them.

Of m estimates that are judged by their interval, each may break its limit by luck.
Holm's procedure bounds the chance that any limit that is kept is called broken: the
first is held against its interval at :math:`1 - 2 \alpha / m`, which is one-sided, and
with r broken so far the next against :math:`1 - 2 \alpha / (m - r)`. None is narrower
than the interval that is shown.

S. Holm (1979), A simple sequentially rejective multiple test procedure. Scandinavian
Journal of Statistics 6, 65-70.
"""

from collections.abc import Callable, Hashable, Sequence


def surely_broken(
    n_families: int,
    suspects: Sequence[Hashable],
    confidence: float,
    broken_at: Callable[[float], set[Hashable]],
) -> set[Hashable]:
    """Return which families of estimates break a limit, by Holm's procedure.

    Parameters
    ----------
    n_families : int
        Families that are judged. The estimates of one hold at once by themselves.
    suspects : sequence
        Families that are beyond their limit at ``confidence``.
    broken_at : function
        From a confidence to the families that are beyond their limit at it.
    """
    broken: set[Hashable] = set()
    while len(broken) < len(suspects):
        level = 1 - 2 * (1 - confidence) / max(n_families - len(broken), 1)
        if level <= confidence:
            return set(suspects)
        beyond = broken | (broken_at(level) & set(suspects))
        if beyond == broken:
            break
        broken = beyond
    return broken
