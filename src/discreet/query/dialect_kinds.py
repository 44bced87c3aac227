"""Which kind of value an expression of another dialect has, as far as its text and catalog tell.

Dialects divide, round and write numbers differently by their types. Where the kind is not known,
what depends on it is rejected.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from discreet.catalog.catalog import Catalog
from discreet.catalog.schema import Kind

DEEPEST_ALIAS = 8
"""How far names are followed to the expressions that they stand for."""

INTEGERS = (exp.Count, exp.CountIf, exp.Length, exp.StrPosition, exp.RowNumber, exp.Rank)
REALS = (
    *(exp.Avg, exp.Stddev, exp.StddevPop, exp.StddevSamp, exp.Variance, exp.VariancePop, exp.Corr),
    *(exp.CovarPop, exp.CovarSamp, exp.Sqrt, exp.Ln, exp.Log, exp.Exp, exp.Pow, exp.SafeDivide),
    *(exp.PercentileCont, exp.Extract),
)
"""Also EXTRACT, which is numeric in PostgreSQL."""

LIKE_FIRST = (exp.Paren, exp.Neg, exp.Abs, exp.Min, exp.Max, exp.Nullif, exp.AnyValue, exp.Window)
ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod)

CAST_KINDS = {
    **dict.fromkeys(exp.DataType.INTEGER_TYPES, Kind.INTEGER),
    **dict.fromkeys(exp.DataType.FLOAT_TYPES, Kind.REAL),
    **dict.fromkeys((exp.DType.DECIMAL, exp.DType.BIGDECIMAL), Kind.REAL),
    **dict.fromkeys(exp.DataType.TEXT_TYPES, Kind.TEXT),
    exp.DType.BOOLEAN: Kind.BOOLEAN,
    exp.DType.DATE: Kind.DATE,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Kinds:
    """What is known of the names in a query."""

    columns: Mapping[str, Kind | None]
    """Of the catalog's columns; None where tables differ."""
    aliases: Mapping[str, exp.Expr]

    def of(self, node: exp.Expr, depth: int = 0) -> Kind | None:
        """Return the kind of an expression, or None if it is not known."""
        match node:
            case exp.Literal():
                number = Kind.INTEGER if node.name.isdigit() else Kind.REAL
                return Kind.TEXT if node.is_string else number
            case exp.Column():
                return self._of_name(node, depth)
            case exp.Cast():
                return CAST_KINDS.get(node.to.this)
            case exp.Boolean() | exp.Predicate() | exp.Connector():
                return Kind.BOOLEAN
        return self._of_function(node, depth)

    def _of_function(self, node: exp.Expr, depth: int) -> Kind | None:
        if isinstance(node, INTEGERS):
            return Kind.INTEGER
        if isinstance(node, REALS):
            return Kind.REAL
        if isinstance(node, ARITHMETIC):
            return _common(self.of(node.this, depth), self.of(node.expression, depth))
        found = {self.of(each, depth) for each in _like(node) if not isinstance(each, exp.Null)}
        only = found.pop() if len(found) == 1 else None
        # PostgreSQL sums integers as integers or as numerics, by their size.
        return None if isinstance(node, exp.Sum) and only is not Kind.REAL else only

    def _of_name(self, node: exp.Column, depth: int) -> Kind | None:
        name = node.name.casefold()
        if name in self.columns:
            same = self.aliases.get(name)
            if same is None or isinstance(same, exp.Column):
                return self.columns[name]
            return None  # it is either
        found = self.aliases.get(name)
        return None if found is None or depth > DEEPEST_ALIAS else self.of(found, depth + 1)


def _like(node: exp.Expr) -> list[exp.Expr]:
    """Return the parts of an expression whose kind it has."""
    if isinstance(node, (*LIKE_FIRST, exp.Sum)):
        return [node.this]
    if isinstance(node, exp.Coalesce | exp.Greatest | exp.Least):
        return [node.this, *node.expressions]
    if isinstance(node, exp.Case):
        default = node.args.get("default")
        results = [each.args["true"] for each in node.args["ifs"]]
        return results if default is None else [*results, default]
    return []


def _common(left: Kind | None, right: Kind | None) -> Kind | None:
    if Kind.REAL in (left, right):
        return Kind.REAL
    return Kind.INTEGER if left is right is Kind.INTEGER else None


def kinds_in(tree: exp.Query, catalog: Catalog | None) -> Kinds:
    """Return what is known of the names in a query."""
    columns: dict[str, Kind | None] = {}
    for table in () if catalog is None else catalog.tables:
        for each in table.columns:
            name = each.name.casefold()
            is_same = columns.get(name, each.kind) is each.kind
            columns[name] = each.kind if is_same else None
    aliases: dict[str, exp.Expr] = {}
    for alias in tree.find_all(exp.Alias):
        name = alias.alias.casefold()
        if name in aliases and aliases[name] != alias.this:
            aliases[name] = exp.Null()
        else:
            aliases[name] = alias.this
    return Kinds(columns=columns, aliases=aliases)
