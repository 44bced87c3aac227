"""Fixtures of the ledger's tests."""

from pathlib import Path

import pytest

from tests.ledger.stores import STORES, FileStore, PostgresStore, Store


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    return STORES[request.param](tmp_path)


@pytest.fixture(params=[name for name in STORES if name != "memory"])
def durable(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    return STORES[request.param](tmp_path)


@pytest.fixture
def file(tmp_path: Path) -> FileStore:
    return FileStore(tmp_path)


@pytest.fixture
def server(tmp_path: Path) -> PostgresStore:
    return PostgresStore(tmp_path)
