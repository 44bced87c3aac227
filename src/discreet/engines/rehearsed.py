"""Which statements were rehearsed."""

from collections import OrderedDict
from threading import Lock


class Rehearsed:
    """Which statements were rehearsed, by their texts: each is rehearsed once."""

    def __init__(self, most: int = 4096) -> None:
        self._most, self._lock = most, Lock()
        self._passed: OrderedDict[str, None] = OrderedDict()

    def __contains__(self, text: str) -> bool:
        with self._lock:
            return text in self._passed

    def add(self, text: str) -> None:
        with self._lock:
            self._passed[text] = None
            while len(self._passed) > self._most:
                self._passed.popitem(last=False)
