"""What the Noisy groups page draws: the promise, its evidence, training for noise."""

from collections.abc import Sequence
from functools import partial

import pandas as pd
import streamlit as st

from fairdash._escaping import plain
from fairdash._wording import interval, number, percent, plural, time_left
from fairdash.audits import (
    Certificate,
    Noise,
    NoisyRows,
    Question,
    RadiusCurve,
    certify_decisions,
    models_answer,
    newest_run,
    noise_spec,
    promise_answer,
    radius_curve,
    seconds_left,
    shares_shown,
    told_words,
    why_failed,
)
from fairdash.jobs import submit
from fairdash.store import Snapshot
from fairdash.ui.noisy_groups.form import Candidate, Chosen, decisions_of, pick_noise
from fairdash.ui.selection import bound
from fairdash.ui.widgets.blocks import problem
from fairdash.ui.widgets.frame import open_page
from fairdash.ui.widgets.results import Evidence, result_page, show_answer
from fairdash.ui.widgets.runs import progress_box, source
from fairdash.ui.widgets.scores import Source
from fairdash.ui.widgets.state import BY_KEY, store

MOST = 12  # models in a figure
_STEP, _START = 0.001, 0.05  # of the slider
_PLAIN = "unconstrained"
_BOUNDS = {"paper": "If shares agree (Lemma 1)", "general": "In any case"}
_PAGE = "pages/7_Noisy_groups.py"
_HOW_BOUNDS = """
**If shares agree**: the share of the true group recorded elsewhere, P(Ĝ ≠ j | G = j),
Lemma 1 of the paper. It needs groups of equal true and recorded shares. **In any
case**: the larger of that and the share of the recorded group that belongs elsewhere.
"""
_HOW_TRAINING = """
Four models on three splits: without a constraint (**Hinge**), with the recorded groups
treated as true (**Naive**), guarding against all groups within a radius of each
recorded one (**DRO**), and against all memberships that agree with P(G | Ĝ) (**Soft**).
"""


@st.fragment
def show_noisy_groups(
    models: Sequence[Candidate],
    dataset_id: str,
    run_id: str | None,
    can_train: bool,
) -> None:
    """Draw the promise of a model, its worst case and the evidence."""
    page = result_page("worst case")
    try:
        with page.controls:
            chosen = pick_noise(models, dataset_id, run_id)
            alike = [
                one.on(chosen.model) for one in models if _same_rows(one, chosen.model)
            ]
            curves = _curves(alike, dataset_id, chosen)
            share = _pick_share(curves[chosen.model.label])
        certificate = _certified(
            chosen.model, dataset_id, chosen.noise, share, chosen.question
        )
    except ValueError as error:
        problem("Nothing can be said of these groups", error)
        return
    answer = promise_answer(
        certificate, curves, chosen.question, share, chosen.model.rows
    )
    page.show(answer)

    def every_model() -> None:
        found = [
            _certified(one, dataset_id, chosen.noise, share, chosen.question)
            for one in alike[:MOST]
        ]
        rows = f"{chosen.model.rows}, {percent(share)} recorded wrongly".capitalize()
        if len(found) < len(models):
            rows += f"; {len(found)} of {plural(len(models), 'model')}"
        show_answer(models_answer(found, rows), "certificates")

    evidence = [Evidence("models", "Every model", every_model)]
    if chosen.noise.bounds is not None:
        known = partial(_show_bounds, chosen.rows, chosen.noise)
        evidence.append(Evidence("bounds", "What is known", known))
    if can_train:
        asked = chosen.question, chosen.noise
        train = partial(_show_training, dataset_id, run_id, *asked)
        evidence.append(Evidence("train", "Train for this", train))
    page.evidence(*evidence)


def _curves(
    alike: Sequence[Candidate], dataset_id: str, chosen: Chosen
) -> dict[str, RadiusCurve]:
    """Return the worst case of the chosen model, and of a plain one beside it."""
    drawn = [chosen.model]
    plain_ones = [one for one in alike if one.method == _PLAIN]
    drawn += [one for one in plain_ones if one.id != chosen.model.id][:1]
    return {
        one.label: _curve(one.sources, dataset_id, chosen.noise, chosen.question)
        for one in drawn
    }


@st.cache_data(max_entries=2000, show_spinner=False, hash_funcs=BY_KEY)
def _certified(
    model: Candidate,
    dataset_id: str,
    noise: Noise,
    radius: float,
    question: Question,
) -> Certificate:
    seeds = [decisions_of(one, dataset_id) for one in model.sources]
    return certify_decisions(model.label, seeds, noise, question, radius)


@st.cache_data(max_entries=50, show_spinner=False, hash_funcs=BY_KEY)
def _curve(
    sources: tuple[Source, ...],
    dataset_id: str,
    noise: Noise,
    question: Question,
) -> RadiusCurve:
    seeds = [decisions_of(one, dataset_id) for one in sources]
    return radius_curve(seeds, noise, question)


def _pick_share(curve: RadiusCurve) -> float:
    """Draw the share of a group that may be recorded wrongly; return it on release."""
    most = 100 * shares_shown(curve)
    start = min(100 * _START, most)
    percent_wrong: float = st.slider(
        "Recorded wrongly (γ)",
        0.0,
        most,
        step=100 * _STEP,
        format="%.1f%%",
        help="The share of any group that is recorded as another. The paper's TV "
        "radius γ.",
        **bound(
            "radius",
            start,
            shown=lambda radius: min(max(100 * radius, 0.0), most),
            meant=lambda wrong: wrong / 100,
        ),
    )
    return percent_wrong / 100


def _show_bounds(rows: NoisyRows, noise: Noise) -> None:
    """Draw how much of a group may be wrong, from who is mistaken for whom."""
    assert noise.bounds is not None, "shown only where something is known"
    st.dataframe(_bounds_table(noise.bounds.rename(rows.label)), hide_index=True)
    if names := [*map(rows.label, noise.too_small_for_lemma_1)]:
        st.warning(
            "True and recorded groups have other shares here, so Lemma 1 is too small "
            f"for {plain(', '.join(names))}; certificates use what holds in any case.",
            icon=":material/warning:",
        )
    st.caption(_HOW_BOUNDS)


def _bounds_table(bounds: pd.DataFrame) -> pd.DataFrame:
    """Return the bounds as they are shown: both versions, with their intervals."""
    table = pd.DataFrame({"Group": [str(name) for name in bounds.index]})
    for column, title in _BOUNDS.items():
        cells = [number(value) for value in bounds[column]]
        if f"{column}_low" in bounds:
            ends = zip(bounds[f"{column}_low"], bounds[f"{column}_high"], strict=True)
            inner = [interval(low, high) for low, high in ends]
            cells = [f"{a} ({b})" for a, b in zip(cells, inner, strict=True)]
        table[title] = cells
    return table


def _same_rows(one: Candidate, other: Candidate) -> bool:
    """Return whether ``one`` decides about the rows of ``other`` with its groups."""
    return other.seeds <= one.seeds


def _show_training(
    dataset_id: str, run_id: str | None, question: Question, noise: Noise
) -> None:
    """Draw the button that trains every approach for the noise chosen, or the way."""
    if noise.bounds is None:
        st.caption("Say first what is known of wrong groups, under Known.")
        return
    record = store().dataset_record(dataset_id)
    spec = noise_spec(source(record), question, noise, record.subgroups)
    known = newest_run(store(), dataset_id, spec)
    if known is not None and known.status == "failed":
        problem(f"{known.name} failed", why_failed(store(), known))
    st.caption(f"{_HOW_TRAINING} {plain(told_words(noise))}")
    if known is None or known.status != "finished":
        if st.button("Train for this noise", icon=":material/play_arrow:"):
            run = submit(store(), spec, name=f"{record.name} · for this noise")
            open_page(_PAGE, run=run, data=dataset_id)
    elif known.id == run_id:
        st.caption("The models above were trained for what is known here of the noise.")
    elif st.button("Show the models trained for it", icon=":material/visibility:"):
        open_page(_PAGE, run=known.id, data=dataset_id)


def show_progress(snapshot: Snapshot) -> None:
    """Draw how far a run of this page is."""
    done, left = snapshot.count("finished"), seconds_left(store(), snapshot)
    facts = [f"{done} of {plural(len(snapshot.trials), 'model')} finished"]
    progress_box(snapshot, [*facts, time_left(left) if left is not None else ""])
