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
    shown = pinned(models, run_id)
    looked_at = _draw(models, shown, model_in_question(models, run_id).setting)
    return [*(model for model in shown if model is not looked_at), looked_at]


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
    chosen, named = SharedFields.here(), {model.id: model for model in models}
    asked = model_in_question(models, run_id)
    shown = [named[name] for name in chosen.models if name in named]
    if not shown and asked.named:
        shown = audits.trials.beside_plain(asked.setting, models)
    if not shown:
        shown = audits.question.models_of(store(), models, run_id, asked.rule)
    return _with(asked.setting, shown[:MOST_MODELS])


def _with(model: Setting, shown: Sequence[Setting]) -> list[Setting]:
    if model in shown:
        return list(shown)
    return [*shown[: MOST_MODELS - 1], model]


def with_pinned(before: Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    """Return the ids pinned after some more were: the newest, and the first of all."""
    first, *others = dict.fromkeys([*before, *names])
    return (first, *others[-(MOST_MODELS - 1) :])


def pin(*ids: str) -> tuple[str, ...]:
    """Put models into the tray and look at the last one; return what is pinned."""
    models = with_pinned(SharedFields.here().models, ids)
    choose(models=models, model=ids[-1])
    return models


def _draw(
    models: Sequence[Setting], shown: Sequence[Setting], first: Setting
) -> Setting:
    labels = {model.label: model for model in shown}
    named = {model.id: model.label for model in shown}
    scheme: theme.Theme = "dark" if st.context.theme.type == "dark" else "light"
    chips = theme.model_chips([model.colour_role for model in shown], scheme)
    glyphs = {m.label: glyph for m, (_, glyph) in zip(shown, chips, strict=True)}
    rules = "".join(
        f".st-key-{_KEY} button:nth-of-type({i}) {{ border-color: {colour}; }}"
        f".st-key-{_KEY} button:nth-of-type({i}) p::first-letter {{ color: {colour}; }}"
        for i, (colour, _) in enumerate(chips, 1)
    )
    st.html(f"<style>{rules}</style>")
    with st.container(
        horizontal=True, gap="xsmall", vertical_alignment="center", key=_KEY
    ):
        label = st.pills(
            "Model",
            list(labels),
            required=True,
            format_func=lambda name: f"{glyphs[name]} {plain(name)}",
            label_visibility="collapsed",
            **bound(
                "model",
                first.label,
                among=labels,
                shown=lambda name: named.get(name, first.label),
                meant=lambda chosen: labels[chosen].id,
                also={"models": tuple(named)},
            ),
        )
        _pin_others(models, shown)
    return labels.get(label, first)


def _pin_others(models: Sequence[Setting], shown: Sequence[Setting]) -> None:
    if len(models) < 2:
        return
    labels = {model.label: model.id for model in models}
    now = [model.label for model in shown]
    elsewhere = tuple(x for x in SharedFields.here().models if x not in labels.values())
    with st.popover("pin a model", icon=":material/add:", type="tertiary"):
        st.multiselect(
            "Models",
            list(labels),
            max_selections=MOST_MODELS,
            format_func=visible,
            help=f"At most {MOST_MODELS} on every page. Changes are against the first.",
            **bound(
                "models",
                now,
                shown=lambda _: now,
                meant=lambda chosen: (*elsewhere, *(labels[x] for x in chosen)),
                key="pinned",
            ),
        )
