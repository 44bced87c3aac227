"""Fixtures that open the samplers' caches to changed constants."""

from collections.abc import Iterator

import pytest

from discreet.noise.gaussian import _cells
from discreet.noise.laplace import _geometric, _laplace, _wide


@pytest.fixture
def fresh_caches() -> Iterator[None]:
    """Let changed constants take effect, and leave nothing behind that was made with them."""
    for cache in (_cells, _geometric, _laplace, _wide):
        cache.cache_clear()
    yield
    for cache in (_cells, _geometric, _laplace, _wide):
        cache.cache_clear()
