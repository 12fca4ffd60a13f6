"""The Weights page: where ROAD and BROAD looked."""

from collections.abc import Sequence

from fairdash.audits import Setting, trials, weighting
from fairdash.ui.widgets.blocks import heading, show_table
from fairdash.ui.widgets.pick_models import pick_seed_of
from fairdash.ui.widgets.pick_rule import chosen_rule
from fairdash.ui.widgets.state import store

_TRAITS = """
For each column, the value that the heaviest rows have more often than all training
rows. The 95% Wilson intervals hold for all values at once. Numbers are cut at their
quartiles.
"""


def pick_weighted(
    chosen: Setting, models: Sequence[Setting], dataset_id: str
) -> weighting.Weighted:
    """Draw the choice of one of the seeds of a model."""
    trial = pick_seed_of(chosen)
    reference = trials.reference_of(chosen, models)
    others = {t.seed: t for t in reference.trials} if reference else {}
    other = others.get(trial.seed, trial)
    return weighting.Weighted(store(), chosen, trial, other, dataset_id, chosen_rule())


def show_traits(top: weighting.TopRows) -> None:
    """Draw what these rows have in common."""
    heading("What the rows with the largest r have in common", _TRAITS)
    show_table(top.readable())
