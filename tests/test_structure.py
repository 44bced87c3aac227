"""The shape of the code: who may import whom, what is public, where randomness and plots live."""

import ast
import importlib
import pkgutil
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import discreet

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "discreet"

MAY_IMPORT: dict[str, set[str]] = {
    "errors": set(),
    "parameters": {"errors"},
    "writing": {"errors"},
    "plots": {"errors", "writing"},
    "noise": {"errors", "parameters"},
    "accounting": {"errors", "parameters"},
    "mechanisms": {"accounting", "errors", "noise", "parameters", "plots"},
    "local": {"accounting", "errors", "noise", "parameters"},
    "utility": {
        "accounting",
        "errors",
        "local",
        "mechanisms",
        "noise",
        "parameters",
        "plots",
    },
    "catalog": {"errors", "mechanisms", "parameters"},
    "tables": {"catalog", "errors"},
    "amounts": set(),
    "estimators": {"mechanisms"},
    "query": {"accounting", "catalog", "errors", "estimators", "mechanisms", "parameters"},
    "engines": {"catalog", "errors", "query", "tables"},
    "ledger": {"accounting", "errors", "noise", "parameters"},
    "release": {
        "catalog",
        "errors",
        "estimators",
        "mechanisms",
        "noise",
        "parameters",
        "query",
        "tables",
    },
    "answer": {
        "accounting",
        "amounts",
        "catalog",
        "errors",
        "estimators",
        "mechanisms",
        "parameters",
        "plots",
        "query",
        "release",
        "tables",
        "utility",
        "writing",
    },
    "explanation": {
        "amounts",
        "answer",
        "catalog",
        "errors",
        "estimators",
        "mechanisms",
        "parameters",
        "query",
    },
    "curator": {
        "answer",
        "books",
        "breaker",
        "catalog",
        "engines",
        "errors",
        "explanation",
        "finding",
        "ledger",
        "noise",
        "parameters",
        "query",
        "release",
    },
    "serving": {"estimators", "query", "tables"},
    "breaker": {"catalog", "errors", "ledger"},
    "books": {
        "accounting",
        "answer",
        "breaker",
        "catalog",
        "engines",
        "errors",
        "ledger",
        "noise",
        "query",
        "release",
        "serving",
        "tables",
    },
    "finding": {"answer", "books", "catalog", "errors", "explanation", "query", "tables"},
    "opening": {
        "books",
        "catalog",
        "curator",
        "engines",
        "errors",
        "ledger",
        "mechanisms",
        "parameters",
    },
    "bounding": {"catalog", "curator", "errors", "opening", "parameters", "query"},
    "attacks": {
        "accounting",
        "catalog",
        "curator",
        "engines",
        "errors",
        "mechanisms",
        "noise",
        "opening",
        "parameters",
        "plots",
        "tables",
        "utility",
    },
    "audit": {
        "accounting",
        "answer",
        "attacks",
        "books",
        "catalog",
        "curator",
        "engines",
        "errors",
        "estimators",
        "ledger",
        "local",
        "mechanisms",
        "noise",
        "opening",
        "parameters",
        "plots",
        "query",
        "release",
        "tables",
        "utility",
    },
    "demo": {"writing"},
    "cli": {
        "accounting",
        "amounts",
        "answer",
        "attacks",
        "audit",
        "books",
        "bounding",
        "catalog",
        "curator",
        "demo",
        "errors",
        "explanation",
        "ledger",
        "local",
        "mechanisms",
        "noise",
        "opening",
        "parameters",
        "plots",
        "utility",
        "writing",
    },
    "__main__": {"cli"},
    "": {"opening"},
}
"""Imports point downwards only: each part, and the parts it may use."""

HOMES = {
    "duckdb": {"engines"},
    "prompt_toolkit": {"cli"},
    "psycopg": {"engines", "ledger"},
    "pyspark": {"engines"},
    "sqlglot": {"query"},
    "sqlite3": {"ledger", "local"},
    "matplotlib": {"plots"},
    "rich": {"answer", "cli"},
    "typer": {"cli"},
    "scipy": {"accounting", "attacks", "audit", "local", "mechanisms", "utility"},
    "ssl": {"noise"},
}
"""Third parties have one home each."""

STANDARD_FREE = {"random", "secrets"}
"""Standard modules that nobody may use: noise comes from noise.source."""

VAGUE = {"utils", "helpers", "common", "misc", "core", "manager"}


def module_name(path: Path) -> str:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {
    module_name(path): ast.parse(path.read_text(encoding="utf-8"))
    for path in sorted(SOURCE.rglob("*.py"))
}


def imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def part_of(module: str) -> str:
    return [*module.split("."), ""][1]


@pytest.mark.parametrize("name", MODULES)
def test_imports_point_downwards(name: str) -> None:
    part = part_of(name)
    ours = {part_of(each) for each in imported(MODULES[name]) if each.startswith("discreet.")}
    assert ours - {part} <= MAY_IMPORT.get(part, set())


@pytest.mark.parametrize("name", MODULES)
def test_third_parties_stay_at_home(name: str) -> None:
    for each in imported(MODULES[name]):
        top = each.split(".")[0]
        assert top not in STANDARD_FREE
        assert not each.startswith("numpy.random")
        assert part_of(name) in HOMES.get(top, {part_of(name)})


def test_no_two_modules_import_each_other() -> None:
    graph = {
        name: {each for each in imported(tree) if each in MODULES and each != name}
        for name, tree in MODULES.items()
    }
    list(TopologicalSorter(graph).static_order())


def test_nothing_is_imported_inside_a_function_but_the_optional_extra() -> None:
    hidden = [
        (name, each)
        for name, tree in MODULES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        for each in imported(node)
    ]
    assert hidden == [
        ("discreet.answer.columns", "pandas"),
        ("discreet.answer.columns", "polars"),
        ("discreet.engines.postgresql.driver", "psycopg"),
        ("discreet.engines.spark.sessions", "pyspark.logger"),
        ("discreet.engines.spark.sessions", "pyspark.sql"),
        ("discreet.ledger.postgres.driver", "psycopg"),
        ("discreet.plots", "matplotlib.figure"),
    ]


def test_files_are_named_for_what_they_hold() -> None:
    assert not VAGUE & {path.stem for path in SOURCE.rglob("*.py")}


def public_names() -> dict[str, list[str]]:
    names = {}
    for info in pkgutil.iter_modules(discreet.__path__, "discreet."):
        module = importlib.import_module(info.name)
        if hasattr(module, "__all__"):
            names[info.name] = list(module.__all__)
    return names


def test_public_names_are_those_that_were_decided_on() -> None:
    """A name that comes or goes is a promise made or broken: change the list on purpose."""
    listed = (ROOT / "tests/golden/public_names.txt").read_text(encoding="utf-8")
    found = "".join(
        f"{module}.{name}\n" for module, names in public_names().items() for name in names
    )
    assert found == listed


def test_every_public_name_exists_in_order_and_says_what_it_is() -> None:
    for module_name, names in public_names().items():
        module = importlib.import_module(module_name)
        assert len(set(names)) == len(names)
        for name in names:
            thing = getattr(module, name)
            assert not callable(thing) or (thing.__doc__ or "").strip(), f"{module_name}.{name}"
