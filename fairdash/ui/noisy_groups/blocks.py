"""The parts of the Noisy groups page: noise, certificates, study."""

from collections.abc import Mapping, Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from fairdash import plots
from fairdash.ui.noisy_groups.certificate import certificate_table
from fairdash.ui.noisy_groups.form import Asked, bounds_table
from fairdash.ui.noisy_groups.noise import Noise, Question
from fairdash.ui.noisy_groups.study import start_study, study_table
from fairdash.ui.noisy_groups.view import (
    bounds_warning,
    certificate_caption,
    confusion_caption,
    guarantee,
    noisy_kpis,
    pick_radius,
    study_caption,
)
from fairdash.ui.widgets.blocks import figure, heading, kpi_row, problem
from fairdash.ui.widgets.frame import open_page
from fairdash.ui.widgets.score_source import Source

_TRAIN = "pages/2_Train.py"
MOST = 12  # models in a figure
_HOW_CERTAIN = """
Each row is a **model**. Circle: the largest violation when the noisy groups are taken
at their word. Diamond: on the true groups. Right of the dashed line the constraint is
broken.

**Exact, TV ball**: the largest violation of any groups within the radius (γ), none
further than its valid bound.
**Exact, soft**: of any memberships that agree with P(G | Ĝ). **20 random draws**: the
check of the paper's public code, which averages over rows and so sees little.
"""
_HOW_CONFUSION = """
Each row is a **true group**: the share, and the number, of its people by noisy group.
"""
_HOW_STUDY = """
Groups of the training rows are replaced at random, models train on these **noisy**
groups, and the largest violation is measured on test rows: on true groups, on noisy
groups, beside the error. Below the dashed line the constraint holds. Bars: one
standard deviation over seeds. **Naive** trusts the noisy groups, at 0% they are the
true ones; **DRO** guards against all groups within the noise, **Soft** against all
memberships that agree with it.
"""
_HOW_BOUNDS = """
How far a true group can be from its noisy version (total variation). **Lemma 1** of the
paper, P(Ĝ ≠ j | G = j), needs groups with equal true and noisy shares. The **valid
bound** is the larger of that and P(G ≠ j | Ĝ = j).
"""


def show_noise(noise: Noise) -> None:
    """Draw who is mistaken for whom, and the bounds that follow."""
    figure(
        plots.plot_confusion(noise.shares),
        finding=plots.confusion_finding(noise.shares),
        caption=confusion_caption(noise),
        alt=plots.describe_confusion(noise.shares),
        how=_HOW_CONFUSION,
        key="confusion",
    )
    if noise.bounds is None:
        st.caption("The groupings differ, so only the soft certificate applies.")
        return
    heading("How far apart groups can be", _HOW_BOUNDS)
    st.dataframe(bounds_table(noise.bounds), hide_index=True)
    if warning := bounds_warning(noise):
        st.warning(warning, icon=":material/warning:")


def show_certificates(
    models: Mapping[str, Sequence[Source]],
    dataset_id: str | None,
    asked: Asked,
    columns: tuple[DeltaGenerator, DeltaGenerator],
) -> None:
    """Draw the radius, what it means for one model, and every model beside it.

    Models that decide about other rows than the chosen one are not drawn.

    Raises
    ------
    ValueError
        When a noisy group has no rows with an outcome of the constraint.
    """
    left, right = columns
    numbers = st.container()
    name, noise, question = asked.model, asked.noise, asked.question
    assert noise is not None, "asked for before"
    alike = [label for label in models if _same_rows(models[label], models[name])]
    shown = {name, *[label for label in alike if label != name][: MOST - 1]}
    with left:
        radius = pick_radius(models[name], dataset_id, noise, question)
    table = certificate_table(
        {label: models[label] for label in alike if label in shown},
        dataset_id,
        noise,
        radius,
        question,
    )
    chosen = table[table["label"] == name].iloc[0]
    with numbers:
        kpi_row(noisy_kpis(chosen, radius))
        st.markdown(guarantee(chosen, radius, noise, question.constraints))
    with right:
        figure(
            plots.plot_certificates(table),
            finding=plots.certificate_finding(table),
            caption=certificate_caption(
                len(shown), len(alike), is_file=models[name][0].upload is not None
            ),
            alt=plots.describe_certificates(table),
            how=_HOW_CERTAIN,
            table=table,
            key="certificates",
        )


def show_study(dataset_id: str, question: Question) -> None:
    """Draw the study, or the button that runs it."""
    table = study_table(dataset_id, question)
    if table["level"].max() > 0:
        figure(
            plots.plot_noise_study(table),
            finding=plots.noise_finding(table),
            caption=study_caption(table),
            alt=plots.describe_noise_study(table),
            how=_HOW_STUDY,
            table=table,
            key="study",
        )
        return
    heading("What noise in training does", _HOW_STUDY)
    st.caption(
        "Trains every approach at growing noise; half a minute on the sample, longer "
        "on more rows."
    )
    if st.button("Run the study", icon=":material/science:"):
        try:
            run = start_study(dataset_id, question)
        except ValueError as error:
            problem("The study did not start", error)
            return
        open_page(_TRAIN, run=run, data=dataset_id)


def _same_rows(sources: Sequence[Source], others: Sequence[Source]) -> bool:
    """Tell whether two models decide about the same rows with the same groups."""
    one, other = sources[0].upload, others[0].upload
    if one is None or other is None:
        return one is other
    return one._replace(name="", score="") == other._replace(name="", score="")
