"""The public names of the package: complete, loaded on first use, and nothing else."""

import inspect
import pkgutil
import subprocess
import sys
from fractions import Fraction
from importlib import import_module
from pathlib import Path

import pyarrow as pa
import pytest

import discreet
from discreet.catalog.arguments import ARGUMENTS, FROM_SOURCE
from discreet.catalog.catalog import RowChoice
from discreet.catalog.columns import COLUMN
from discreet.catalog.declaration import BUDGET, SECTIONS, TABLE
from discreet.catalog.sources import SOURCE
from discreet.errors import DiscreetError, ParameterError

PEOPLE = pa.table({"who": list(range(50)), "row_id": list(range(50))})


def alone(code: str) -> str:
    """Return what a fresh interpreter prints."""
    run = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return run.stdout.strip()


# --------------------------------------------------------------------------- names


def test_dir_shows_the_public_names_and_nothing_else() -> None:
    code = "import discreet, discreet.catalog; print(*dir(discreet))"
    assert alone(code).split() == sorted(discreet.__all__)


def test_every_public_name_can_be_imported_from_the_top() -> None:
    for name in discreet.__all__:
        assert getattr(discreet, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'opne'"):
        getattr(discreet, "opne")  # noqa: B009 - mypy would find it


def test_no_module_hides_a_public_name() -> None:
    """A file that is called like a public function of its package would replace it."""
    packages = [each for each in pkgutil.iter_modules(discreet.__path__, "discreet.") if each.ispkg]
    for info in packages:
        package = import_module(info.name)
        for name in getattr(package, "__all__", ()):
            assert not inspect.ismodule(getattr(package, name)), f"{info.name}.{name}"


def test_every_error_is_public() -> None:
    def children(kind: type[DiscreetError]) -> set[str]:
        ours = [each for each in kind.__subclasses__() if each.__module__ == "discreet.errors"]
        return {kind.__name__}.union(*map(children, ours))

    assert children(DiscreetError) == {each for each in discreet.__all__ if each.endswith("Error")}


HEAVY = ("IPython", "duckdb", "numpy", "pyarrow", "scipy", "sqlglot", "typer")


@pytest.mark.parametrize("use", ["discreet", "discreet.DiscreetError", "dir(discreet)"])
def test_importing_the_package_loads_no_database(use: str) -> None:
    code = f"import sys, discreet; {use}; print(*[x for x in {HEAVY} if x in sys.modules])"
    assert alone(code) == ""


def test_the_database_interface_loads_no_client_no_notebook_and_no_frames() -> None:
    loaded = set(alone("import sys, discreet.dbapi; print(*sys.modules)").split())
    assert "discreet.dbapi.connection" in loaded
    assert not {"httpx", "IPython", "pandas", "polars"} & loaded


def test_a_system_without_posix_is_named_before_anything_else() -> None:
    """Without `fcntl`, as on Windows, no module that opens data can be imported."""
    code = """
import sys
sys.modules["fcntl"] = None
import discreet
try:
    discreet.open("nowhere.csv")
except discreet.DiscreetError as error:
    print(type(error).__name__, error)
"""
    assert alone(code).startswith("PlatformError discreet.open needs a POSIX system, such as Linux")


# --------------------------------------------------------------------------- discreet.open


def test_open_takes_what_a_catalog_takes() -> None:
    """A setting that the catalog gains fails here until `open` has it, and the other way round."""
    settings = {*BUDGET, *SOURCE, *TABLE, *COLUMN, "disjoint", "series", "analysts"} - FROM_SOURCE
    settings = {"types" if each == "type" else each for each in settings}
    taken = set(inspect.signature(discreet.open).parameters)
    assert set(ARGUMENTS) == settings
    assert taken == settings | {"source", "name", "ledger"}
    assert set(SECTIONS) == {"budget", "source", "tables", "disjoint", "series", "analysts"}


def test_each_argument_reaches_the_catalog() -> None:
    with discreet.open(
        PEOPLE,
        name="people",
        unit="who",
        key="row_id",
        epsilon=2,
        delta=1e-6,
        question_delta=1e-8,
        least_epsilon=0.01,
        incident_suspends="all",
        analysts={"eve": 1, "bob": {"epsilon": 0.5, "delta": 1e-7}},
        bounds={"row_id": discreet.AUTO},
        memory_limit="1 GB",
        threads=1,
        timeout=60,
        version="1",
        row_choice="per-query",
    ) as opened:
        catalog = opened.catalog
        assert catalog.tables[0].key == "row_id"
        assert catalog.tables[0].columns[1].bounds is discreet.AUTO
        assert catalog.budget.question_delta == Fraction(1, 10**8)
        assert catalog.budget.least_epsilon == Fraction(1, 100)
        assert catalog.budget.incident_suspends.value == "all"
        assert [(each.name, each.epsilon, each.delta) for each in catalog.analysts] == [
            ("eve", 1, None),
            ("bob", Fraction(1, 2), Fraction(1, 10**7)),
        ]
        assert (catalog.source.memory_limit, catalog.source.threads) == ("1 GB", 1)
        assert (catalog.source.timeout, catalog.source.version) == (Fraction(60), "1")
        assert catalog.source.row_choice is RowChoice.PER_QUERY
        assert opened.remaining_of("bob").epsilon == Fraction(1, 2)


@pytest.mark.parametrize("argument", sorted(ARGUMENTS))
def test_a_catalog_file_takes_no_argument_beside_it(tmp_path: Path, argument: str) -> None:
    (tmp_path / "discreet.toml").write_text("", encoding="utf-8")
    with pytest.raises(ParameterError, match=rf"^{argument} is declared in the catalog"):
        discreet.open(tmp_path / "discreet.toml", **{argument: "x"})  # type: ignore[arg-type]


def test_an_argument_that_there_is_not_is_a_type_error() -> None:
    with pytest.raises(TypeError, match=r"open\(\) got an unexpected keyword argument 'epsilom'"):
        discreet.open(PEOPLE, epsilom=1)  # type: ignore[call-arg]


def test_a_total_budget_is_needed() -> None:
    with pytest.raises(ParameterError, match=r"^epsilon is missing\. discreet\.open needs a total"):
        discreet.open(PEOPLE, unit="who")


# --------------------------------------------------------------------------- old names


@pytest.mark.parametrize(
    ("given", "choice"),
    [
        ({"bounding": "per-query"}, RowChoice.PER_QUERY),
        ({"bounding": "prepared"}, RowChoice.ONCE),
        ({"row_choice": "prepared"}, RowChoice.ONCE),
    ],
)
def test_old_spellings_of_row_choice_are_taken_with_a_warning(
    given: dict[str, str], choice: RowChoice
) -> None:
    with (
        pytest.warns(DeprecationWarning, match="is now") as told,
        discreet.open(PEOPLE, unit="who", epsilon=1, **given) as opened,  # type: ignore[arg-type]
    ):
        assert opened.catalog.source.row_choice is choice
    assert {Path(each.filename) for each in told} == {Path(__file__)}


def test_row_choice_is_given_once() -> None:
    with pytest.raises(ParameterError, match="old name of row_choice: give row_choice only"):
        discreet.open(PEOPLE, unit="who", epsilon=1, bounding="prepared", row_choice="once")  # type: ignore[call-arg]


@pytest.mark.parametrize(
    "name", ["declare", "read", "draft", "BINS", "Declared", "Found", "complete"]
)
def test_names_that_the_catalog_had_are_there_with_a_warning(name: str) -> None:
    with pytest.warns(DeprecationWarning, match=f"discreet.catalog.{name} is not public any more"):
        assert getattr(discreet.catalog, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'open'"):
        getattr(discreet.catalog, "open")  # noqa: B009 - mypy would find it
