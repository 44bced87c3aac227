"""The shape of the tests: helpers in modules of their own, services only where they are marked."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.postgresql import shared_server
from tests.spark import shared_session

TESTS = Path(__file__).parent
PACKAGE = TESTS.parent / "src" / "discreet"

OWN_FOLDERS = {
    "benchmarks",
    "benchmarks/accuracy",
    "benchmarks/engines",
    "benchmarks/workloads",
    "forms",
    "fuzzing",
    "golden",
    "properties",
    "stored",
    "suites",
}
"""Folders of tests that are about the whole, or about what is not part of the package."""


def imported_modules(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{each.name}" for each in node.names)


def test_nothing_is_imported_from_test_files() -> None:
    tests = {
        ".".join(path.relative_to(TESTS.parent).with_suffix("").parts)
        for path in TESTS.rglob("test_*.py")
    }
    found = {
        (path.name, module)
        for path in TESTS.rglob("*.py")
        for module in imported_modules(path)
        if module in tests
    }
    assert found == set()


def test_every_folder_of_tests_is_one_of_the_package_or_listed() -> None:
    folders = {path.parent.relative_to(TESTS).as_posix() for path in TESTS.rglob("test_*.py")}
    assert {each for each in folders - OWN_FOLDERS if not (PACKAGE / each).is_dir()} == set()


@pytest.mark.parametrize("start", [shared_server, shared_session], ids=["server", "session"])
def test_a_test_without_the_marker_gets_no_service(start: object) -> None:
    assert callable(start)
    with pytest.raises(AssertionError, match=r"needs pytest\.mark\."):
        start()
