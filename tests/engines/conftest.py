"""Of the corpus, Spark is asked some questions on a push, and all in the long run."""

import warnings

import pytest

from tests.services import needs

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    # Spark Connect asks it what is installed, and takes a warning that is an error for a no.
    import pyspark.testing.utils  # noqa: F401

SOME = 3
"""Of so many questions of the corpus, one is asked of Spark on a push; `make test-long` all."""

CORPUS = "test_a_question_has_the_same_exact_tables_everywhere"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    asked = 0
    for item in items:
        if not isinstance(item, pytest.Function) or item.originalname != CORPUS:
            continue
        if needs(item, "spark"):
            asked += 1
            if asked % SOME:
                item.add_marker(pytest.mark.slow)
