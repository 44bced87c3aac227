"""UNNEST of a split text: several rows of one, as many as the query allows.

`UNNEST(STRING_SPLIT(x, ' ')[1:5])` becomes a join with the numbers 1 to 5: row n has part n, if
there is one. So each row meets at most five, which the query says. Proof: docs/proofs/sql_forms.md.
"""

from sqlglot import exp

from discreet.catalog import Catalog
from discreet.catalog.schema import PrivateTable
from discreet.errors import UnsupportedError
from discreet.query.check.relations import CommonTables, PrivateRows
from discreet.query.parse import span_of

MOST_PARTS = 50


NUMBERS, NUMBER = "split_numbers", "part_number"


def unnest_split_texts(node: exp.Select, catalog: Catalog, named: CommonTables) -> None:
    """Rewrite the parts of a text in SELECT or in FROM as a join with numbers.

    Queries that name no private rows stay as they are.
    """
    if not _has_unnest(node):
        return
    private = [each.name for each in catalog.tables if isinstance(each, PrivateTable)]
    private += [name for name, each in named.items() if isinstance(each, PrivateRows)]
    names = {each.name.casefold() for each in node.find_all(exp.Table)}
    if names & {each.casefold() for each in private}:
        _rewrite(node)


def _has_unnest(node: exp.Select) -> bool:
    joined = (each.this for each in node.args.get("joins") or ())
    return any(isinstance(each, exp.Unnest | exp.Lateral) for each in joined) or any(
        isinstance(each.unalias(), exp.Explode) for each in node.expressions
    )


def _rewrite(node: exp.Select) -> None:
    joins = list(node.args.get("joins") or [])
    shown = [each for each in node.expressions if _is_split(each.unalias())]
    found = [*(each for each in joins if _unnested(each)), *shown]
    if found and any(isinstance(each, exp.Star) for each in node.expressions):
        raise UnsupportedError(
            "* beside UNNEST is not supported on private rows",
            "Name the columns",
            span=span_of(found[0]),
        )
    for place, join in enumerate(joins):
        if _unnested(join):
            _check_later(joins[place + 1 :])
            _unnest_join(node, join)
    if not shown:
        return
    inner = shown[0].unalias()
    if len(shown) > 1 or _is_grouped(node):
        raise UnsupportedError(
            "UNNEST must stand alone in the SELECT of a subquery on private rows",
            "Write SELECT ... FROM (SELECT UNNEST(...) AS part FROM ...), and aggregate outside",
            span=span_of(inner),
        )
    value = _join_numbers(node, inner, inner.this)
    alias = shown[0].alias or "unnest"
    shown[0].replace(exp.alias_(value, alias, quoted=True))


def _is_split(node: exp.Expr) -> bool:
    """Return whether a node is UNNEST of the parts of a text, not of a released list."""
    is_unnest = isinstance(node, exp.Explode | exp.Unnest)
    return is_unnest and node.find(exp.Split) is not None and node.find(exp.AggFunc) is None


def _unnested(join: exp.Join) -> exp.Unnest | None:
    """Return the UNNEST of one list that is joined, if it is one."""
    relation = join.this.this if isinstance(join.this, exp.Lateral) else join.this
    is_one = isinstance(relation, exp.Unnest) and len(relation.expressions) == 1
    return relation if is_one else None


def _check_later(joins: list[exp.Join]) -> None:
    """Reject joins that keep rows without a partner: which parts there are is asked in WHERE."""
    for each in joins:
        if _unnested(each) or (each.side or "").upper() in ("RIGHT", "FULL"):
            what = "A second UNNEST" if _unnested(each) else f"{each.side.upper()} JOIN"
            raise UnsupportedError(
                f"{what} after UNNEST is not supported on private rows",
                "Write the first UNNEST in a subquery",
                span=span_of(each),
            )


def _is_grouped(node: exp.Select) -> bool:
    clauses = any(node.args.get(each) for each in ("group", "having", "qualify", "order", "limit"))
    found = (inner for each in node.expressions for inner in each.find_all(exp.AggFunc, exp.Window))
    return clauses or any(each.parent_select is node for each in found)


def _unnest_join(node: exp.Select, join: exp.Join) -> None:
    relation = join.this.this if isinstance(join.this, exp.Lateral) else join.this
    if not isinstance(relation, exp.Unnest) or not _is_split(relation):
        return
    named = join.this.args.get("alias") or relation.args.get("alias")
    columns = [] if named is None else named.args.get("columns") or []
    if join.side or join.args.get("on") is not None or named is None or len(columns) > 1:
        raise UnsupportedError(
            "This join with UNNEST is not supported on private rows",
            "Write FROM visits v, UNNEST(STRING_SPLIT(v.note, ' ')[1:5]) AS t(part)",
            span=span_of(join),
        )
    table = named.this.name if named.this is not None else ""
    column = columns[0].name if columns else "unnest"
    names = {(table.casefold(), column.casefold()), ("", column.casefold())}
    if not columns:  # DuckDB calls the column by the table's name too
        names.add(("", table.casefold()))
    value = _join_numbers(node, relation, relation.expressions[0])
    join.replace(node.args["joins"].pop())  # later joins may read it
    for each in list(node.find_all(exp.Column)):
        if (each.table.casefold(), each.name.casefold()) in names and each.parent_select is node:
            is_shown = each.parent is node and each.arg_key == "expressions"
            new = value.copy()
            each.replace(exp.alias_(new, each.name, quoted=True) if is_shown else new)


def _join_numbers(node: exp.Select, unnest: exp.Expr, parts: exp.Expr) -> exp.Expr:
    """Join the numbers of parts, keep those that a text has, and return the part of a number."""
    split, low, high = _sliced(parts, unnest)
    text, sign = split.this, split.expression
    place = exp.column(NUMBER, table=NUMBERS)
    rows = [exp.Tuple(expressions=[exp.Literal.number(n)]) for n in range(low, high + 1)]
    alias = exp.TableAlias(this=exp.to_identifier(NUMBERS), columns=[exp.to_identifier(NUMBER)])
    values = exp.Values(expressions=rows, alias=alias)
    node.append("joins", exp.Join(this=values, kind="CROSS"))
    count = exp.Length(this=exp.Split(this=text.copy(), expression=sign.copy()))
    node.where(exp.LTE(this=place.copy(), expression=count), copy=False)
    cases = [
        exp.If(
            this=exp.Literal.number(n),
            true=exp.SplitPart(
                this=text.copy(), delimiter=sign.copy(), part_index=exp.Literal.number(n)
            ),
        )
        for n in range(low, high + 1)
    ]
    return exp.Case(this=place, ifs=cases)


def _sliced(parts: exp.Expr, unnest: exp.Expr) -> tuple[exp.Split, int, int]:
    """Return the split text and which parts of it are wanted, or reject."""
    while isinstance(parts, exp.Paren):
        parts = parts.this
    inner, low, high = parts, None, None
    if isinstance(parts, exp.Bracket) and len(parts.expressions) == 1:
        piece, inner = parts.expressions[0], parts.this
        if isinstance(piece, exp.Slice):
            low, high = _number(piece.this, 1), _number(piece.args.get("expression"), None)
    elif isinstance(parts, exp.Anonymous) and parts.name.lower() == "list_slice":
        inner, first, last, *_ = (*parts.expressions, None, None, None)
        low, high = _number(first, None), _number(last, None)
    while isinstance(inner, exp.Paren):
        inner = inner.this
    is_valid = low is not None and high is not None and 1 <= low <= high < low + MOST_PARTS
    if not isinstance(inner, exp.Split) or low is None or high is None or not is_valid:
        raise UnsupportedError(
            "UNNEST makes several rows of one, so the query must limit how many",
            f"Split a text and take at most {MOST_PARTS} parts of it, such as "
            "UNNEST(STRING_SPLIT(x, ' ')[1:5])",
            span=span_of(unnest),
        )
    return inner, low, high


def _number(node: exp.Expr | None, default: int | None) -> int | None:
    if node is None:
        return default
    is_number = isinstance(node, exp.Literal) and not node.is_string and node.name.isdigit()
    return int(node.name) if is_number and len(node.name) < 6 else None
