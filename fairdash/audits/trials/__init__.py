"""The models that runs keep, and the rows they are measured on."""

from typing import TYPE_CHECKING

from fairdash._lazy import lazy

__all__ = [
    "OWN_NOTE",
    "Memo",
    "alike_advice",
    "beside_plain",
    "beside_trained",
    "callable_models",
    "decisions",
    "ids_to_come",
    "known_models",
    "known_models_of",
    "on_shared_seeds",
    "own_models",
    "own_scores",
    "part_sizes",
    "reference_of",
    "rows_used",
    "settings",
    "single_values",
    "trained_as",
    "trained_on",
]

if TYPE_CHECKING:
    from fairdash.audits.trials.memo import Memo
    from fairdash.audits.trials.models import (
        beside_plain,
        ids_to_come,
        known_models,
        known_models_of,
        on_shared_seeds,
        reference_of,
        settings,
        single_values,
        trained_as,
    )
    from fairdash.audits.trials.own_settings import (
        OWN_NOTE,
        beside_trained,
        callable_models,
        own_models,
        own_scores,
    )
    from fairdash.audits.trials.rows import alike_advice, decisions
    from fairdash.audits.trials.sizes import part_sizes, rows_used, trained_on
else:
    __getattr__, __dir__ = lazy(__name__, __file__)
