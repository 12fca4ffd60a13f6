"""What was computed once of things that cannot change."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import wraps
from threading import Lock
from typing import Any, ParamSpec, TypeVar

from fairdash.audits.trials.models import Setting

Value = TypeVar("Value")
P = ParamSpec("P")


class Kept:
    """What was made of one thing that cannot change, by what it was asked with.

    It is shared by all sessions of a server and dies with the thing it is of. What it
    returns must not be written to. At most ``most`` values are kept; those used longest
    ago go first.
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


def remember(most: int) -> Callable[[Callable[P, Value]], Callable[P, Value]]:
    """Keep what a function returns, as `Kept`, by the contents of what it is given."""

    def kept(make: Callable[P, Value]) -> Callable[P, Value]:
        values = Kept(most)

        @wraps(make)
        def asked(*given: P.args, **named: P.kwargs) -> Value:
            told = *map(_contents, given), *map(_contents, sorted(named.items()))
            return values(lambda: make(*given, **named), *told)

        return asked

    return kept


def _contents(one: Any) -> Hashable:
    if isinstance(one, list | tuple):
        return tuple(map(_contents, one))
    known: Hashable = one.contents if isinstance(one, Setting) else one
    return known
