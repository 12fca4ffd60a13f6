"""Methods by their mean ranks, beside the critical difference."""

import pandas as pd

from fairdash._escaping import bold, wrap
from fairdash._metric_names import MAIN, metric_title
from fairdash.plots._rows import Panel, Series, draw_rows, marks_of
from fairdash.plots.theme import INK, Picture, Spec, value_axis

MEASURES = tuple(map(metric_title, MAIN))


def plot_ranks(table: pd.DataFrame) -> Picture:
    """One row per method, one panel per measure with a mark at its mean rank.

    ``table`` has ``Method``, for each measure ``Accuracy rank`` and so on, 1 being the
    best, and ``Critical difference`` (Nemenyi). Dashed: the best mean rank plus that.
    """
    critical = float(table["Critical difference"].iloc[0])
    marks = []
    panels = []
    for place, measure in enumerate(MEASURES):
        rank = f"{measure} rank"

        # As a default: the value of this turn of the loop.
        def hover(row: Spec, rank: str = rank) -> str:
            return f"{row['Method']}: {rank.lower()} {row[rank]:.1f}"

        marks.append(marks_of(table, rank, None, hover, series=place))
        domain = [0.36 * place, 0.36 * place + 0.28]
        axis = value_axis("", nticks=4, domain=domain, range=[0, len(table) + 1])
        limit = float(table[rank].min()) + critical
        words = wrap(measure, 12)
        panels.append(Panel(axis, limit=limit, words=bold(words)))
    labels = table["Method"].astype(str).tolist()
    kinds = [Series(measure, INK, panel=i) for i, measure in enumerate(MEASURES)]
    figure = draw_rows(pd.concat(marks), labels, kinds, panels, least=22, top=46)
    return Picture(
        figure,
        "Mean rank by method, 1 is the best",
        f"Mean ranks of {len(table)} methods in {', '.join(MEASURES).lower()}.",
        table,
        "Methods left of a dashed line do not clearly differ from the best one "
        f"(Nemenyi, 95%: {critical:.1f} ranks).",
    )
