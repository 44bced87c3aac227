"""Neighbour graphs: who may not be told apart."""

import pytest

from discreet.errors import ParameterError
from discreet.utility import answers_of, complete, cycle, graph_of, histograms, path, sums


def test_a_count_is_a_path_and_nothing_else_is() -> None:
    assert path(3, 9).is_path
    assert sums(0, 5, most=1).is_path
    others = sums(0, 5, most=2), complete(range(3)), cycle(4), histograms(2, 2)
    assert not any(each.is_path for each in others)


def test_a_count_over_databases_is_a_path() -> None:
    databases = [(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)]
    pairs = [(x, y) for x in databases for y in databases if _distance(x, y) == 1]
    assert answers_of(graph_of(databases, pairs), sum) == path(0, 3)


def test_histograms_are_neighbours_if_one_person_moves() -> None:
    graph = histograms(2, 3)
    assert len(graph.nodes) == 6
    assert len(graph.edges) == 9


def test_edges_to_nowhere_are_refused() -> None:
    with pytest.raises(ParameterError, match="two of the nodes"):
        graph_of(["a", "b"], [("a", "c")])


def test_a_node_twice_is_refused() -> None:
    with pytest.raises(ParameterError, match="differ"):
        complete(["a", "a"])


def _distance(x: tuple[int, ...], y: tuple[int, ...]) -> int:
    return sum(a != b for a, b in zip(x, y, strict=True))
