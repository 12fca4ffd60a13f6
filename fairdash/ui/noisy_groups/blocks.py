"""What the Noisy groups page draws: noise, certificates, what trains under noise."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from fairdash import plots
from fairdash._escaping import plain
from fairdash._wording import interval, number, plural, time_left
from fairdash.audits import (
    Certificate,
    Noise,
    NoisyRows,
    Question,
    RadiusCurve,
    certificates_answer,
    certify_decisions,
    newest_run,
    noise_spec,
    radius_curve,
    seconds_left,
    told_words,
    why_failed,
)
from fairdash.jobs import submit
from fairdash.store import RunRecord, Snapshot
from fairdash.ui.noisy_groups.form import Candidate, Chosen, NoiseFields, decisions_of
from fairdash.ui.selection import choose
from fairdash.ui.widgets.answers import show_answer
from fairdash.ui.widgets.blocks import figure, heading, problem
from fairdash.ui.widgets.frame import open_page
from fairdash.ui.widgets.runs import progress_box, source
from fairdash.ui.widgets.scores import Source
from fairdash.ui.widgets.state import BY_KEY, live_component, store

_HERE = Path(__file__).parent
_RADIUS = "certified radius"
MOST = 12  # models in a figure
_BOUNDS = {"paper": "If shares agree (Lemma 1)", "general": "In any case"}
_HOW_CONFUSION = """
Each row is a **true group** (G): the share, and the number, of its people by the group
they were recorded in, the **noisy group** (Ĝ).
"""
_HOW_BOUNDS = """
How much of a group may be wrong: the share of its people that would have to be
exchanged to make the recorded group the true one (its **TV radius**, γ), over all rows.

**If shares agree**: the share of the true group recorded elsewhere, P(Ĝ ≠ j | G = j),
which is **Lemma 1** of the paper and needs groups of equal true and recorded shares.
**In any case**: the larger of that and the share of the recorded group that belongs
elsewhere, P(G ≠ j | Ĝ = j). Certificates use the distance on the rows that they
certify, which differs a little.
"""
_PAGE = "pages/7_Noisy_groups.py"
_HOW_TRAINING = """
Four models on three splits: without a constraint (**Hinge**), with the recorded groups
treated as true (**Naive**), guarding against all groups within a radius of each
recorded one (**DRO**), and against all memberships that agree with how often each true
group is behind each recorded one, P(G | Ĝ) (**Soft**). The last two are told what is
chosen above.
"""


def noisy_facts(rows: NoisyRows, n_models: int) -> tuple[str, str, str]:
    """Return the context line: table, rows, models."""
    n = plural(n_models, "model") if n_models else "no model yet"
    return rows.name, plural(len(rows.groups), "row"), n


def show_noise(rows: NoisyRows, noise: Noise) -> None:
    """Draw who is mistaken for whom."""
    shares = noise.shares
    if shares is not None:
        shares = shares.rename(index=rows.label, columns=rows.label)
        picture = plots.plot_confusion(shares)
        figure(picture, how=_HOW_CONFUSION, key="confusion")


def show_bounds(rows: NoisyRows, noise: Noise) -> None:
    """Draw how much of a group may be wrong, from who is mistaken for whom."""
    if noise.bounds is None:
        return
    heading("How much of a group may be wrong", _HOW_BOUNDS)
    st.dataframe(_bounds_table(noise.bounds.rename(rows.label)), hide_index=True)
    if names := [*map(rows.label, noise.too_small_for_lemma_1)]:
        st.warning(
            "True and recorded groups have other shares here, so Lemma 1 is too small "
            f"for {plain(', '.join(names))}; certificates use what holds in any case.",
            icon=":material/warning:",
        )


def show_certificates(
    models: Sequence[Candidate],
    dataset_id: str | None,
    chosen: Chosen,
    answer: DeltaGenerator,
    numbers: DeltaGenerator,
    columns: Sequence[DeltaGenerator],
) -> None:
    """Draw the answer, its numbers, the radius, and every model beside the chosen one.

    Models that decide about other rows than the chosen one are not drawn. Raises
    ValueError when a noisy group has no rows with an outcome of the constraint.
    """
    left, right = columns
    model, noise, question = chosen.model, chosen.noise, chosen.question
    assert model is not None, "the page shows this only with a model and noise"
    assert noise is not None, "the page shows this only with a model and noise"
    alike = [one.on(model) for one in models if _same_rows(one, model)]
    shown = {model.id, *[one.id for one in alike if one.id != model.id][: MOST - 1]}
    label = chosen.rows.label
    curve = _curve(model.sources, dataset_id, noise, question, label)
    with left:
        radius = _pick_radius(curve)
    found = {
        one.id: _certified(one, dataset_id, noise, radius, question)
        for one in alike
        if one.id in shown
    }
    rows = f"All {model.rows}"
    if model.rows == "test rows":
        rows = "Test rows, mean over seeds"
    if len(shown) < len(models):
        rows += f"; {len(shown)} of {plural(len(models), 'model')}"
    words = found[model.id].words(question, radius, model.rows, curve.tolerated, label)
    with numbers:
        show_answer(
            certificates_answer(
                found[model.id], radius, words, found.values(), rows, curve.tolerated
            ),
            "certificates",
            top=answer,
            beside=right,
        )


@st.cache_data(max_entries=2000, show_spinner=False, hash_funcs=BY_KEY)
def _certified(
    model: Candidate,
    dataset_id: str | None,
    noise: Noise,
    radius: float,
    question: Question,
) -> Certificate:
    seeds = [decisions_of(one, dataset_id) for one in model.sources]
    return certify_decisions(model.label, seeds, noise, question, radius)


@st.cache_data(max_entries=50, show_spinner=False, hash_funcs=BY_KEY)
def _curve(
    sources: tuple[Source, ...],
    dataset_id: str | None,
    noise: Noise,
    question: Question,
    _label: Callable[[str], str],
) -> RadiusCurve:
    seeds = [decisions_of(one, dataset_id) for one in sources]
    return radius_curve(seeds, noise, question, _label)


def _pick_radius(curve: RadiusCurve) -> float:
    """Draw the radius, which the worst case follows; return it on release."""

    def released() -> None:
        radius = float(st.session_state[_RADIUS]["radius"])
        choose(radius=None if radius >= curve.start else radius)

    chosen = NoiseFields.here().radius
    start = curve.start if chosen is None else min(chosen, curve.radii[-1])
    live_component("live_ball", _HERE)(
        data={
            **asdict(curve),
            "start": start,
            "title": "Share of a group that may be wrong (TV radius γ)",
            "help": "How far a true group may be from its noisy one: the share of its "
            "people that would have to be exchanged.",
            "words": {"limit": "all rows, less the slack", "found": "noisy group"},
        },
        default={"radius": start},
        key=_RADIUS,
        on_radius_change=released,
    )
    return start


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
    """Tell whether ``one`` decides about the rows of ``other`` with its groups."""
    if one.upload is None or other.upload is None:
        return one.upload is other.upload and other.seeds <= one.seeds
    return one.upload._replace(name="", score="") == other.upload._replace(
        name="", score=""
    )


def show_training(
    dataset_id: str, run_id: str | None, question: Question, noise: Noise
) -> None:
    """Draw the button that trains every approach for the noise chosen, or the way."""
    heading("Train for this noise", _HOW_TRAINING)
    record = store().dataset_record(dataset_id)
    spec = noise_spec(source(record), question, noise, record.subgroups)
    known = newest_run(store(), dataset_id, spec)
    _say_failure(known)
    if known is not None and known.id == run_id and known.status == "finished":
        st.caption("The models above were trained for what is known here of the noise.")
        return
    st.caption(plain(told_words(noise)))
    if known is not None and known.status == "finished":
        if st.button("Show the models trained for it", icon=":material/visibility:"):
            open_page(_PAGE, run=known.id, data=dataset_id)
        return
    if st.button("Train for this noise", icon=":material/play_arrow:"):
        run = submit(store(), spec, name=f"{record.name} · for this noise")
        open_page(_PAGE, run=run, data=dataset_id)


def _say_failure(run: RunRecord | None) -> None:
    """Say why a run failed, if it did."""
    if run is not None and run.status == "failed":
        problem(f"{run.name} failed", why_failed(store(), run))


def show_progress(snapshot: Snapshot) -> None:
    """Draw how far a run of this page is."""
    done, left = snapshot.count("finished"), seconds_left(store(), snapshot)
    facts = [f"{done} of {plural(len(snapshot.trials), 'model')} finished"]
    progress_box(snapshot, [*facts, time_left(left) if left is not None else ""])
