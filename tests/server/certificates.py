"""Authorities and certificates for tests of encrypted connections."""

import subprocess
from pathlib import Path


def openssl(*arguments: str, folder: Path) -> None:
    subprocess.run(  # noqa: S603 - our own command
        ["openssl", *arguments],  # noqa: S607 - wherever it is
        cwd=folder,
        check=True,
        capture_output=True,
    )


def make_authority(folder: Path, name: str) -> Path:
    """Make an authority; return its certificate."""
    new = ("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    usage = ("-addext", "keyUsage=critical,keyCertSign,cRLSign")
    names = ("-keyout", f"{name}.key", "-out", f"{name}.crt", "-subj", f"/CN={name}")
    openssl(*new, *usage, *names, "-days", "2", folder=folder)
    return folder / f"{name}.crt"


def make_certificate(folder: Path, authority: str) -> tuple[Path, Path]:
    """Make a certificate for this machine that an authority signed; return it and its key."""
    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    request = ("-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=localhost")
    openssl("req", *key, *request, folder=folder)
    (folder / "names").write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
    signed = ("-CA", f"{authority}.crt", "-CAkey", f"{authority}.key", "-CAcreateserial")
    made = ("-in", "server.csr", "-out", "server.crt", "-extfile", "names", "-days", "1")
    openssl("x509", "-req", *signed, *made, folder=folder)
    return folder / "server.crt", folder / "server.key"
