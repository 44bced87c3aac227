"""A push tries the same examples and the same noise every time; make test-long fresh ones.

So a statistical test that passed once passes at every push, whatever its false-alarm rate.
Fresh noise comes from the system, as in production; `system_entropy` marks tests of that itself.
"""

import os
from collections.abc import Callable

import pytest
from hypothesis import settings

from discreet.noise import SystemEntropy
from tests.replay import ReplayableEntropy
from tests.services import Running, needs, services_of

settings.register_profile("push", derandomize=True, deadline=None)
settings.register_profile("long", deadline=None, max_examples=500)
settings.load_profile("push")

_SYSTEM = SystemEntropy.draw


@pytest.fixture(autouse=True, scope="session")
def _state_folder(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Let no test, nor a process that one starts, write into the state folder of who runs it."""
    os.environ["DISCREET_STATE"] = str(tmp_path_factory.mktemp("state"))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests by the services that they need; Spark is started once, so in one process."""
    for item in items:
        for service in services_of(item):
            item.add_marker(service)
        if needs(item, "spark"):
            item.add_marker(pytest.mark.xdist_group("spark"))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Replay the bytes of each test from its name, before any fixture draws."""
    Running.item = item
    draw = _SYSTEM if _is_fresh(item) else _replayed(item.nodeid)
    SystemEntropy.draw = draw  # type: ignore[method-assign, assignment]


def pytest_sessionfinish() -> None:
    SystemEntropy.draw = _SYSTEM  # type: ignore[method-assign]


def _is_fresh(item: pytest.Item) -> bool:
    is_long = item.config.getoption("--hypothesis-profile") == "long"
    return is_long or item.get_closest_marker("system_entropy") is not None


def _replayed(name: str) -> Callable[[SystemEntropy, int], bytes]:
    source = ReplayableEntropy(name)
    return lambda _, count: source.draw(count)
