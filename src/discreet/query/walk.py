"""Walk through all that a tree is made of, so that no kind of node can hide another one.

Trees never change, so what follows from one is remembered as long as it lives.
"""

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from operator import attrgetter
from typing import Any, Generic, TypeVar
from weakref import ref

Node = TypeVar("Node")
Found = TypeVar("Found")


class Walk:
    """Yields the nodes of a tree, each before its parts, in the order of their fields.

    Nothing is yielded of types that are `plain`, and nothing inside of those that are `whole`.
    """

    def __init__(self, *, plain: tuple[type, ...], whole: tuple[type, ...] = ()) -> None:
        self._plain, self._whole = plain, whole
        self._parts: dict[type, Callable[[Any], tuple[object, ...]] | None] = {}

    def __call__(self, tree: object) -> Iterator[object]:
        known, waiting = self._parts, [tree]
        while waiting:
            one = waiting.pop()
            kind = type(one)
            if kind not in known:
                known[kind] = self._parts_of(kind)
            parts = known[kind]
            if parts is not None:
                if kind is not tuple:
                    yield one
                waiting.extend(reversed(parts(one)))

    def _parts_of(self, kind: type) -> Callable[[Any], tuple[object, ...]] | None:
        """Return what gives the parts of nodes of a type; None for what is no node."""
        if issubclass(kind, tuple):
            return tuple
        if not is_dataclass(kind) or issubclass(kind, self._plain):
            return None
        names = [] if issubclass(kind, self._whole) else [each.name for each in fields(kind)]
        if len(names) > 1:
            return attrgetter(*names)
        return lambda one: tuple(getattr(one, name) for name in names)


class Remembered(Generic[Node, Found]):
    """What follows from a tree, computed once for each as long as it lives.

    Trees are told apart as objects. What follows must not hold the tree itself.
    """

    def __init__(self, make: Callable[[Node], Found]) -> None:
        self._make = make
        self._held: dict[int, tuple[ref[Node], Found]] = {}

    def __call__(self, tree: Node) -> Found:
        number = id(tree)
        held = self._held.get(number)
        if held is not None and held[0]() is tree:
            return held[1]
        found = self._make(tree)
        self._hold(tree, found)
        return found

    def take_from(self, tree: Node, other: Node) -> None:
        """Remember that the same follows from a tree as from another one."""
        self._hold(tree, self(other))

    def forget(self) -> None:
        """Forget what follows from all trees, where something else than a tree decides it."""
        self._held.clear()

    def _hold(self, tree: Node, found: Found) -> None:
        number = id(tree)

        def forget(gone: ref[Node]) -> None:
            # Another tree may have got the number meanwhile.
            if (now := self._held.get(number)) is not None and now[0] is gone:
                self._held.pop(number, None)

        self._held[number] = (ref(tree, forget), found)
