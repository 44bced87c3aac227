"""Write what PostgreSQL clients show on the pages about them: every statement there was sent.

A page's `psql` blocks run in psql. Its `py` blocks run in Python; a `text` block that follows shows
their last line. Both connect to a real server in this process,
whose noise is replayed, so that pages stay the same until something changes.
"""

import ast
import asyncio
import os
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any
from unittest.mock import patch

from discreet.ledger import make_token
from discreet.opening import open_books
from discreet.server.admission import Turns
from discreet.server.asking import QueryRunner
from discreet.server.pgwire.hollow import binaries
from discreet.server.pgwire.listener import Listener
from discreet.server.settings import Settings
from discreet.server.signing import SignIns
from discreet.server.sites import open_site
from docs.examples import ROOT, Block, blocks, demo_folder

PROMPT = "clinic=> "
ACCOUNT, SHOWN_PORT = "ann", "5433"


def wire_page(name: str) -> Callable[[], str]:
    """Return a function that returns a page with what clients show now."""

    def page() -> str:
        path = ROOT / "docs" / "how-to" / name
        text = path.read_text(encoding="utf-8")
        with demo_folder(name) as folder, serving(folder / "discreet.toml") as place:
            return _written(text, place)

    return page


def _written(text: str, place: dict[str, str]) -> str:
    names: dict[str, Any] = {}
    replaced: list[tuple[Block, str]] = []
    found = blocks(text)
    with _session(place) as tell:
        for block, following in zip(found, [*found[1:], None], strict=True):
            if block.language == "psql":
                replaced.append((block, _psql(block.body, tell)))
            elif block.language == "py":
                shown = _python(block.body, place, names)
                if following is not None and following.language == "text":
                    replaced.append((following, shown))
    for each in names.values():
        if hasattr(each, "dispose"):  # connections of SQLAlchemy
            each.dispose()
    for block, body in reversed(replaced):
        text = text[: block.start] + body + text[block.end :]
    return text


def _psql(body: str, tell: Callable[[str], list[str]]) -> str:
    """Return a part of a session of psql with what it prints now."""
    asked = [line for line in body.splitlines() if line.startswith((PROMPT, "clinic-> "))]
    statements: list[list[str]] = []
    for line in asked:
        if line.startswith(PROMPT):
            statements.append([])
        statements[-1].append(line)
    lines = []
    for each in statements:
        sent = "\n".join(line[len(PROMPT) :] for line in each)
        lines += [*each, *tell(sent)]
    return "\n".join(lines) + "\n"


END = "THE-END-OF-THIS-STATEMENT"


@contextmanager
def _session(place: dict[str, str]) -> Iterator[Callable[[str], list[str]]]:
    """Run psql; yield what sends it a statement and returns the lines that it prints."""
    given = ("-h", "127.0.0.1", "-p", place["port"], "-U", ACCOUNT, "-d", "clinic")
    with subprocess.Popen(  # noqa: S603 - our own program
        [str(binaries() / "psql"), "-X", "-q", "-P", "pager=off", *given],
        env={**os.environ, "PGPASSWORD": place["token"], "PGCONNECT_TIMEOUT": "20"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
    ) as process:

        def tell(sent: str) -> list[str]:
            if process.stdin is None or process.stdout is None:
                raise RuntimeError("psql has no pipes")
            process.stdin.write(f"{sent}\n\\echo {END}\n")
            process.stdin.flush()
            lines: list[str] = []
            for line in process.stdout:
                if line.strip() == END:
                    break
                lines.append(line.rstrip())
            while lines and not lines[-1]:
                lines.pop()
            return lines

        yield tell
        if process.stdin is not None:
            process.stdin.close()


def _python(body: str, place: dict[str, str], names: dict[str, Any]) -> str:
    """Run a block; return what its last line is, if that is an expression."""
    tree = ast.parse(body.replace(f":{SHOWN_PORT}/", f":{place['port']}/"))
    last = tree.body[-1]
    with patch.dict(os.environ, {"DISCREET_TOKEN": place["token"]}):
        if not isinstance(last, ast.Expr):
            exec(compile(tree, "page", "exec"), names)  # noqa: S102 - the page is our own
            return ""
        exec(compile(ast.Module(tree.body[:-1], []), "page", "exec"), names)  # noqa: S102
        value = eval(compile(ast.Expression(last.value), "page", "eval"), names)  # noqa: S307
    return f"{value}\n"


@contextmanager
def serving(catalog: Path) -> Iterator[dict[str, str]]:
    """Serve a catalog to PostgreSQL clients; yield the port and the token of an account."""
    token = make_token()
    with open_books(catalog) as ledger:
        ledger.declare_analyst(ACCOUNT, epsilon=3, token_hash=token.hash, scram=token.scram)
    site, settings, heard = open_site("clinic", catalog), Settings(), socket.socket()
    heard.bind(("127.0.0.1", 0))
    listener = Listener(settings=settings, heard=heard)
    listener.describe([site])
    started, stopping = Event(), Event()

    async def serve() -> None:
        runner = QueryRunner(settings=settings, turns=Turns(settings.limits))
        sign_ins = SignIns({site.name: site}, settings)
        await listener.start(runner, Turns(settings.limits), sign_ins)
        started.set()
        await asyncio.to_thread(stopping.wait)
        await listener.close()

    thread = Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    try:
        started.wait(30)
        yield {"port": str(heard.getsockname()[1]), "token": token.text}
    finally:
        stopping.set()
        thread.join()
        heard.close()
        site.close()
