"""The numbers of a chosen setting of a sweep, and the search for one."""

from math import inf

import streamlit as st

from fairdash.store import RunRecord
from fairdash.ui._blocks import Kpi
from fairdash.ui._format import change, number, percent, points
from fairdash.ui._results import BASELINE
from fairdash.ui._sweep import PARITY, Sweep
from fairdash.ui._sweep_controls import Controls, choose


def model_kpis(sweep: Sweep, asked: Controls) -> list[Kpi]:
    """Return accuracy, DI and Worst-1-DI on test rows, and whether the limit holds.

    A change from the unconstrained model is coloured when it has the same sign by more
    than twice its standard error over at least three seeds.
    """
    assert asked.place is not None
    row, plain = sweep.means.iloc[asked.place], sweep.baseline()
    seed_rows = sweep.rows[sweep.rows["method"] == asked.method]
    for param, value in asked.point.items():
        seed_rows = seed_rows[seed_rows[param] == value]
    before = sweep.rows[sweep.rows["method"] == BASELINE].set_index("seed")
    kpis = []
    for metric, label in (
        ("accuracy", "Accuracy"),
        (PARITY, "DI"),
        ("worst_1_di", "Worst-1-DI"),
    ):
        column, share = f"test_{metric}", metric == "accuracy"
        spread = row[f"{column}_sd"]
        note = "one seed"
        if spread == spread:
            note = f"± {100 * spread:.1f}" if share else f"± {number(spread)}"
        delta, good = "", None
        if plain is not None and plain["method"] != row["method"]:
            difference = float(row[column] - plain[column])
            delta = points(difference) if share else change(difference)
            paired = seed_rows.set_index("seed")[column] - before[column]
            apart = paired.dropna().to_numpy(float)
            few = len(apart) < 3
            error = inf if few else apart.std(ddof=1) / len(apart) ** 0.5
            if abs(apart.mean()) > 2 * error:
                good = bool((difference > 0) == share)
        words = percent(row[column]) if share else number(row[column])
        kpis.append(Kpi(label, words, note, delta=delta, good=good))
    judged = float(row[f"validation_{PARITY}"])
    kept = "yes" if judged <= asked.limit else "no"
    note = f"DI {number(judged)} on validation"
    rule = f"Whether DI on validation rows is at most {asked.limit:g}."
    return [*kpis, Kpi("Within the limit", kept, note, help=rule)]


def find_model(sweep: Sweep, asked: Controls, run: RunRecord) -> None:
    """Find the most accurate model under two limits, and say what test rows say."""
    with st.popover("Find a model", icon=":material/search:"):
        st.caption("Most accurate on validation rows with")
        di = st.number_input("DI at most", 0.0, 1.0, asked.limit, 0.01)
        worst = st.number_input("Worst-1-DI at most", 0.0, 1.0, 0.15, 0.01)
        place = sweep.best({PARITY: di, "worst_1_di": worst})
        if place is None:
            st.markdown("No setting keeps both limits on validation rows.")
            return
        row = sweep.means.iloc[place]
        lines = [f"**{sweep.models[place].label}**", "", "| | validation | test |"]
        lines += ["|---|---|---|"]
        for metric, name, style in (
            ("accuracy", "Accuracy", percent),
            (PARITY, "DI", number),
            ("worst_1_di", "Worst-1-DI", number),
        ):
            parts = [style(row[f"{part}_{metric}"]) for part in ("validation", "test")]
            lines.append(f"| {name} | {' | '.join(parts)} |")
        st.markdown("\n".join(lines))
        st.button("Show it", on_click=choose, args=(sweep, run, place))
