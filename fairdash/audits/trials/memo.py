"""Values computed once of things that cannot change."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import wraps
from threading import Lock
from typing import Any, ParamSpec, TypeVar
from weakref import WeakValueDictionary

from fairdash.audits.trials.models import Setting

Value = TypeVar("Value")
P = ParamSpec("P")


class Memo:
    """Values by what they follow from: at most ``size``, those used last.

    It is shared by all sessions of a server; its values must not be written to.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._values: OrderedDict[tuple[Hashable, ...], Any] = OrderedDict()
        self._lock = Lock()
        self._making = WeakValueDictionary[tuple[Hashable, ...], Any]()  # locks in use

    def __len__(self) -> int:
        return len(self._values)

    def __call__(self, make: Callable[[], Value], *key: Hashable) -> Value:
        """Return what ``make`` makes, which must follow from ``key``.

        Nothing is stored where it raises. Of calls at the same time one makes it.
        """
        with self._lock:
            making = self._making.setdefault(key, Lock())
        with making:
            with self._lock:
                if key in self._values:
                    self._values.move_to_end(key)
                    stored: Value = self._values[key]
                    return stored
            value = make()
            with self._lock:
                self._values[key] = value
                while len(self._values) > self._size:
                    self._values.popitem(last=False)
            return value


def memoised(size: int) -> Callable[[Callable[P, Value]], Callable[P, Value]]:
    """Store what a function returns, in a `Memo`, by the contents of its arguments."""

    def decorated(function: Callable[P, Value]) -> Callable[P, Value]:
        memo = Memo(size)

        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> Value:
            key = *map(_contents, args), *map(_contents, sorted(kwargs.items()))
            return memo(lambda: function(*args, **kwargs), *key)

        return call

    return decorated


def _contents(argument: Any) -> Hashable:
    if isinstance(argument, list | tuple):
        return tuple(map(_contents, argument))
    contents: Hashable = argument
    return argument.contents if isinstance(argument, Setting) else contents
