"""What was loaded lately, as long as it is not too much."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Recent(Generic[Value]):
    """Values made from keys, kept until others have taken their room.

    The value made last is kept whatever its size, so one large table at most.

    Parameters
    ----------
    make : callable
        Returns the value of a key.
    size : callable
        Returns the bytes of a value.
    most : int
        How many are kept.
    limit : int
        How many bytes are kept.
    """

    def __init__(
        self,
        make: Callable[..., Value],
        size: Callable[[Value], int],
        *,
        most: int,
        limit: int,
    ) -> None:
        self._make, self._size = make, size
        self._most, self._limit = most, limit
        self._kept: OrderedDict[tuple[Hashable, ...], tuple[Value, int]] = OrderedDict()
        self._lock = Lock()

    def __call__(self, *key: Hashable) -> Value:
        """Return the value of a key, made anew if it is not kept."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key][0]
        value = self._make(*key)
        with self._lock:
            self._kept[key] = value, self._size(value)
            while len(self._kept) > 1 and self._is_full():
                self._kept.popitem(last=False)
        return value

    def clear(self) -> None:
        """Keep nothing."""
        with self._lock:
            self._kept.clear()

    def _is_full(self) -> bool:
        size = sum(size for _, size in self._kept.values())
        return len(self._kept) > self._most or size > self._limit
