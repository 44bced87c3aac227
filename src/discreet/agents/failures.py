"""Errors as a model reads them.

What is rejected is told with its code and its fix. Anything unexpected is told in fixed words, and
its own words go nowhere but the owner's log.
"""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import ParamSpec, TypeVar

from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError, ToolError
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from discreet.agents.desk import RejectionError, rejection
from discreet.server.bodies import JsonObject
from discreet.server.faults import error_of, forget_frames

P = ParamSpec("P")
T = TypeVar("T")

FAILED = rejection(
    "internal", "This call failed", "Try again; a query that was charged is not charged again"
)


def rejected(error: Exception) -> RejectionError:
    """Return what a model is told of an error. The words of an unexpected one stay here."""
    if isinstance(error, RejectionError):
        return error
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        return rejection("bad_call", f"{where[:100]}: {first['msg']}", "Change this argument")
    found = error_of(error)
    return FAILED if found.code == "internal" else RejectionError(_content(found.to_json()))


def _content(told: dict[str, object]) -> JsonObject:
    content = told["error"]
    return content if isinstance(content, dict) else {}


def _without_frames(error: Exception) -> RejectionError:
    """Return what a model is told; errors that are raised again keep nothing of this call."""
    found = rejected(error)
    for each in (error, found):
        forget_frames(each)
    return found


def told(act: Callable[P, Awaitable[T]]) -> Callable[P, Awaitable[T]]:
    """Make errors of a tool ones that a model can act on."""

    @wraps(act)
    async def acted(*given: P.args, **stated: P.kwargs) -> T:
        try:
            return await act(*given, **stated)
        except (ToolError, MCPError):
            raise
        except Exception as error:  # noqa: BLE001 - the outer edge: fixed words
            raise ToolError(_without_frames(error).text) from None

    return acted


@contextmanager
def told_of_resource() -> Iterator[None]:
    """Make errors of a resource ones that a model can act on."""
    try:
        yield
    except (ResourceError, MCPError):
        raise
    except Exception as error:  # noqa: BLE001 - the outer edge: fixed words
        found = _without_frames(error)
        kind = ResourceNotFoundError if found.code == "not_found" else ResourceError
        raise kind(found.text) from None
