"""Run the examples on a page, and write the output that they give now.

A page is Markdown. Its examples are the blocks between fences; they run from top to bottom, in one
folder that holds the files of the demo, with noise that is replayed from the name of the page:

- a `python` block with prompts (`>>>`) is a doctest; all such blocks of a page share their names;
- a `python` block without prompts runs if a `text` block follows it: its last line is an
  expression, and the block below shows it;
- an `ipython` block is a cell of a notebook; if a `text` block follows it, that shows its output;
- a `console` block runs the commands after `$`: `discreet ...`, or `cat FILE`;
- a `toml` block with a title is written to the file of that name;
- a `sql` block runs if a `text` block follows it, as `discreet ask` with a new ledger; its title
  holds the options, `--epsilon 0.5` if it has none.

A comment `<!-- files: visits.csv -->` says which files of the demo are there; without it, all are.

Times, and digests that depend on them, are not compared: they differ in every run.
"""

import ast
import atexit
import doctest
import io
import os
import re
import shlex
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, chdir, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from discreet.cli import main
from discreet.demo import write_clinic
from discreet.noise import SystemEntropy
from tests.replay import ReplayableEntropy

ROOT = Path(__file__).parent.parent
FENCED = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
TITLE = re.compile(r'title="([^"]*)"')
VARYING = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d)?|\b[0-9a-f]{64}\b")
FILES = re.compile(r"<!-- files: (.*?) -->")
DEMO_FILE = re.compile(r'"(discreet\.toml|visits\.csv|patients\.csv)"')
PROMPT = "$ "
USUAL_OPTIONS = "--epsilon 0.5"


def pages() -> list[Path]:
    """Return the README and every page of the documentation."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]


class ExampleError(Exception):
    """An example on a page does not run."""


@dataclass(frozen=True, slots=True)
class Block:
    """What is between two fences, and where its text begins and ends on the page."""

    info: str
    body: str
    start: int
    end: int

    @property
    def language(self) -> str:
        return self.info.split(" ")[0]

    @property
    def title(self) -> str:
        found = TITLE.search(self.info)
        return found[1] if found else ""


def blocks(text: str) -> list[Block]:
    """Return the fenced blocks of a page."""
    return [
        Block(each["info"].strip(), each["body"], each.start("body"), each.end("body"))
        for each in FENCED.finditer(text)
    ]


def is_followed_by_output(text: str, block: Block, following: Block) -> bool:
    """Return whether only white space is between a block and a block of output."""
    between = text[block.end : following.start]
    return following.language == "text" and re.fullmatch(r"```\n+```[^\n]*\n", between) is not None


def refreshed(text: str, name: str) -> str:
    """Return a page with the output that its examples give now."""
    found = blocks(text)
    changes: list[tuple[Block, str]] = []
    files = FILES.search(text)
    with _runner(name, files[1].split() if files else None) as run:
        for number, block in enumerate(found):
            after = found[number + 1] if number + 1 < len(found) else None
            shown = after if after and is_followed_by_output(text, block, after) else None
            changes += [
                (place, output)
                for place, output in run.block(block, shown)
                if not _is_same(place.body, output)
            ]
    for place, output in reversed(changes):
        text = text[: place.start] + output + text[place.end :]
    return text


def _is_same(shown: str, output: str) -> bool:
    return VARYING.sub("", shown) == VARYING.sub("", output)


@dataclass(slots=True)
class _Runner:
    """Runs the blocks of one page, one after the other."""

    folder: Path
    files: list[str] | None = None
    names: dict[str, Any] = field(default_factory=lambda: {"__name__": "__main__"})
    has_files: bool = False
    recipes: int = 0
    shell: Any = None

    def block(self, block: Block, shown: Block | None) -> Iterator[tuple[Block, str]]:
        """Yield the blocks whose text follows from this one, with the text."""
        match block.language:
            case "python" if ">>> " in block.body:
                yield block, self._doctest(block)
            case "python" if shown is not None:
                yield shown, self._value(block.body)
            case "ipython":
                output = self._cell(block.body)
                yield from () if shown is None else ((shown, output),)
            case "console":
                yield block, self._commands(block.body)
            case "toml" if block.title:
                self._make_files()
                Path(self.folder, block.title).write_text(block.body, encoding="utf-8")
            case "sql" if shown is not None:
                yield shown, self._recipe(block)

    def _doctest(self, block: Block) -> str:
        if DEMO_FILE.search(block.body):
            self._make_files()
        examples = doctest.DocTestParser().get_examples(block.body)
        test = doctest.DocTest(examples, self.names, "page", None, None, block.body)
        test.globs = self.names  # DocTest makes a copy; blocks of a page share their names.
        listener = _Listener(verbose=False)
        listener.run(test, out=lambda _: None, clear_globs=False)
        if listener.broken is not None:
            raise ExampleError(listener.broken)
        lines = block.body.splitlines(keepends=True)
        for example, got in reversed(listener.found):
            first = example.lineno + example.source.count("\n")
            lines[first : first + example.want.count("\n")] = [got]
        return "".join(lines)

    def _value(self, code: str) -> str:
        self._make_files()
        *statements, last = ast.parse(code).body
        if not isinstance(last, ast.Expr):
            raise ExampleError("the last line of a block with output is not an expression")
        exec(compile(ast.Module(statements, []), "page", "exec"), self.names)  # noqa: S102 - our page
        return f"{eval(compile(ast.Expression(last.value), 'page', 'eval'), self.names)}\n"  # noqa: S307

    def _cell(self, code: str) -> str:
        """Return what a cell shows, without the number that IPython writes before it."""
        self._make_files()
        if self.shell is None:
            self.shell = _make_shell(self.names, self.folder.parent / "ipython")
        output = io.StringIO()
        with redirect_stdout(output), redirect_stderr(output):
            self.shell.run_cell(code)
        return re.sub(r"^Out\[\d+\]: ", "", output.getvalue()).strip() + "\n"

    def _commands(self, body: str) -> str:
        self._make_files()
        return "\n".join(
            f"{PROMPT}{command}\n{_output_of(_joined(command))}" for command in _commands_in(body)
        )

    def _recipe(self, block: Block) -> str:
        self._make_files()
        self.recipes += 1
        ledger = f"recipe{self.recipes}.ledger"
        catalog = Path("discreet.toml").read_text(encoding="utf-8")
        Path("recipe.toml").write_text(f'[source]\nledger = "{ledger}"\n\n{catalog}', "utf-8")
        options = shlex.split(block.title or USUAL_OPTIONS)
        with _environment(DISCREET_STATE=str(self.folder / f"state{self.recipes}")):
            return _run(["discreet", "ask", block.body, "--catalog", "recipe.toml", *options])

    def _make_files(self) -> None:
        if not self.has_files:
            self.has_files = True
            write_clinic(self.folder)
            unwanted = () if self.files is None else self.folder.iterdir()
            for each in unwanted:
                if each.name not in (self.files or ()):
                    each.unlink()


def _make_shell(names: dict[str, Any], folder: Path) -> Any:
    """Return an IPython with these variables; what it replaces of the interpreter is put back."""
    config, make = Config(), cast(Any, InteractiveShell)
    config.HistoryManager.enabled = False
    shell = make(user_ns=names, config=config, ipython_dir=str(folder))
    shell.restore_sys_module_state()
    atexit.unregister(shell.atexit_operations)
    return shell


def _commands_in(body: str) -> Iterator[str]:
    """Yield the commands of a block; one that ends with a backslash goes on in the next line."""
    lines = iter(body.splitlines())
    for line in lines:
        if not line.startswith(PROMPT):
            continue
        command = [line.removeprefix(PROMPT)]
        while command[-1].endswith("\\"):
            command.append(next(lines))
        yield "\n".join(command)


def _joined(command: str) -> str:
    return command.replace("\\\n", "")


def _output_of(command: str) -> str:
    words = shlex.split(command, comments=True)
    match words:
        case ["cat", name]:
            return Path(name).read_text(encoding="utf-8")
        case ["discreet", *_]:
            return _run(words)
    raise ExampleError(f"pages run discreet and cat only, not {words[0]}")


def _run(words: list[str]) -> str:
    output, before = io.StringIO(), sys.argv
    sys.argv = words
    try:
        with redirect_stdout(output), redirect_stderr(output):
            main()
    except SystemExit:
        pass
    finally:
        sys.argv = before
    return output.getvalue()


class _Listener(doctest.DocTestRunner):
    """Collects what examples give where it is not what they show."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.found: list[tuple[doctest.Example, str]] = []
        self.broken: str | None = None

    def report_failure(self, out: Any, test: Any, example: doctest.Example, got: str) -> None:
        del out, test
        if example.exc_msg is None or not got.startswith("Traceback"):
            self.found.append((example, re.sub(r"^[ \t]*$(?=\n)", "<BLANKLINE>", got, flags=re.M)))
            return
        head, *_ = got.splitlines(keepends=True)
        message = re.search(r"^\w[\w.]*(?:Error|Exception|Warning).*", got, re.M | re.S)
        self.found.append((example, head + (message[0] if message else "")))

    def report_unexpected_exception(
        self, out: Any, test: Any, example: doctest.Example, exc_info: Any
    ) -> None:
        del out, test
        if self.broken is None:
            last = "".join(traceback.format_exception_only(exc_info[1]))
            self.broken = f"{example.source.strip()}\n{last}"


@contextmanager
def _environment(**values: str) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def _replayed_noise(seed: str) -> Iterator[None]:
    source, before = ReplayableEntropy(seed), SystemEntropy.draw
    SystemEntropy.draw = lambda _, count: source.draw(count)  # type: ignore[method-assign, assignment]
    try:
        yield
    finally:
        SystemEntropy.draw = before  # type: ignore[method-assign]


@contextmanager
def _runner(name: str, files: list[str] | None) -> Iterator[_Runner]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        stack.enter_context(_environment(DISCREET_STATE=str(folder / "state"), NO_COLOR="1"))
        stack.enter_context(_environment(COLUMNS="100"))
        stack.enter_context(_replayed_noise(name))
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("error")
        work = folder / "demo"
        work.mkdir()
        stack.enter_context(chdir(work))
        yield _Runner(work, files)


@contextmanager
def demo_folder(name: str) -> Iterator[Path]:
    """Work in a folder with the files of the demo, with noise that is replayed from a name."""
    with _runner(name, None) as runner:
        write_clinic(runner.folder)
        yield runner.folder
