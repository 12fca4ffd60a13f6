"""How scores become decisions, on every page that shows decisions of a model."""

from collections.abc import Sequence

import streamlit as st

from fairdash._escaping import plain
from fairdash.audits import Setting, trials
from fairdash.scored import RULE_NAMES, DecisionRule, RuleKind
from fairdash.ui.selection import SharedFields, bound, choose
from fairdash.ui.widgets.blocks import more
from fairdash.ui.widgets.state import store

# by kind: label of the number, smallest, largest, step
_AMOUNTS: dict[RuleKind, tuple[str, float, float, float]] = {
    "top": ("Percent decided 1", 0.1, 99.9, 1.0),
    "costs": ("Wrong 0s a wrong 1 is worth", 0.01, 100.0, 0.5),
    "custom": ("Threshold", -1.0, 1.0, 0.05),
}
_HELP = (
    "Which rows are decided 1. A random mixture, such as reductions, draws with its "
    "chance unless another rule cuts it. The threshold is learned on validation rows; "
    "all numbers of the page follow it."
)


def chosen_rule() -> DecisionRule:
    """Return the rule of the address; the usual one where it names none."""
    try:
        return DecisionRule.of(SharedFields.here().decided)
    except ValueError:
        return DecisionRule()


def pick_rule(looked_at: Setting | None = None) -> None:
    """Draw the choice of how scores become decisions, behind a click.

    With another rule the page goes on with the model ``looked_at``.
    """
    rule = chosen_rule()
    stays = {} if looked_at is None else {"model": looked_at.id}
    with more(plain(_SHORT[rule.kind].format(f"{rule.amount:g}"))):
        kind: RuleKind = st.radio(
            "Decided 1",
            help=_HELP,
            **bound(
                "decided",
                "half",
                named=RULE_NAMES,
                shown=lambda _: rule.kind,
                meant=lambda kind: None if kind == "half" else DecisionRule(kind).text,
                also=stays,
            ),
        )
        if kind in _AMOUNTS:
            label, low, high, step = _AMOUNTS[kind]
            st.number_input(
                label,
                low,
                high,
                step=step,
                **bound(
                    "decided",
                    rule.amount,
                    shown=lambda _: min(max(rule.amount, low), high),
                    meant=lambda amount: DecisionRule(kind, amount).text,
                    key=kind,
                    by_value=True,
                    also=stays,
                ),
            )


_SHORT: dict[RuleKind, str] = {
    "half": "Above 0.5",
    "as_many": "As many as in training",
    "top": "Top {}%",
    "costs": "Errors {} : 1",
    "custom": "Above {}",
}


def decided(models: Sequence[Setting]) -> list[Setting]:
    """Return models whose decisions follow the rule that the reader chose."""
    rule = chosen_rule()
    return [model.decided_by(rule) for model in models]


def advise_rule(model: Setting, dataset_id: str) -> None:
    """Say where a model decides nearly alike for all, and offer another rule."""
    if not chosen_rule().usual:
        return
    advice = trials.alike_advice(store(), model, dataset_id)
    if advice:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.caption(plain(advice), width="content")
            st.button(
                "As many as in training",
                type="tertiary",
                on_click=choose,
                kwargs={"decided": "as_many"},
            )
