"""What a type checker must refuse; mypy reads this file, and no test runs it."""

import fairdash

fairdash.audit([1, 0], bogus=3)  # type: ignore[call-arg]
fairdash.nonsense  # type: ignore[attr-defined]  # noqa: B018
fairdash.ROAD(fairness_weight=3)
