"""Which tests need Spark, a PostgreSQL server or a browser, and that no other test starts one."""

from collections.abc import Iterator

import pytest

FOLDERS = {
    "tests.cli.test_init_on_server": "postgresql",
    "tests.engines.postgresql": "postgresql",
    "tests.engines.spark": "spark",
    "tests.ledger.test_postgres": "postgresql",
}
"""Packages and modules all of whose tests need a service."""

FIXTURES = {"browser": "browser", "server": "postgresql"}
"""Fixtures that start a service, or open something on it."""

PARAMETERS = {"postgres": "postgresql", "postgresql": "postgresql", "spark": "spark"}
"""What a test is called with if it is for an engine or a store of a service."""


class Running:
    """The test that is running in this process, if any."""

    item: pytest.Item | None = None


def services_of(item: pytest.Item) -> Iterator[str]:
    """Yield what a test needs, by its folder, its fixtures and its parameters."""
    if not isinstance(item, pytest.Function):
        return
    module = f"{item.module.__name__}."
    yield from (service for folder, service in FOLDERS.items() if module.startswith(f"{folder}."))
    yield from (service for name, service in FIXTURES.items() if name in item.fixturenames)
    given = item.callspec.params.values() if hasattr(item, "callspec") else ()
    yield from (PARAMETERS[each] for each in given if isinstance(each, str) and each in PARAMETERS)


def needs(item: pytest.Item, service: str) -> bool:
    """Return whether a test says that it needs a service, or is known to."""
    return item.get_closest_marker(service) is not None or service in services_of(item)


def require_marker(service: str) -> None:
    """Fail a test that is about to start a service without being marked for it."""
    item = Running.item
    assert item is None or item.get_closest_marker(service), (
        f"{item.nodeid} needs pytest.mark.{service}"
    )
