"""Write docs/reference/routes.md from OpenAPI, and server-settings.md from the dataclasses."""

import ast
import inspect
from collections.abc import Iterator, Mapping
from dataclasses import fields
from itertools import pairwise
from typing import Any

from discreet.server.app import make_app
from discreet.server.settings import ServerLimits, Settings

ROUTES = """# Routes of the server

This page is generated from the server's OpenAPI description, which a server returns at
`GET /v1/openapi.json`. [Run a server](../how-to/run-a-server.md) shows how to start one.

- Send a token as `Authorization: Bearer TOKEN`.
- Bodies are JSON in UTF-8. Unknown fields are rejected.
- Amounts such as `epsilon` are numbers, or texts that are read exactly: `"0.1"`, `"1/3"`.
- `{catalog}` is the name under which a catalog is served. `GET /v1/me` lists yours.
- An error has one form: `{"error": {"code", "message", "remedy", "place"}}`. The code stays the
  same in all versions. `place` says where in the query, or is null.

"""

SETTINGS = """# Settings of the server

This page is generated from the server's settings. Write them into a TOML file and start the server
with `discreet serve --config server.toml`. All limits are public numbers: they do not depend on
data.

```toml
release_every = "250ms"
approval_above = 0.5
hosts = ["discreet.example.org"]

[limits]
requests_per_minute = 120
```

"""

COMPUTED = {"running": "number of processors, 2 or more"}
"""Defaults that depend on the machine."""

METHODS = ("get", "post", "patch", "put", "delete")


# --------------------------------------------------------------------------- routes


def routes_page() -> str:
    """Return docs/reference/routes.md."""
    api = make_app({}, Settings()).openapi()
    lines = [*_statuses(api)]
    for tag in dict.fromkeys(tag for _, _, each in _calls(api) for tag in each["tags"]):
        lines.append(f"## For {tag}\n")
        for method, path, each in _calls(api):
            if tag in each["tags"]:
                lines += _route(api, method, path, each)
    return ROUTES + "\n".join(lines).rstrip() + "\n"


def _calls(api: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    for path, methods in api["paths"].items():
        for method in METHODS:
            if method in methods:
                yield method.upper(), path, {"tags": ["everybody"], **methods[method]}


def _statuses(api: Mapping[str, Any]) -> Iterator[str]:
    found: dict[str, str] = {}
    for _, _, each in _calls(api):
        found |= {k: v["description"] for k, v in each["responses"].items() if k >= "4"}
    yield "| status | meaning |"
    yield "|---|---|"
    yield from (f"| {status} | {found[status]} |" for status in sorted(found))
    yield ""


def _route(
    api: Mapping[str, Any], method: str, path: str, each: Mapping[str, Any]
) -> Iterator[str]:
    yield f"### {method} {path}\n"
    yield f"{_sentence(each.get('description', ''))}\n"
    rows = [
        (f"`{given['name']}`", given["in"], _type(given["schema"]), given.get("description", ""))
        for given in each.get("parameters", ())
        if given["name"] != "catalog"
    ]
    for content in each.get("requestBody", {}).get("content", {}).values():
        rows += _fields(api, content["schema"])
    if rows:
        yield "| name | in | type | meaning |"
        yield "|---|---|---|---|"
        yield from (f"| {' | '.join(_cell(part) for part in row)} |" for row in rows)
        yield ""


def _fields(
    api: Mapping[str, Any], schema: Mapping[str, Any]
) -> Iterator[tuple[str, str, str, str]]:
    """Yield the fields of a body."""
    found = _resolved(api, schema)
    required = found.get("required", ())
    for name, each in found.get("properties", {}).items():
        about = each.get("description", "")
        yield f"`{name}`", "body", _type(each), "required" if name in required else about


def _resolved(api: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    if "$ref" not in schema:
        return schema
    found: Mapping[str, Any] = api["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return found


def _type(schema: Mapping[str, Any]) -> str:
    if "$ref" in schema:
        return str(schema["$ref"].rpartition("/")[2])
    if "enum" in schema:
        return ", ".join(f"`{each}`" for each in schema["enum"])
    if "anyOf" in schema:
        kinds = [_type(each) for each in schema["anyOf"] if each.get("type") != "null"]
        return " or ".join(dict.fromkeys(kinds))
    if schema.get("type") == "array":
        return f"list of {_type(schema['items'])}"
    return str(schema.get("type", "any"))


def _sentence(text: str) -> str:
    return " ".join(text.split())


def _cell(text: str) -> str:
    return _sentence(text).replace("|", "\\|")


# --------------------------------------------------------------------------- settings


def server_settings_page() -> str:
    """Return docs/reference/server-settings.md."""
    lines = ["## General\n", *_settings(Settings), "## [limits]\n", *_settings(ServerLimits)]
    return SETTINGS + "\n".join(lines).rstrip() + "\n"


def _settings(kind: type) -> Iterator[str]:
    about = _documented(kind)
    yield "| setting | default | meaning |"
    yield "|---|---|---|"
    for each in fields(kind):
        yield f"| `{each.name}` | {_default(each.name, each.default)} | {about[each.name]} |"
    yield ""


def _default(name: str, value: object) -> str:
    match value:
        case _ if name in COMPUTED:
            return COMPUTED[name]
        case None | ():
            return "none"
        case bool():
            return f"`{str(value).lower()}`"
        case int():
            return f"{value:,}"
        case tuple():
            return ", ".join(f"`{each}`" for each in value)
        case _:
            return "see below"


def _documented(kind: type) -> dict[str, str]:
    """Return the docstrings below the fields of a class."""
    (found,) = ast.parse(inspect.getsource(kind)).body
    body = found.body if isinstance(found, ast.ClassDef) else []
    about = {}
    for each, after in pairwise(body):
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
            text = after.value if isinstance(after, ast.Expr) else None
            said = text.value if isinstance(text, ast.Constant) else ""
            about[each.target.id] = _cell(str(said))
    return {each.name: about.get(each.name, "") for each in fields(kind)}
