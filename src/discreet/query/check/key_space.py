"""What conditions on group keys are evaluated on: declared values and rows of public tables."""

from collections.abc import Mapping
from dataclasses import dataclass

from discreet.catalog.schema import Kind, Value
from discreet.query.tree import ColumnOf, Expression


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedKeys:
    """Declared groups, by the name of their list: one row each, one expression for each column."""

    name: str
    rows: tuple[tuple[Value, ...], ...]
    expressions: tuple[Expression, ...]
    is_whole: bool = False
    """Whether conditions name the columns of the list (v0, v1, ...) and not what keys read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicRows:
    """Some columns of a public table, as a query calls them."""

    source: str
    table: str
    columns: Mapping[str, str]
    """Their names in the query, and in the table."""
    is_optional: bool
    """Whether a row of NULL stands for no partner."""
    listed: Mapping[str, tuple[Kind, tuple[Value, ...]]] | None = None
    """The values of the columns, if it is no table but a list of constants."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeySpace:
    """Lists of keys, the values that they are made of, and conditions on these."""

    lists: tuple[ListedKeys, ...]
    domains: Mapping[ColumnOf, tuple[Value, ...]]
    publics: tuple[PublicRows, ...]
    conditions: tuple[Expression, ...]
