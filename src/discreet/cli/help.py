"""Help without Python's types: a flag takes no value, and an argument is known by its name."""

import re
from typing import Any

from typer.core import TyperCommand, TyperGroup

BRACED = re.compile(r"\{(.+)\}(\.\.\.)?")
"""How Typer writes a required argument."""


class PlainCommand(TyperCommand):
    """A command whose help shows no Python types."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return all parameters, that of the help too, as their help shows them."""
        return _plain(super().get_params(ctx))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the parts of the usage line, without braces."""
        return _unbraced(super().collect_usage_pieces(ctx))


class PlainGroup(TyperGroup):
    """A group of commands whose help shows no Python types."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return all parameters, that of the help too, as their help shows them."""
        return _plain(super().get_params(ctx))


def _plain(parameters: list[Any]) -> list[Any]:
    for each in parameters:
        if each.param_type_name == "argument":
            each.display_type_rich = _no_type
        elif each.is_flag:
            each.metavar = ""
    return parameters


def _no_type(ctx: Any) -> None:  # noqa: ARG001 - as Typer calls it
    return None


def _unbraced(pieces: list[str]) -> list[str]:
    return [BRACED.sub(r"\1\2", each) for each in pieces]
