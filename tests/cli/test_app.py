"""The command as a whole: what it says it can do, how it ends, and what mistakes sound like."""

import ast
import inspect
import json
import re
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest

from discreet import __version__
from discreet.cli import analyst_signatures, main, signatures, study_signatures
from discreet.cli.app import TABLE, Command, load, module
from tests.cli.conftest import Discreet
from tests.cli.runs import run

HEAVY = ("duckdb", "scipy", "numpy", "pyarrow", "sqlglot", "prompt_toolkit")


@pytest.mark.parametrize(
    ("arguments", "fix"),
    [
        (["price", "100 laplace 0.1"], "must look like '100 x laplace 0.1'"),
        (["price", "3 x laplacian 0.1"], "geometric, laplace, exponential"),
        (["price", "laplace 0"], "must be more than 0"),
        (["price", "laplace 1/0"], "must be a decimal or a fraction"),
        (["price", "laplace 0.1", "--delta", "2"], "delta must be less than 1"),
        (["price", "99999999999999999999 x laplace 0.1"], "must look like"),
        (["price", "gaussian 1e400", "--delta", "1e-6"], "must look like"),
        (["price", "gaussian 3"], "Give a delta above 0"),
        (["demo", "--output", "/proc/nowhere"], "/proc/nowhere"),
        (["ask", "SELECT 1", "-c", "nowhere.toml"], "or create one with discreet init DATA"),
        (["budget", "-c", "nowhere.toml"], "or create one with discreet init DATA"),
        (["ask", "--file", "nowhere.sql", "-e", "1"], "nowhere.sql: no such file"),
        (["init", "nowhere.csv", "-o", "new.toml"], "nowhere.csv does not exist"),
        (["init", "visits.csv"], "discreet.toml already exists. Write to another"),
        (["init", "visits.csv", "-o", "new.toml", "--unit", "pat_id"], "perhaps 'patient_id'"),
        (["init", "visits.csv", "-o", "new.toml", "--find-bounds", "0.1"], "unit must be named"),
        (["ledger", "show"], "The ledger's file does not exist"),
        (["shell", "--epsilon", "0"], "epsilon must be more than 0"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_a_mistake_gets_one_sentence_and_no_traceback(
    arguments: list[str], fix: str, discreet: Discreet
) -> None:
    ended = discreet(*arguments)
    assert ended.code == 1
    assert ended.err.startswith("discreet: ")
    assert ended.err.count("\n") == 1
    assert fix in ended.err


@pytest.mark.parametrize(
    "arguments",
    [
        ["frobnicate"],
        ["ask"],
        ["ask", "SELECT 1", "--file", "x.sql"],
        ["ask", "SELECT COUNT(*) FROM visits"],
        ["ask", "SELECT COUNT(*) FROM visits", "--epsilon", "nan"],
        ["ask", "SELECT COUNT(*) FROM visits", "--epsilon", "1e999999999"],
        ["ask", "SELECT COUNT(*) FROM visits", "--epsilon", "1/0"],
        ["ask", "SELECT COUNT(*) FROM visits", "--within", "1", "--within", "2"],
        ["ask", "SELECT COUNT(*) FROM visits", "-e", "1", "--json", "--csv"],
        ["ask", "SELECT '\udc80'", "-e", "1"],
    ],
)
@pytest.mark.usefixtures("folder")
def test_a_wrong_call_says_how_to_call_and_ends_with_two(
    arguments: list[str], discreet: Discreet
) -> None:
    ended = discreet(*arguments)
    assert ended.code == 2
    assert ended.out == ""
    assert "Usage" in ended.err


def test_a_mistake_of_ours_is_said_in_fixed_words(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(**_: object) -> None:
        raise ZeroDivisionError("a secret number")

    monkeypatch.setattr("discreet.cli.commands", broken)
    with pytest.raises(SystemExit) as left:
        main()
    said = capsys.readouterr().err
    assert left.value.code == 70
    assert "ZeroDivisionError" in said
    assert "secret" not in said


def test_the_version_is_printed() -> None:
    assert run("--version").out == "discreet 0.2.0.dev0\n"
    assert version("discreet") == __version__ == "0.2.0.dev0"


CALLS = [
    ["--help"],
    ["--version"],
    *([each.name, "--help"] for each in TABLE),
    *(["ledger", each, "--help"] for each in ("show", "verify", "incidents", "export")),
    *(["analyst", each, "--help"] for each in ("add", "list", "disable", "resume")),
    *(["analyst", each, "--help"] for each in ("request", "requests", "grant", "decline")),
    *(["local", each, "--help"] for each in ("simulate", "collect", "estimate")),
]
"""Every help there is, and the version."""


def test_help_and_version_load_nothing_heavy() -> None:
    """Start-up is what people wait for each time, so that what is heavy is loaded when used."""
    code = f"""
import sys
from discreet.cli import main
for arguments in {CALLS}:
    sys.argv = ["discreet", *arguments]
    try:
        main()
    except SystemExit as end:
        loaded = [each for each in {HEAVY} if each in sys.modules]
        print(end.code, loaded, file=sys.stderr)
"""
    done = subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert done.stderr == "0 []\n" * len(CALLS)


@pytest.mark.parametrize("arguments", CALLS, ids=" ".join)
def test_help_shows_no_types_of_python(arguments: list[str], discreet: Discreet) -> None:
    shown = discreet(*arguments).out
    assert shown
    assert re.findall(r"<[a-z\[\]]+>|[{}]|\[default: \(", shown) == []


def test_a_flag_takes_no_value_and_an_argument_is_known_by_its_name(discreet: Discreet) -> None:
    shown = discreet("init", "--help").out
    assert "init [OPTIONS] DATA...  " in shown
    assert re.search(r"^│ --force +Overwrite an existing catalog", shown, re.M)
    assert re.search(r"^│ --output +-o +FILE +Catalog file to write", shown, re.M)
    assert re.search(r"^│ --help +-h +Show this message", shown, re.M)


SIGNATURES = [
    (signature, body)
    for signatures in (signatures, study_signatures, analyst_signatures)
    for node in ast.parse(inspect.getsource(signatures)).body
    if isinstance(node, ast.FunctionDef)
    for signature in [getattr(signatures, node.name)]
    for body in [inspect.getclosurevars(signature).nonlocals["body"]]
]


@pytest.mark.parametrize(("signature", "body"), SIGNATURES)
def test_a_command_has_the_options_of_its_signature(
    signature: Callable[..., None], body: str
) -> None:
    run = getattr(module(body), signature.__name__)
    assert [*inspect.signature(run).parameters] == [*inspect.signature(signature).parameters]


def test_without_arguments_it_says_what_it_can_do(discreet: Discreet) -> None:
    shown = discreet()
    for name in ("demo", "init", "ask", "explain", "shell", "budget", "price", "ledger"):
        assert name in shown.out + shown.err


def test_letters_that_the_terminal_lacks_are_written_as_escapes() -> None:
    command = [sys.executable, "-m", "discreet", "price", "laplace 0.1"]
    done = subprocess.run(  # noqa: S603 - our own command
        command, env={"PYTHONIOENCODING": "ascii"}, capture_output=True, check=False
    )
    assert done.returncode == 0
    assert rb"\u03b5" in done.stdout


def test_help_lists_the_commands_in_the_order_in_which_people_need_them(
    discreet: Discreet,
) -> None:
    shown = discreet("--help").out
    panels = ["Get started", "Run queries", "Budget", "Server", "Large tables", "Study and test"]
    assert sorted(panels, key=shown.index) == panels
    assert re.findall(r"^│ ([a-z]+) ", shown, re.M) == [
        *("demo", "init", "explain", "ask", "shell", "coverage", "series", "budget", "analyst"),
        *(
            "ledger",
            "price",
            "serve",
            "mcp",
            "login",
            "prepare",
            "attack",
            "audit",
            "design",
            "local",
        ),
    ]
    assert "forget" not in shown


@pytest.mark.parametrize("entry", TABLE, ids=lambda entry: entry.name)
def test_every_command_of_the_table_is_loaded_with_its_line_of_help(entry: Command) -> None:
    command = load(entry.name)
    assert (command.name, command.help) == (entry.name, entry.help)
    children = getattr(command, "commands", {"": command})
    assert all(each.help for each in children.values())


COUNT = "SELECT COUNT(*) FROM visits"
FEW = ("--people", "6", "--queries", "4", "--trials", "2")


@pytest.mark.parametrize(
    ("arguments", "old", "new"),
    [
        (["explain", COUNT, "-e", "1", "--bounding", "prepared"], "--bounding", "--row-choice"),
        (["ask", COUNT, "-e", "1", "--bounding=per-query"], "--bounding", "--row-choice"),
        (["forget"], "forget", "discreet prepare --remove"),
        (["attack", "averaging", "--each", "0.5", *FEW], "--each", "--epsilon-per-query"),
        (["attack", "averaging", "--by", "mean", *FEW], "--by", "--method"),
        (
            ["attack", "averaging", "--against", "cached", *FEW],
            "--against cached",
            "--against sticky",
        ),
        (
            ["local", "collect", "reports.txt", "--least-people", "2"],
            "--least-people",
            "--min-people",
        ),
    ],
)
def test_old_spellings_still_work_with_a_line_of_warning(
    folder: Path, discreet: Discreet, arguments: list[str], old: str, new: str
) -> None:
    assert folder.is_dir()
    if arguments[0] == "local":
        discreet("local", "simulate", "-e", "1", "-n", "9")
    ended = discreet(*arguments)
    assert ended.code == 0, ended.err
    assert ended.err.splitlines()[0] == f"discreet: {old} is deprecated. Use {new}."
    assert ended.err.count("deprecated") == 1


@pytest.mark.usefixtures("folder")
def test_an_old_spelling_is_none_of_another_command_nor_after_two_hyphens(
    discreet: Discreet,
) -> None:
    assert "No such option: --by" in discreet("budget", "--by", "mean").err
    ended = discreet("ask", "-e", "1", "--", "--bounding")
    assert ended.code == 1
    assert "deprecated" not in ended.err


@pytest.mark.parametrize(
    ("arguments", "code", "kind"),
    [
        (["ask", "SELECT * FROM visits", "-e", "1"], 1, "RowLevelError"),
        (["ask", "SELECT COUNT(*) FROM visits", "-e", "9"], 3, "BudgetError"),
        (["explain", "SELECT COUNT(*) FROM visit", "-e", "1"], 1, "UnknownNameError"),
        (["budget", "-c", "nowhere.toml"], 1, "CatalogError"),
        (["ask", "--file", "nowhere.sql", "-e", "1"], 1, "FileNotFoundError"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_with_json_an_error_is_an_object_too(
    arguments: list[str], code: int, kind: str, discreet: Discreet
) -> None:
    ended = discreet(*arguments, "--json")
    assert ended.code == code
    error = json.loads(ended.out)["error"]
    assert (error["type"], error["exit_code"]) == (kind, code)
    assert ended.err == f"discreet: {error['message']}\n"
    assert discreet(*arguments).out == ""


@pytest.mark.usefixtures("folder")
def test_a_query_that_says_json_is_no_option(discreet: Discreet) -> None:
    ended = discreet("ask", "-e", "1", "--", "--json")
    assert (ended.code, ended.out) == (1, "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_printed_for_each_shell(
    shell: str, discreet: Discreet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")
    shown = discreet("--show-completion", shell).out
    assert f"_DISCREET_COMPLETE=complete_{shell}" in shown


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("discreet ", [each.name for each in TABLE]),
        ("discreet a", ["ask", "analyst", "attack", "audit"]),
        ("discreet ask --ep", ["--epsilon"]),
        ("discreet ledger v", ["verify"]),
        ("discreet ledger verify --he", ["--head", "--help"]),
    ],
)
def test_commands_and_options_are_completed(
    words: str, expected: list[str], discreet: Discreet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("_DISCREET_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split(" ")) - 1))
    assert discreet().out.split() == expected


def test_help_is_in_the_order_of_use(discreet: Discreet) -> None:
    shown = discreet("ask", "--help").out
    options = re.findall(r"^│ --([a-z-]+)", shown, re.M)
    assert options[:3] == ["epsilon", "within", "plot"]
    assert options[-4:] == ["as", "token", "server", "help"]
    commands = re.findall(r"^│ ([a-z]+) ", discreet("--help").out, re.M)
    assert commands[:5] == ["demo", "init", "explain", "ask", "shell"]


def test_a_chart_makes_no_folder(folder: Path, discreet: Discreet) -> None:
    count = "SELECT COUNT(*) FROM visits"
    ended = discreet("ask", count, "-e", "1", "--plot", "nowhere/chart.png")
    assert ended.code == 1
    assert "Create the folder nowhere first" in ended.err
    assert not (folder / "nowhere").exists()
    assert "ε = 2 of 2" in discreet("budget").out
