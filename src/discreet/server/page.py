"""The page: files that ship with the package, served with a policy that lets nothing else load."""

import gzip
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable

from fastapi import APIRouter, Request, Response

from discreet.server.callers import NOWHERE

router = APIRouter(include_in_schema=False)

VIEWS = (
    "/",
    "/data",
    "/budget",
    "/series",
    "/boards",
    "/learn",
    "/learn/{part}",
    "/owner",
    "/owner/add",
)
"""Addresses at which the page opens; it draws the view that belongs to each."""

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
"""No inline script, no inline style, no other host."""

TYPES = {
    "css": "text/css; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "txt": "text/plain; charset=utf-8",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PageFile:
    """A file of the page, as it is sent."""

    kind: str
    content: bytes
    packed: bytes
    tag: str


def _read(folder: Traversable, path: str = "") -> dict[str, PageFile]:
    """Return all files below a folder, by their paths."""
    found: dict[str, PageFile] = {}
    for each in folder.iterdir():
        place, kind = f"{path}{each.name}", each.name.rpartition(".")[2]
        if each.is_dir():
            found |= _read(each, f"{place}/")
        elif kind in TYPES:
            content = each.read_bytes()
            found[place] = PageFile(
                kind=TYPES[kind],
                content=content,
                packed=gzip.compress(content, mtime=0),
                tag=f'"{sha256(content).hexdigest()[:32]}"',
            )
    return found


FILES = _read(files("discreet") / "page")


def _reply(request: Request, path: str) -> Response:
    found = FILES.get(path)
    if found is None:
        raise NOWHERE
    headers = {
        "Cache-Control": "no-cache",  # kept by the browser, and asked for by its tag
        "Content-Security-Policy": POLICY,
        "ETag": found.tag,
        "Vary": "Accept-Encoding",
    }
    if request.headers.get("if-none-match") == found.tag:
        return Response(status_code=304, headers=headers)
    if "gzip" in request.headers.get("accept-encoding", ""):
        headers["Content-Encoding"] = "gzip"
        return Response(found.packed, media_type=found.kind, headers=headers)
    return Response(found.content, media_type=found.kind, headers=headers)


@router.get("/page/{path:path}")
async def file(request: Request, path: str) -> Response:
    """Return a file of the page."""
    return _reply(request, path)


async def page(request: Request) -> Response:
    """Return the page; it finds out by itself who is signed in."""
    return _reply(request, "index.html")


for each in (*VIEWS, "/answers/{catalog}/{id}"):
    router.get(each)(page)
