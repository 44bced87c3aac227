"""Graphs of neighbours: answers or databases, with an edge between neighbours."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

from discreet.errors import ParameterError
from discreet.parameters import integer

Label: TypeAlias = Hashable
"""An answer, a guess or a database: any hashable value."""


Edge: TypeAlias = tuple[int, int]


NODES_MOST = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class NeighbourGraph:
    """Nodes, and the pairs of neighbours by index, each once."""

    nodes: tuple[Label, ...]
    edges: tuple[Edge, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "nodes", labels("nodes", self.nodes))
        if any(not 0 <= i < j < len(self.nodes) for i, j in self.edges):
            rule = "must join two indices of the list of nodes, the smaller first"
            raise ParameterError("edges", self.edges, rule)

    @property
    def is_path(self) -> bool:
        """Whether nodes are consecutive integers, and only adjacent ones are neighbours."""
        first = self.nodes[0]
        in_a_row = isinstance(first, int) and self.nodes == tuple(
            range(first, first + len(self.nodes))
        )
        return in_a_row and sorted(self.edges) == [(i, i + 1) for i in range(len(self.nodes) - 1)]

    @property
    def directed(self) -> Iterator[Edge]:
        """Every edge in both directions."""
        for i, j in self.edges:
            yield i, j
            yield j, i


def path(low: int, high: int) -> NeighbourGraph:
    """Return the graph of a count from low to high, which one unit changes by 1."""
    return sums(low, high, most=1)


def sums(low: int, high: int, *, most: int) -> NeighbourGraph:
    """Return the graph of a sum from low to high, which one unit changes by up to `most`."""
    nodes = integers(low, high)
    reach = integer("most", most, least=1)
    size = len(nodes)
    edges = [(i, j) for i in range(size) for j in range(i + 1, min(i + reach + 1, size))]
    return NeighbourGraph(nodes=nodes, edges=tuple(edges))


def complete(nodes: Iterable[Label]) -> NeighbourGraph:
    """Return the graph in which any two nodes are neighbours, as for one person's value."""
    named = labels("nodes", nodes)
    return NeighbourGraph(nodes=named, edges=tuple(combinations(range(len(named)), 2)))


def cycle(length: int) -> NeighbourGraph:
    """Return the graph of numbers in a cycle, in which 0 follows the last."""
    size = integer("length", length, least=3, most=NODES_MOST)
    edges = [(i, i + 1) for i in range(size - 1)]
    return NeighbourGraph(nodes=tuple(range(size)), edges=((0, size - 1), *edges))


def graph_of(nodes: Iterable[Label], edges: Iterable[tuple[Label, Label]]) -> NeighbourGraph:
    """Return the graph with these neighbours, named by the nodes themselves."""
    named = labels("nodes", nodes)
    place = {each: i for i, each in enumerate(named)}
    pairs = list(edges)
    unknown = [end for edge in pairs for end in edge if end not in place]
    if unknown:
        raise ParameterError("edges", unknown[0], "must join two of the nodes")
    found = {tuple(sorted((place[a], place[b]))) for a, b in pairs if a != b}
    return NeighbourGraph(nodes=named, edges=tuple(sorted((i, j) for i, j in found)))


def histograms(people: int, bins: int) -> NeighbourGraph:
    """Return the graph of histograms. Neighbours differ by one person in another bin."""
    total, size = integer("people", people, least=1), integer("bins", bins, least=2)
    nodes = labels("nodes", _parted(total, size))
    edges = [
        (i, j)
        for (i, a), (j, b) in combinations(enumerate(nodes), 2)
        if sum(abs(x - y) for x, y in zip(a, b, strict=True)) == 2  # type: ignore[call-overload]
    ]
    return NeighbourGraph(nodes=nodes, edges=tuple(edges))


def answers_of(databases: NeighbourGraph, answer: Callable[..., Label]) -> NeighbourGraph:
    """Return the graph of answers. Two are neighbours if they belong to neighbouring databases."""
    found = [answer(each) for each in databases.nodes]
    nodes = tuple(dict.fromkeys(found))
    ordered = tuple(sorted(nodes)) if all(isinstance(each, int) for each in nodes) else nodes  # type: ignore[type-var]
    return graph_of(ordered, ((found[i], found[j]) for i, j in databases.edges))


def integers(low: int, high: int) -> tuple[int, ...]:
    """Return the integers from low to high, which must be two or more."""
    first = integer("low", low)
    last = integer("high", high, least=first + 1, most=first + NODES_MOST)
    return tuple(range(first, last + 1))


def labels(name: str, given: Iterable[Label]) -> tuple[Label, ...]:
    """Return different labels, or raise `ParameterError`."""
    found = tuple(given)
    if not 1 <= len(found) <= NODES_MOST + 1:
        raise ParameterError(name, len(found), f"must be 1 to {NODES_MOST + 1} in number")
    if len(set(found)) < len(found):
        raise ParameterError(name, "one of them twice", "must differ from each other")
    return found


def _parted(total: int, bins: int) -> Iterator[tuple[int, ...]]:
    if bins == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in _parted(total - first, bins - 1):
            yield (first, *rest)


def same_nodes(what: str, expected: Sequence[Label], given: Sequence[Label]) -> None:
    """Reject other answers, or the same answers in another order."""
    if tuple(expected) != tuple(given):
        rule = "must have the same answers as the channel, in the same order"
        raise ParameterError(what, f"{len(given)} of them", rule)
