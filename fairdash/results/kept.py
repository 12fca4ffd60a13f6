"""Values made once of what cannot change, until others have taken their room."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, TypeVar

Value = TypeVar("Value")


class Kept:
    """What was made of one thing that cannot change, by what it was asked with.

    It is shared by all sessions of a server and dies with the thing it is of, so a run
    that changed, of which there is another one, finds nothing of before. What it
    returns must not be written to.

    Parameters
    ----------
    most : int
        How many values are kept; those used longest ago go first.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[tuple[Hashable, ...], Any] = OrderedDict()
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._values)

    def __call__(self, make: Callable[[], Value], *asked: Hashable) -> Value:
        """Return what ``make`` makes, which must follow from ``asked``.

        Nothing is kept where it raises. Two that ask at the same time may both make it.
        """
        with self._lock:
            if asked in self._values:
                self._values.move_to_end(asked)
                kept: Value = self._values[asked]
                return kept
        value = make()
        with self._lock:
            self._values[asked] = value
            while len(self._values) > self._most:
                self._values.popitem(last=False)
        return value
