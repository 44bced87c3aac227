"""What properties share is given back at the end."""

from collections.abc import Iterator

import pytest

from tests.properties.databases import close_all


@pytest.fixture(autouse=True, scope="session")
def _given_back() -> Iterator[None]:
    yield
    close_all()
