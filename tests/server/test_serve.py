"""`discreet serve` as a new user meets it: what it prints, how it ends, what it rejects."""

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import httpx
import pytest

from discreet.errors import CatalogError, ParameterError
from discreet.server.run import Address, listening
from discreet.server.settings import read_settings
from tests.server.forked import Ended, run_command
from tests.server.running import add_accounts, free_port, write_catalog

SERVE = [sys.executable, "-m", "discreet", "serve"]


def started(folder: Path, *options: str) -> "subprocess.Popen[str]":
    """Begin to serve in a folder."""
    return subprocess.Popen(  # noqa: S603 - our own command
        [*SERVE, *options],
        cwd=folder,
        env=_environment(folder),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(
    folder: Path, *command: str, more: Mapping[str, str] | None = None
) -> "subprocess.CompletedProcess[str]":
    """Run a command in a folder to its end."""
    return subprocess.run(  # noqa: S603 - our own command
        command,
        cwd=folder,
        env=_environment(folder) | dict(more or {}),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def refused(folder: Path, *options: str) -> Ended:
    """Begin to serve with options that are rejected."""
    return run_command("serve", *options, folder=folder, environment=_environment(folder))


def _environment(folder: Path) -> dict[str, str]:
    own = {"NO_COLOR": "1", "DISCREET_STATE": f"{folder}-state"}
    return {k: v for k, v in os.environ.items() if not k.startswith("DISCREET")} | own


def lines_until(process: "subprocess.Popen[str]", last: str) -> list[str]:
    """Return what a process prints, to the line that begins in this way."""
    assert process.stdout is not None
    lines = []
    for line in process.stdout:
        lines.append(line.rstrip("\n"))
        if line.startswith(last):
            break
    return lines


def test_the_demo_says_how_to_ask_and_what_it_says_works(tmp_path: Path) -> None:
    process = started(tmp_path, "--demo", "--port", "0")
    try:
        lines = lines_until(process, "  discreet ask")
        assert re.fullmatch(
            r"Serving demo at http://127\.0\.0\.1:\d+\. Stop with Ctrl-C\.", lines[0]
        )
        link = r"Sign in \(once, within 10 minutes\): http://127\.0\.0\.1:\d+/#code=[0-9a-f]{64}"
        assert re.fullmatch(link, lines[1])
        exported = dict(
            line.removeprefix("  export ").split("=", 1) for line in lines if "export" in line
        )
        sql = re.findall(r'"(SELECT .*)"', lines[-1])[0]
        command = [sys.executable, "-m", "discreet", "ask", sql, "--epsilon", "0.5"]
        asked = run(tmp_path, *command, more=exported)
        assert (asked.returncode, asked.stderr) == (0, "")
        assert "north" in asked.stdout
        process.send_signal(signal.SIGINT)
        said, complained = process.communicate(timeout=30)
    finally:
        process.kill()
        process.communicate()
    assert said == "Stopped. All charges and answers are saved.\n"
    assert complained == ""
    assert process.returncode == 0
    assert [each.name for each in tmp_path.iterdir()] == ["discreet-demo"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_server_in_order(tmp_path: Path, number: int) -> None:
    add_accounts(write_catalog(tmp_path))
    port = free_port()
    process = started(tmp_path, "--port", str(port))
    try:
        assert lines_until(process, "Serving")[-1].startswith("Serving ")
        assert httpx.get(f"http://127.0.0.1:{port}/health", timeout=30).status_code == 200
        process.send_signal(number)
        said, complained = process.communicate(timeout=30)
    finally:
        process.kill()
        process.communicate()
    assert (said.splitlines()[-1:], complained) == (
        ["Stopped. All charges and answers are saved."],
        "",
    )
    assert process.returncode == 0


def test_a_port_in_use_is_named_and_a_demo_that_runs_keeps_its_ledger(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        ended = refused(tmp_path, "--demo", "--port", str(port))
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr == (
        f"discreet: --port must be a port that no other program uses, but {port} was given. "
        "Name another, or stop the other.\n"
    )
    assert not list(tmp_path.iterdir())


def test_a_missing_catalog_is_one_sentence_and_says_what_to_do(tmp_path: Path) -> None:
    ended = refused(tmp_path)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr == (
        "discreet: Catalog discreet.toml not found. Name its file, create one with "
        "discreet init DATA, or try discreet serve --demo.\n"
    )


@pytest.mark.parametrize("absent", ["fastapi", "uvicorn"])
def test_a_missing_extra_is_named(tmp_path: Path, absent: str) -> None:
    hidden = f"import sys; sys.modules[{absent!r}] = None; sys.argv = ['discreet', 'serve']; "
    ended = run(tmp_path, sys.executable, "-c", hidden + "from discreet.cli import main; main()")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr == (
        "discreet: The server is not installed. Run: pip install 'discreet[server]'.\n"
    )


def test_the_demo_leaves_other_catalogs_alone(tmp_path: Path) -> None:
    catalog = write_catalog(tmp_path / "discreet-demo")
    before = catalog.read_bytes()
    ended = refused(tmp_path, "--demo", "--port", str(free_port()))
    assert ended.returncode == 1
    assert "Run discreet serve --demo in another folder" in ended.stderr
    assert catalog.read_bytes() == before


@pytest.mark.parametrize(
    ("given", "url"),
    [
        (Address(), "http://127.0.0.1:8421"),
        (Address(host="::1", port=1), "http://[::1]:1"),
        (Address(host_names=("a.example",)), "http://a.example:8421"),
        (Address(host_names=("a.example",), is_behind_proxy=True), "https://a.example"),
    ],
)
def test_an_address_is_shown_as_people_open_it(given: Address, url: str) -> None:
    assert given.url == url


def test_a_port_that_is_none_is_rejected() -> None:
    with pytest.raises(ParameterError, match="between 0 and 65535"):
        Address(port=65536)


def test_proxies_are_addresses_or_networks(tmp_path: Path) -> None:
    file = tmp_path / "server.toml"
    file.write_text('proxies = ["10.0.0.0/24", "::1"]\n')
    assert read_settings(file).proxies == ("10.0.0.0/24", "::1")
    file.write_text('proxies = ["10.0.0.0/24", "proxy"]\n')
    with pytest.raises(CatalogError, match=r'such as "10\.0\.0\.2".*proxy'):
        read_settings(file)
    with pytest.raises(ParameterError, match="--config must be a file"):
        read_settings(tmp_path / "absent.toml")


def test_small_replies_are_sent_at_once() -> None:
    with listening(Address(port=0)) as place:
        assert place.heard.proto == socket.IPPROTO_TCP  # else asyncio leaves them to wait
