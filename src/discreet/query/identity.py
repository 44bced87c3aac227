"""What a release means, as a text that is the same for all that mean the same.

What a question calls things does not matter: relations are named by their place, columns by what
they are, and conditions that all must hold are sorted. What the code calls things does not matter
either: classes, fields and members have their written names in `query.stored_names`.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from hashlib import sha256

from discreet.query.questions import Aggregate, Aggregation, DeclaredGroups, Groups
from discreet.query.stored_names import MEMBERS, MOMENTS, PLAIN, operation_name, stored_record
from discreet.query.tree import (
    Call,
    Case,
    ColumnOf,
    ConstantRows,
    Expression,
    GroupByUnit,
    InReleasedRows,
    Join,
    Literal,
    PublicRelation,
    PublicScan,
    Relation,
    ReleasedRows,
    ReleasedScalar,
    Scan,
    Select,
    UnionAll,
    UnitSemiJoin,
    Window,
)
from discreet.query.walk import Remembered

COMMUTATIVE = {"and", "or"}
"""Functions whose arguments may stand in any order."""


class CanonicalRelease:
    """What a release means, whatever part of its aggregates is asked about."""

    def __init__(
        self,
        release: Aggregation,
        numbers: Mapping[int, str],
        tables: Mapping[int, str] | None = None,
    ) -> None:
        view = _View(numbers, tables or {})
        self._rows, columns = view.rows(release.rows)
        self._inner = view.inside({release.name: ("r", columns)})
        self._keys = [self._inner.expression(each.expression) for each in release.keys]
        limits = (release.contribution_limit, release.one_row_per_unit)
        self._decided = _tuple_text((*map(identity_text, limits), _groups_text(release.groups)))
        if release.group_limit is not None:
            self._decided += f"groups_per_unit={identity_text(release.group_limit.most)}"

    def text(self, aggregates: Iterable[Aggregate]) -> str:
        """Return the text of the release with these aggregates in place of its own."""
        told = [self._inner.aggregate(each) for each in aggregates]
        return f"release({self._rows};{self._keys};{told};{self._decided})"


def canonical_release(release: Aggregation, numbers: Mapping[int, str]) -> str:
    """Return the text of a release, the same for all that mean the same."""
    return CanonicalRelease(release, numbers).text(release.aggregates)


def canonical_aggregate(aggregate: Aggregate, name: str) -> str:
    """Return the text of an aggregate over rows of this name, to sort by."""
    return _View({}, {}).inside({name: ("r", {})}).aggregate(aggregate)


def digest_of(text: str) -> str:
    """Return a short text that stands for a long one."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _scanned(scan: Scan) -> str:
    return digest_of(identity_text(scan))


_scan_text = Remembered(_scanned)
"""Questions that were checked before have the same scans and groups again."""


def _groups_text(groups: Groups) -> str:
    return _listed(groups) if isinstance(groups, DeclaredGroups) else identity_text(groups)


def _listed_groups(groups: DeclaredGroups) -> str:
    return identity_text(groups)


_listed = Remembered(_listed_groups)


Columns = dict[str, str]
"""What each column of a relation is, by the name that the relation gives it."""


@dataclass(frozen=True, slots=True)
class _View:
    """What names mean at one place of the tree."""

    numbers: Mapping[int, str]
    tables: Mapping[int, str]
    relations: Mapping[str, tuple[str, Columns]] = field(default_factory=dict)
    depth: int = 0
    """Of EXISTS inside EXISTS: each has rows of its own."""

    def inside(
        self, relations: Mapping[str, tuple[str, Columns]], *, depth: int | None = None
    ) -> "_View":
        level = self.depth if depth is None else depth
        return _View(self.numbers, self.tables, {**self.relations, **relations}, level)

    # ----------------------------------------------------------------------- rows

    def rows(self, rows: Relation | PublicRelation) -> tuple[str, Columns]:  # noqa: PLR0911
        """Return a relation's text, and what its columns are."""
        match rows:
            case Scan():
                return _scan_text(rows), {}
            case PublicScan():
                return f"public({rows.table.casefold()!r})", {}
            case ConstantRows():
                kinds = tuple(each.kind for each in rows.columns)
                return f"constants({digest_of(identity_text((kinds, rows.rows)))})", _places(rows)
            case ReleasedRows():
                return f"released rows({self.table(rows)})", _places(rows)
            case Select():
                return self._select(rows)
            case GroupByUnit():
                return self._per_unit(rows)
            case UnionAll():
                parts = [self.rows(each) for each in rows.parts]
                return f"union({[text for text, _ in parts]})", _united(rows, parts)

    def table(self, rows: ReleasedRows) -> str:
        """Return what released rows are, by the releases that they are made of."""
        return f"{self.tables.get(rows.number, rows.number)};{rows.key}"

    def _select(self, select: Select) -> tuple[str, Columns]:
        source, columns = self.rows(select.source)
        known = {select.name: ("t0", columns)}
        texts = []
        for number, join in enumerate(select.joins, start=1):
            text, found = self.rows(join.source)
            known[join.name] = (f"t{number}", found)
            texts.append((text, join))
        inner = self.inside(known)
        joins = [inner.join(text, join) for text, join in texts]
        where = "" if select.where is None else inner.expression(select.where)
        only = "" if select.qualify is None else inner.expression(select.qualify)
        shown = {each.name: inner.expression(each.expression) for each in select.columns}
        return digest_of(f"select({source};{joins};{where};{only})"), shown

    def join(self, text: str, join: Join) -> str:
        return f"{operation_name(join.kind)}({text};{self.expression(join.on)})"

    def _per_unit(self, rows: GroupByUnit) -> tuple[str, Columns]:
        source, columns = self.rows(rows.source)
        inner = self.inside({rows.name: ("g", columns)})
        keys = {each.name: inner.expression(each.expression) for each in rows.keys}
        made = {
            each.name: digest_of(f"{operation_name(each.function)}({inner.maybe(each.argument)})")
            for each in rows.aggregates
        }
        return digest_of(f"per unit({source};{sorted(keys.values())})"), {**keys, **made}

    # ----------------------------------------------------------------------- expressions

    def aggregate(self, aggregate: Aggregate) -> str:
        told = identity_text((aggregate.fraction, aggregate.discrete))
        second = "" if aggregate.second is None else f";{self.expression(aggregate.second)}"
        argument = self.maybe(aggregate.argument)
        return f"{operation_name(aggregate.statistic)}({argument};{told}{second})"

    def maybe(self, expression: Expression | None) -> str:
        return "" if expression is None else self.expression(expression)

    def expression(self, expression: Expression) -> str:
        """Return an expression's text; long ones are shortened to a digest."""
        text = self._expression(expression)
        return text if len(text) <= 80 else digest_of(text)

    def _expression(self, expression: Expression) -> str:  # noqa: PLR0911 - one for each kind
        match expression:
            case ColumnOf(source=source, name=name):
                label, columns = self.relations.get(source, (source, {}))
                return f"{label}.{columns.get(name, repr(name.casefold()))}"
            case Literal(value=value):
                return identity_text(value)
            case ReleasedScalar(number=number):
                return f"released({self.numbers.get(number, number)})"
            case InReleasedRows(argument=argument, rows=rows):
                return f"in released rows({self.expression(argument)};{self.table(rows)})"
            case Call(function=function, arguments=arguments):
                parts = [self.expression(each) for each in arguments]
                told = sorted(set(parts)) if function in COMMUTATIVE else parts
                return f"{function}({','.join(told)})"
            case Case(branches=branches, otherwise=otherwise):
                pairs = [tuple(map(self.expression, pair)) for pair in branches]
                return f"case({pairs};{self.expression(otherwise)})"
            case UnitSemiJoin():
                return self._unit_is_in(expression)
            case Window():
                return self._window(expression)

    def _unit_is_in(self, expression: UnitSemiJoin) -> str:
        rows, columns = self.rows(expression.rows)
        inner = self.inside({expression.name: (f"e{self.depth}", columns)}, depth=self.depth + 1)
        return f"unit is in({rows};{inner.maybe(expression.where)})"

    def _window(self, window: Window) -> str:
        order = [
            (self.expression(each.expression), each.descending, each.nulls_first)
            for each in window.order
        ]
        arguments = list(map(self.expression, window.arguments))
        partition = sorted(map(self.expression, window.partition))
        return f"{operation_name(window.function)}({arguments};{partition};{order};{window.frame})"


def _places(rows: ConstantRows | ReleasedRows) -> Columns:
    """Return what the columns of listed rows are: their places, whatever they are called."""
    return {each.name: f"column {place}" for place, each in enumerate(rows.columns)}


def _united(rows: UnionAll, parts: list[tuple[str, Columns]]) -> Columns:
    """Return what the columns of a union are: those of its parts, place by place."""
    names = [_names(each, found) for each, (_, found) in zip(rows.parts, parts, strict=True)]
    return {
        names[0][place][0]: digest_of(f"united({[each[place][1] for each in names]})")
        for place in range(min(map(len, names)))
    }


def _names(rows: Relation, found: Columns) -> list[tuple[str, str]]:
    if isinstance(rows, Scan):
        return [(each.name, repr(each.name.casefold())) for each in rows.table.columns]
    return list(found.items())


def identity_text(value: object) -> str:
    """Return a text that no other value has."""
    parts: list[str] = []
    _write(value, parts.append)
    return "".join(parts)


def _tuple_text(parts: Iterable[str]) -> str:
    """Return the text of a tuple by those of what it holds."""
    return f"({''.join(parts)})"


Add = Callable[[str], None]


def _write(value: object, add: Add) -> None:
    kind = type(value)
    if kind is tuple:
        add("(")
        for each in value:  # type: ignore[attr-defined] # it is a tuple
            _write(each, add)
        add(")")
    elif kind in PLAIN:
        add(_plain(PLAIN[kind], repr(value)))
    elif isinstance(value, Enum) and value in MEMBERS:
        add(f"{MEMBERS[value]};")
    elif isinstance(value, date) and kind in MOMENTS:
        add(f"{MOMENTS[kind]}:{value.isoformat()};")
    elif isinstance(value, VALUES) and not kind.__module__.startswith(OURS):
        add(_of_others(value))
    else:
        _write_record(value, add)


def _write_record(value: object, add: Add) -> None:
    kind: type = type(value)
    record = stored_record(kind)
    add(f"{record.name}(")
    for name, told in record.fields.items():
        add(f"{told}=")
        _write(getattr(value, name), add)
    for name, (told, default) in record.added.items():
        if getattr(value, name) != default:
            add(f"{told}=")
            _write(getattr(value, name), add)
    add(")")


OURS = "discreet."
"""How the names of this package's modules begin."""


VALUES = (str, int, float, Decimal, Fraction, date)
"""What values of lists and keys are, or are derived from."""


def _of_others(value: object) -> str:
    """Return a declared value of a class that another package derived from a plain one.

    Pandas' timestamps and texts of an owner's own enumeration are called as their makers call them.
    """
    name = type(value).__name__
    match value:
        case Enum():
            return f"{name}.{value.name};"
        case date():
            return f"{name}:{value.isoformat()};"
        case _:
            return _plain(name, repr(value))


def _plain(kind: str, text: str) -> str:
    return f"{kind}:{len(text)}:{text};"
