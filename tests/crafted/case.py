"""What one crafted file is, and what may become of it."""

from collections.abc import Callable
from typing import NamedTuple

# of the process that reads: seconds, memory, bytes written
LIMIT = "takes more than|stopped the process"


class Case(NamedTuple):
    """A file that attacks one thing.

    Attributes
    ----------
    attacks : str
        What it is made to do to a reader that trusts it.
    make : callable
        Builds its bytes within a second.
    outcome : str
        Pattern of what is said: "read (rows, columns)" or words of the refusal.
    heavy : bool
        Whether reading it may take more than two seconds, wherever it is read.
    """

    attacks: str
    make: Callable[[], bytes]
    outcome: str
    heavy: bool = False
