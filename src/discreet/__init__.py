"""Discreet answers questions about sensitive data without giving anyone in it away."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from discreet.opening import open_data as open  # noqa: A004 - called discreet.open

__all__ = ["open"]
__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    """Return `open`, loaded when it is first used: noise and mechanisms need no engine."""
    if name == "open":
        return import_module("discreet.opening").open_data
    raise AttributeError(f"module 'discreet' has no attribute {name!r}")
