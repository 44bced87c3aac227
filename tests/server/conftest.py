"""Tests that share a server run in one process, so that it is started once."""

import pytest

SERVERS = {"place", "served", "strict", "twins"}
"""Fixtures that are servers of a module."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        is_grouped = item.get_closest_marker("xdist_group") is not None
        if "tests/server" in item.nodeid and SERVERS & _fixtures(item) and not is_grouped:
            item.add_marker(pytest.mark.xdist_group(item.nodeid.partition("::")[0]))


def _fixtures(item: pytest.Item) -> set[str]:
    return set(getattr(item, "fixturenames", ()))
