"""Fields of the address, declared as a page declares them."""

from dataclasses import dataclass, field

from fairdash.sweep import MethodGrid
from fairdash.ui.selection import OF_RUN, Fields


@dataclass(frozen=True)
class ToyFields(Fields):
    """Fields of every type, as a page declares them."""

    k: int | None = None
    gamma: float | None = None
    person: int | None = field(default=None, metadata=OF_RUN)
    form: MethodGrid | None = None
