"""What a data set holds, as pages show it."""

from fairdash.ui.results.summary import (
    base_rate_kpis,
    base_rates,
    not_estimable,
)

__all__ = ["base_rate_kpis", "base_rates", "not_estimable"]
