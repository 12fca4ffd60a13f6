"""The tray: at most four models, pinned on one page, the same on every page.

Each has the colour and the mark that figures draw it with. One of them is looked at; a
click on another one looks at that. What is pinned stands in the address.
"""

from collections.abc import Sequence

import streamlit as st

from fairdash import audits
from fairdash._escaping import plain, visible
from fairdash.audits import Setting
from fairdash.plots import MOST_MODELS, theme
from fairdash.ui.selection import SharedFields, bound, choose
from fairdash.ui.widgets.question import model_in_question
from fairdash.ui.widgets.state import store

_KEY = "tray"


def pick_models(models: Sequence[Setting], run_id: str | None) -> list[Setting]:
    """Draw the tray; return the models that are compared, the one looked at last."""
    tray = pinned(models, run_id)
    looked_at = _draw(models, tray, model_in_question(models, run_id).setting)
    compared = [model for model in tray if model is not looked_at]
    return [*compared, looked_at]


def pick_model(models: Sequence[Setting], run_id: str | None) -> Setting:
    """Draw the tray; return the model looked at, that in question."""
    looked_at = model_in_question(models, run_id).setting
    return _draw(models, pinned(models, run_id), looked_at)


def pinned(models: Sequence[Setting], run_id: str | None) -> list[Setting]:
    """Return what is pinned, the model to compare with first.

    At first these are the models of ``run_id``; of a sweep the plain model and the one
    in question. A model that another page chose stands beside the plain one, or after
    what is pinned.
    """
    by_id = {model.id: model for model in models}
    in_question = model_in_question(models, run_id)
    # An address may name models of another data set, or deleted ones.
    pinned_ids = SharedFields.here().models
    tray = [by_id[model_id] for model_id in pinned_ids if model_id in by_id]
    if not tray and in_question.named:
        tray = audits.trials.beside_plain(in_question.setting, models)
    if not tray:
        tray = audits.question.models_of(store(), models, run_id, in_question.rule)
    return _with(in_question.setting, tray[:MOST_MODELS])


def _with(model: Setting, tray: Sequence[Setting]) -> list[Setting]:
    """Return the tray with a model in it, in the last place where it is full."""
    if model in tray:
        return list(tray)
    return [*tray[: MOST_MODELS - 1], model]


def with_pinned(before: Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    """Return the ids pinned after some more were: the newest, and the first of all."""
    # The first one stays: changes of all others are told against it.
    first, *later = dict.fromkeys([*before, *names])
    newest = later[-(MOST_MODELS - 1) :]
    return (first, *newest)


def pin(*ids: str) -> tuple[str, ...]:
    """Put models into the tray and look at the last one; return what is pinned."""
    models = with_pinned(SharedFields.here().models, ids)
    choose(models=models, model=ids[-1])
    return models


def _draw(
    models: Sequence[Setting], tray: Sequence[Setting], looked_at: Setting
) -> Setting:
    """Draw the pills of the tray and what pins more; return the model looked at."""
    by_label = {model.label: model for model in tray}
    label_of = {model.id: model.label for model in tray}
    scheme: theme.Theme = "dark" if st.context.theme.type == "dark" else "light"
    chips = theme.model_chips([model.colour_role for model in tray], scheme)
    glyphs = {}
    for model, (_, glyph) in zip(tray, chips, strict=True):
        glyphs[model.label] = glyph
    # Streamlit gives a pill no colour: the style sheet counts the buttons instead.
    st.html(f"<style>{_pill_colours([colour for colour, _ in chips])}</style>")
    with st.container(
        horizontal=True, gap="xsmall", vertical_alignment="center", key=_KEY
    ):
        label = st.pills(
            "Model",
            list(by_label),
            required=True,
            format_func=lambda name: f"{glyphs[name]} {plain(name)}",
            label_visibility="collapsed",
            **bound(
                "model",
                looked_at.label,
                among=by_label,
                shown=lambda model_id: label_of.get(model_id, looked_at.label),
                meant=lambda label: by_label[label].id,
                # A default tray becomes a choice, so that the click does not change it.
                also={"models": tuple(label_of)},
            ),
        )
        _pin_more(models, tray)
    return by_label.get(label, looked_at)


def _pill_colours(colours: Sequence[str]) -> str:
    """Return CSS that gives the border and the mark of each pill its colour."""
    rules = []
    for number, colour in enumerate(colours, 1):
        button = f".st-key-{_KEY} button:nth-of-type({number})"
        rules.append(f"{button} {{ border-color: {colour}; }}")
        rules.append(f"{button} p::first-letter {{ color: {colour}; }}")
    return "".join(rules)


def _pin_more(models: Sequence[Setting], tray: Sequence[Setting]) -> None:
    """Draw the list of all models, in which those of the tray are chosen."""
    if len(models) < 2:
        return
    id_of = {model.label: model.id for model in models}
    labels = [model.label for model in tray]
    # Models of other data sets stay pinned for the pages that show them.
    ids_here = set(id_of.values())
    ids_elsewhere = tuple(
        model_id for model_id in SharedFields.here().models if model_id not in ids_here
    )

    def ids(chosen: Sequence[str]) -> tuple[str, ...]:
        return (*ids_elsewhere, *(id_of[label] for label in chosen))

    with st.popover("pin a model", icon=":material/add:", type="tertiary"):
        st.multiselect(
            "Models",
            list(id_of),
            max_selections=MOST_MODELS,
            format_func=visible,
            help=f"At most {MOST_MODELS} on every page. Changes are against the first.",
            **bound(
                "models",
                labels,
                shown=lambda _: labels,
                meant=ids,
                key="pinned",
            ),
        )
