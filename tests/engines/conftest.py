"""Spark is started once: its tests run in one process, and on a push some of them for all."""

import pytest

SOME = 3
"""Of so many questions of the corpus, one is asked of Spark on a push; `make test-long` all."""

CORPUS = "test_a_question_has_the_same_exact_tables_everywhere"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    asked = 0
    for item in items:
        if not isinstance(item, pytest.Function) or not _is_on_spark(item):
            continue
        item.add_marker(pytest.mark.xdist_group("spark"))
        if item.originalname == CORPUS:
            asked += 1
            if asked % SOME:
                item.add_marker(pytest.mark.slow)


def _is_on_spark(item: pytest.Function) -> bool:
    callspec = getattr(item, "callspec", None)
    given = () if callspec is None else callspec.params.values()
    by_engine = any(isinstance(each, str) and each == "spark" for each in given)
    return by_engine or item.module.__name__.startswith("tests.engines.spark.test_spark")
