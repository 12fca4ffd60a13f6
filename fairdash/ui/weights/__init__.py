"""The Weights page: where ROAD and BROAD looked."""

from fairdash.ui.weights.form import (
    pick_epoch,
    pick_group,
    pick_share,
    pick_weighted,
    whose,
)
