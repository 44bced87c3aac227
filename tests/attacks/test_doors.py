"""No back door: no setting, variable or file of ours can switch noise, bounding or charges off."""

import ast
from collections.abc import Iterator
from inspect import signature
from pathlib import Path

import pytest

import discreet
from discreet.catalog.resolve import read
from discreet.curator import Curator
from discreet.errors import CatalogError
from tests.attacks.writing import written

SOURCE = Path(discreet.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))

ENVIRONMENT = {
    "client/credentials.py": "whose token a client sends, and where it is kept",
    "cli/shell.py": "where the shell keeps its history",
    "engines/spark/addresses.py": "whether there is Java",
    "opening/registry.py": "where the user's list of ledgers is",
    "opening/sources.py": "addresses that a catalog names a variable for",
    "server/data_places.py": "addresses of data that owners may add, which the settings name",
    "server/oidc_settings.py": "a secret that the settings name a variable for",
}
"""Which files read variables of the environment, and what for."""

CODE = {"pickle", "marshal", "shelve", "dill", "cloudpickle", "yaml", "subprocess", "ctypes"}
"""What could run what a file or an analyst wrote."""


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def names_in(path: Path) -> Iterator[str]:
    """Yield every module that a file imports and every name and attribute that it speaks of."""
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            yield from (each.name.partition(".")[0] for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").partition(".")[0]
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.Name):
            yield node.id


def test_r9_no_variable_of_the_environment_changes_what_is_released() -> None:
    found = {
        path.relative_to(SOURCE).as_posix()
        for path in FILES
        if {"environ", "getenv", "environb"} & set(names_in(path))
    }
    assert found == set(ENVIRONMENT)


def test_r9_nothing_that_is_read_is_run() -> None:
    """Ledgers, copies and catalogs are data: none is loaded by what could run code."""
    found = {
        (path.relative_to(SOURCE).as_posix(), name)
        for path in FILES
        for name in {*CODE, "eval", "exec", "__import__"} & set(names_in(path))
    }
    assert found == RUNNING


RUNNING = {
    ("server/pgwire/hollow.py", "subprocess"),
    ("server/pgwire/hollow_launch.py", "ctypes"),
}
"""What starts PostgreSQL's own programs, by the paths of their package and with our arguments."""


def test_the_search_finds_what_it_looks_for(tmp_path: Path) -> None:
    path = tmp_path / "door.py"
    path.write_text("import os, pickle\nif os.environ['X']:\n    eval('1')\n")
    assert {"environ", "pickle", "eval"} <= set(names_in(path))


DOORS = ("seed", "noise", "no_noise", "debug", "test", "trusted", "unsafe", "exact", "entropy")


@pytest.mark.parametrize("name", DOORS)
def test_r9_a_catalog_has_no_switch_for_privacy(name: str, tmp_path: Path) -> None:
    whole = '[budget]\nepsilon = 1\n{0}\n[tables.t]\nfrom = "t.csv"\nunit = "u"\n{1}\n'
    for above, below in ((f"{name} = true", ""), ("", f"{name} = true")):
        with pytest.raises(CatalogError, match=name):
            read(written(tmp_path, whole.format(above, below), "discreet.toml"))


def test_r9_what_people_call_has_no_switch_for_privacy() -> None:
    for public in (discreet.open, Curator.ask, Curator.explain):
        assert not set(DOORS) & set(signature(public).parameters)
