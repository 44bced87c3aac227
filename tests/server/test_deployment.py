"""The files in `deploy/`: built or run where the tools are at hand, read and checked elsewhere."""

import json
import os
import re
import shutil
import subprocess
import sys
from configparser import ConfigParser
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from discreet.catalog.resolve import read
from discreet.server.settings import Settings, read_settings
from tests.server.running import serving, write_catalog

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
CONTAINERFILE = DEPLOY / "Containerfile"


def run(*command: str, folder: Path = ROOT, **more: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(  # noqa: S603 - our own commands
        command,
        cwd=folder,
        env=os.environ | more,
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )


# --------------------------------------------------------------------------- container


def instructions() -> list[tuple[str, str]]:
    """Return the instructions of the container file, each with its arguments on one line."""
    text = re.sub(r"\\\n", " ", CONTAINERFILE.read_text())
    lines = [line.strip() for line in text.splitlines() if line.strip() and line[0] != "#"]
    return [(line.split()[0], line.split(maxsplit=1)[1]) for line in lines]


def last(name: str) -> str:
    return [rest for each, rest in instructions() if each == name][-1]


def builder() -> str | None:
    """Return a builder of containers that works here, if there is one."""
    for name in ("podman", "docker"):
        if shutil.which(name) and run(name, "info").returncode == 0:
            return name
    return None


def test_the_container_is_built_and_runs_without_rights() -> None:
    name = builder()
    if name is None:
        pytest.skip("no builder works here: the container file is checked by reading it")
    built = run(name, "build", "--file", str(CONTAINERFILE), "--tag", "discreet-test", ".")
    assert built.returncode == 0, built.stderr
    inside = (name, "run", "--rm", "--read-only", "--cap-drop", "ALL", "--entrypoint")
    assert run(*inside, "id", "discreet-test", "-u").stdout == "10001\n"
    assert "serve" in run(*inside, "discreet", "discreet-test", "serve", "--help").stdout


KNOWN = {
    *("CMD", "COPY", "ENTRYPOINT", "ENV", "EXPOSE", "FROM"),
    *("HEALTHCHECK", "RUN", "STOPSIGNAL", "USER", "VOLUME", "WORKDIR"),
}


def test_the_container_file_has_known_instructions_and_exact_versions() -> None:
    assert {name for name, _ in instructions()} <= KNOWN
    images = [rest.split()[0] for name, rest in instructions() if name == "FROM"]
    assert images
    for image in images:
        assert re.search(r":\d+\.\d+\.\d+", image), image
    installs = [rest for name, rest in instructions() if name == "RUN" and "pip install" in rest]
    assert installs
    assert all("--constraint constraints.txt" in each for each in installs)


def test_the_container_runs_as_a_user_who_is_not_root_and_holds_no_secret() -> None:
    assert last("USER") == "10001:10001"
    order = [name for name, _ in instructions()]
    assert order.index("USER") > max(i for i, name in enumerate(order) if name == "RUN")
    text = CONTAINERFILE.read_text()
    assert not re.search(r"(?i)password|secret=|token|curl|wget|ADD http", text.split("FROM", 1)[1])
    for name in ("ENTRYPOINT", "CMD"):
        assert isinstance(json.loads(last(name)), list), "without a shell, signals arrive"
    copied = [rest.split() for name, rest in instructions() if name == "COPY"]
    sources = [each for parts in copied if "--from=build" not in parts for each in parts[:-1]]
    assert all((ROOT / each).exists() for each in sources)
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    assert ignored[0] == "*", "nothing but what is named is sent to the builder"
    assert {f"!{each.removeprefix('./')}" for each in sources} <= set(ignored)


def health_command() -> list[str]:
    command: list[str] = json.loads(last("HEALTHCHECK").partition("CMD ")[2])
    return command


def test_the_health_check_of_the_container_tells_a_server_that_runs_from_none(
    tmp_path: Path,
) -> None:
    python, *rest = health_command()
    assert python == "python"
    with serving(write_catalog(tmp_path)) as served:
        port = served.url.rpartition(":")[2]
        check = [sys.executable, *(each.replace("8421", port) for each in rest)]
        assert run(*check).returncode == 0
        assert served.stop() == 0
        assert run(*check).returncode != 0


# --------------------------------------------------------------------------- compose, nginx


def services() -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    return content


def test_every_service_is_read_only_and_without_rights() -> None:
    for name, each in services()["services"].items():
        assert each["read_only"] is True, name
        assert each["cap_drop"] == ["ALL"], name
        assert each["security_opt"] == ["no-new-privileges:true"], name
        assert re.search(r":\d+\.\d+", each["image"]), name


def test_secrets_are_files_and_only_the_proxy_is_reached_from_outside() -> None:
    content = services()
    for name, each in content["services"].items():
        assert set(each.get("secrets", ())) <= set(content["secrets"]), name
        said = " ".join(str(value) for value in each.get("environment", {}).values())
        assert not re.search(r"://[^/@\s]*:[^/@\s]*@", said), "no password in an address"
        assert ("ports" in each) == (name == "proxy")
    assert all(set(each) == {"file"} for each in content["secrets"].values())
    assert content["networks"]["inside"]["internal"] is True
    assert (DEPLOY / ".gitignore").read_text() == "secrets/\n"


def test_the_example_of_a_catalog_and_of_settings_can_be_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in services()["services"]["server"]["environment"].items():
        monkeypatch.setenv(name, value)
    assert read(DEPLOY / "catalog" / "discreet.toml").budget is not None
    found = read_settings(DEPLOY / "catalog" / "server.toml")
    assert found != Settings()
    subnet = services()["networks"]["inside"]["ipam"]["config"][0]["subnet"]
    assert found.proxies == (subnet,)


def test_the_scripts_are_shell_and_new_secrets_are_for_their_owner(tmp_path: Path) -> None:
    for each in ("make-secrets.sh", "postgres/roles.sh"):
        assert run("sh", "-n", str(DEPLOY / each)).returncode == 0
        assert os.access(DEPLOY / each, os.X_OK)
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl")
    shutil.copy(DEPLOY / "make-secrets.sh", tmp_path)
    for _ in range(2):
        made = run("sh", "make-secrets.sh", folder=tmp_path)
        assert made.returncode == 0, made.stderr
        found = {each.name: each.read_text() for each in (tmp_path / "secrets").iterdir()}
    passwords = {found[f"{each}_password"] for each in ("postgres", "ledger", "reader")}
    assert all(re.fullmatch("[0-9a-f]{64}", each) for each in passwords)
    assert len(passwords) == 3
    assert found["ledger_password"] in found["pgpass"]
    assert (tmp_path / "secrets").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "secrets" / "pgpass").stat().st_mode & 0o777 == 0o600


def test_the_proxy_overwrites_who_calls_and_encrypts() -> None:
    text = (DEPLOY / "nginx.conf").read_text()
    assert text.count("{") == text.count("}")
    for line in (
        "proxy_set_header X-Forwarded-For $remote_addr;",
        "proxy_set_header Host $host;",
        "ssl_protocols TLSv1.2 TLSv1.3;",
        "proxy_pass http://server:8421;",
    ):
        assert line in text
    assert "proxy_add_x_forwarded_for" not in text


# --------------------------------------------------------------------------- systemd

UNIT = DEPLOY / "discreet.service"


def unit() -> dict[str, str]:
    parser = ConfigParser(strict=False, interpolation=None)
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    parser.read_string(UNIT.read_text())
    return dict(parser["Service"])


def test_the_unit_has_no_rights_and_writes_to_its_own_folder_alone() -> None:
    found = unit()
    assert found["ExecStart"].startswith("/opt/discreet/bin/discreet serve ")
    assert found["CapabilityBoundingSet"] == ""
    assert found["ProtectSystem"] == "strict"
    for name in ("DynamicUser", "NoNewPrivileges", "ProtectHome", "PrivateTmp", "PrivateDevices"):
        assert found[name] == "yes", name
    assert "ReadWritePaths" not in found


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
def test_systemd_accepts_the_unit_and_rates_it_as_safe(tmp_path: Path) -> None:
    copy = tmp_path / UNIT.name
    copy.write_text(UNIT.read_text().replace("/opt/discreet/bin/discreet", "/bin/true"))
    verified = run("systemd-analyze", "verify", str(copy))
    assert (verified.returncode, verified.stderr) == (0, "")
    rated = run("systemd-analyze", "security", "--offline=true", "--threshold=20", str(copy))
    assert rated.returncode == 0, rated.stdout[-2000:]
