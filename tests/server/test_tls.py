"""Encrypted connections to a real server process, and addresses that need them."""

import os
import shutil
import ssl  # noqa: TID251 - certificates, not random numbers
from pathlib import Path

import httpx
import pytest

from discreet.client import ServerError, connect
from discreet.errors import ParameterError
from tests.server.certificates import make_authority, make_certificate
from tests.server.forked import run_command
from tests.server.running import serving, write_catalog

COUNT = "SELECT COUNT(*) AS n FROM visits"

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl")


def test_a_server_with_a_certificate_is_asked_over_tls_and_by_nobody_in_clear(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority, other = make_authority(tmp_path, "ours"), make_authority(tmp_path, "theirs")
    certificate, key = make_certificate(tmp_path, "ours")
    options = ("--tls-cert", str(certificate), "--tls-key", str(key), "--host", "0.0.0.0")  # noqa: S104
    context = ssl.create_default_context(cafile=authority)
    catalog = write_catalog(tmp_path / "clinic")
    with serving(catalog, *options, scheme="https", verify=context) as served:
        with connect(served.url, served.tokens["ann"], verify=str(authority)) as remote:
            answer = remote.ask(COUNT, epsilon=1)
            assert [list(row) for row in answer.rows] == [["n"]]
            assert str(remote.remaining) == "ε = 49 of 50, δ = 1e-6 of 1e-6"
        monkeypatch.setattr("discreet.client.remote.TRIES", 1)
        with pytest.raises(ServerError, match="cannot be reached"):
            connect(served.url, served.tokens["ann"], verify=str(other), timeout=5)
        with pytest.raises(httpx.TransportError):
            httpx.get(served.url.replace("https", "http") + "/health", timeout=5)
        assert served.stop() == 0


def test_a_file_that_has_no_certificates_is_named(tmp_path: Path) -> None:
    (tmp_path / "empty.pem").write_text("nothing\n")
    with pytest.raises(ParameterError, match=r"empty\.pem"):
        connect("https://127.0.0.1:1", "token", verify=tmp_path / "empty.pem")


def refused(folder: Path, *options: str) -> str:
    """Run `discreet serve` with options that it rejects; return its one sentence."""
    own = {"NO_COLOR": "1", "DISCREET_STATE": f"{folder}-state"}
    ended = run_command("serve", *options, folder=folder, environment={**os.environ, **own})
    assert ended.returncode == 1
    assert ended.stderr.count("\n") == 1
    return ended.stderr


def test_an_address_that_others_reach_needs_tls_or_a_proxy(tmp_path: Path) -> None:
    write_catalog(tmp_path)
    said = refused(tmp_path, "--host", "0.0.0.0")  # noqa: S104 - it is rejected
    assert "--tls-cert and --tls-key, or --behind-proxy" in said


def test_a_certificate_that_is_none_is_named(tmp_path: Path) -> None:
    write_catalog(tmp_path)
    for name in ("a.crt", "a.key"):
        (tmp_path / name).write_text("nothing\n")
    options = ("--tls-cert", "a.crt", "--tls-key", "a.key", "--port", "0")
    assert "must come with --tls-key" in refused(tmp_path, *options[:2])
    assert "--tls-cert must be a certificate in PEM" in refused(tmp_path, *options)


def test_behind_a_proxy_any_address_is_allowed_and_calls_under_its_name_are_answered(
    tmp_path: Path,
) -> None:
    catalog = write_catalog(tmp_path)
    options = ("--host", "0.0.0.0", "--behind-proxy", "--host-name", "discreet.example.org")  # noqa: S104
    with serving(catalog, *options) as served:
        for name, status in (("discreet.example.org", 200), ("other.example.org", 421)):
            reply = served.call("GET", "/v1/me", headers={"Host": name})
            assert reply.status_code == status
