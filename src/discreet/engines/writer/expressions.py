"""Expressions as SQL, with steps of a computation as columns of nested SELECTs.

A template that repeats its argument would double a long text at every level of nesting. So a long
argument becomes a column of its own, computed one SELECT further in, and is repeated by its name.
"""

# ruff: noqa: S608 - this file writes SQL; every name in it is quoted and every value a literal

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from discreet.catalog.schema import Kind, Value
from discreet.engines.base import SCALAR
from discreet.engines.dialect import (
    Dialect,
    FunctionTemplate,
    Written,
    integer_literal,
    literal_of,
)
from discreet.engines.heavy import HeavyTable
from discreet.engines.released import in_list
from discreet.engines.writer.sums import sum_of
from discreet.engines.writer.units import refuse_other_units
from discreet.errors import QuestionSizeError, UnsupportedError
from discreet.query.tree import (
    Call,
    Case,
    ColumnOf,
    Expression,
    InReleasedRows,
    Literal,
    Ordering,
    Relation,
    ReleasedScalar,
    UnitSemiJoin,
    Window,
    WindowFunction,
)

SHORT = 48
"""Texts up to this long are repeated as they are."""


@dataclass(slots=True)
class Stages:
    """The steps under one SELECT whose rows are called `name`."""

    name: str
    fence: str = ""
    """What follows each SELECT, so that the engine computes a step once."""
    _numbers: dict[str, int] = field(default_factory=dict)
    _levels: list[int] = field(default_factory=list)

    def column(self, text: str) -> str:
        """Return what stands for a text: a column, the same for the same text."""
        number = self._numbers.setdefault(text, len(self._numbers))
        if number == len(self._levels):
            named = map(int, re.findall(r'"__step(\d+)"', text))
            used = [self._levels[each] for each in named if each < len(self._levels)]
            self._levels.append(max(used, default=-1) + 1)
        return f'{self.name}."__step{number}"'

    @property
    def depth(self) -> int:
        """How many SELECTs the steps need."""
        return max(self._levels, default=-1) + 1

    def around(self, rows: str) -> str:
        """Return the rows with all steps as columns besides their own."""
        for level in range(self.depth):
            steps = ", ".join(
                f'{text} AS "__step{number}"'
                for text, number in self._numbers.items()
                if self._levels[number] == level
            )
            rows = f"SELECT {self.name}.*, {steps} FROM ({rows}) AS {self.name}{self.fence}"
        return rows


@dataclass(frozen=True, slots=True)
class Seen:
    """The windows of a SELECT and the columns beside them, computed one SELECT further in."""

    unit: str
    """What the unit is called there."""
    sources: frozenset[str]
    _names: dict[str, str] = field(default_factory=dict)

    def column(self, text: str) -> str:
        """Return what stands for a text outside: a column, the same for the same text."""
        name = self._names.setdefault(text, f'"__seen{len(self._names)}"')
        return f"{SEEN}.{name}"

    def columns(self) -> str:
        """Return all that is computed there, with the unit."""
        return ", ".join(
            [f"{self.unit} AS {UNIT}", *(f"{text} AS {name}" for text, name in self._names.items())]
        )

    def without(self, source: str) -> "Seen":
        """Return the same for what is asked of inner rows, whose own columns stay."""
        return Seen(self.unit, self.sources - {source}, self._names)


SEEN = '"__seen"'
"""What a SELECT of windows is called."""


UNIT = '"__unit"'
"""The column of every relation of private rows that says whose row it is."""


FRESH = '"__fresh"'
"""The column that says of a row that it came after it was seen which units are heavy."""


DEEPEST = 100
"""Expressions are nested no deeper, so that engines can read them."""


Numbers = Sequence[Value] | None
"""Noisy numbers of earlier releases; None stands for not known yet, as in an explanation."""


def column_name(name: str) -> str:
    """Return a column's name inside a statement, where names that begin with __ are ours."""
    return "_" + name if name.startswith("__") else name


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteContext:
    """Where an expression stands: how the row's unit and its ties are called there."""

    dialect: Dialect
    released: Numbers
    inner_rows: "Callable[[Relation, WriteContext, frozenset[str] | None], str]"
    """What writes the rows of an inner relation."""
    rows: Relation | None = None
    """The relation whose unit it is."""
    unit: str = UNIT
    ties: tuple[str, ...] = ()
    stages: Stages | None = None
    """Where long texts that would be repeated can be computed first, if anywhere."""
    seen: "Seen | None" = None
    """Where windows are computed first, if they cannot be computed where they stand."""
    chosen: str = ""
    """The condition that units must meet whose rows a statement reads, if not all are read."""
    chosen_beside: str = ""
    """The same for rows that are tied to such rows by their unit, if it is worth asking again."""
    heavy: HeavyTable | None = None
    """Of which table the units are heavy that are chosen, if it is one."""
    tells_fresh: bool = False
    """Whether rows come with the column that says if they are fresh."""

    def quoted(self, name: str) -> str:
        return self.dialect.quoted(name)

    def column(self, name: str) -> str:
        return self.dialect.quoted(column_name(name))

    def write(self, expression: Expression) -> str:
        """Return an expression whose NaN and infinities are NULL."""
        return self.finite(written_of(expression, self)).text

    def finite(self, written: Written) -> Written:
        """Return the expression with NaN and infinities made NULL, if it can have any."""
        if written.is_finite:
            return written
        text = self.dialect.finite(self.once(written).text)
        return replace(written, text=text, is_finite=True)

    def once(self, written: Written) -> Written:
        """Return what may be repeated: a short text, or a column that stands for a long one."""
        if self.stages is None or written.is_literal or len(written.text) <= SHORT:
            return written
        return replace(written, text=self.stages.column(written.text))


def written_of(expression: Expression, place: WriteContext) -> Written:
    """Return an expression, whose NaN and infinities are still to be made NULL."""
    done: dict[int, Written] = {}
    for part in _inside_out(expression):
        done[id(part)] = _one(part, place, done)
    return done[id(expression)]


def _inside_out(expression: Expression) -> Iterator[Expression]:
    """Yield all calls, cases and leaves, parts before wholes; what is too deep is rejected."""
    waiting = [(expression, 0, False)]
    while waiting:
        part, depth, is_open = waiting.pop()
        if is_open or not isinstance(part, Call | Case):
            yield part
            continue
        if depth > DEEPEST:
            raise QuestionSizeError(
                f"An expression is nested more than {DEEPEST} levels deep",
                "Split it into simpler ones",
            )
        waiting.append((part, depth, True))
        waiting.extend((each, depth + 1, False) for each in _children(part))


def _one(part: Expression, place: WriteContext, done: Mapping[int, Written]) -> Written:  # noqa: C901, PLR0911
    """Return an expression whose own parts are done."""
    match part:
        case ColumnOf(source=source, name=name, facts=facts, within=within):
            text = f"{place.quoted(source)}.{place.column(name)}"
            if place.seen is not None and source in place.seen.sources:
                text = place.seen.column(text)
            if facts.kind is Kind.OTHER:  # of a public table it is not read as text before
                text = place.dialect.reads.get(Kind.OTHER, "{0}").format(text)
            low, high = within or (None, None)
            return Written(text=text, kind=facts.kind, low=low, high=high)
        case Literal(value=value, facts=facts):
            return literal_of(value, facts.kind, place.dialect)
        case ReleasedScalar(number=number, facts=facts):
            if place.released is None:
                return Written(text=f"{SCALAR}{number}", kind=facts.kind, is_literal=True)
            return literal_of(place.released[number], facts.kind, place.dialect)
        case InReleasedRows(argument=argument, rows=rows):
            return _in_released(argument, rows.number, place)
        case Call():
            return _call(part, place, [done[id(each)] for each in part.arguments])
        case Case():
            return _case(part, place, done)
        case UnitSemiJoin():
            return Written(text=_unit_is_in(part, place), kind=Kind.BOOLEAN)
        case Window():
            return Written(text=_window(part, place), kind=part.facts.kind)


def _in_released(argument: Expression, number: int, place: WriteContext) -> Written:
    """Return whether a value is among rows that are not known yet: a name, or NULL, for them."""
    if place.released is None:
        text = f"({place.write(argument)} IN ({SCALAR}rows_{number}))"
        return Written(text=text, kind=Kind.BOOLEAN)
    return written_of(in_list(argument, (None,)), place)


def _call(call: Call, place: WriteContext, given: Sequence[Written]) -> Written:
    dialect = place.dialect
    function = dialect.functions.get(call.function)
    if function is None:
        raise UnsupportedError(
            f"{dialect.name} cannot compute {call.function.upper()}",
            "Write the query without it",
        )
    arguments = [
        written if number in function.carries else place.finite(written)
        for number, written in enumerate(given)
    ]
    arguments = [
        place.once(each) if is_repeated else each
        for each, is_repeated in zip(arguments, _repeated(function, arguments), strict=True)
    ]
    text = function.write(arguments)
    is_whole, is_real = call.facts.kind is Kind.INTEGER, call.facts.kind is Kind.REAL
    low, high = function.range(arguments) if is_whole else (None, None)
    span = function.span(arguments) if is_real else None
    is_sure = function.is_finite or span is not None
    return Written(
        text=text,
        kind=call.facts.kind,
        is_finite=not is_real or (is_sure and all(each.is_finite for each in arguments)),
        span=span,
        low=low,
        high=high,
        reach=function.reach(arguments) if is_real else None,
    )


def _repeated(function: FunctionTemplate, arguments: Sequence[Written]) -> list[bool]:
    """Return which arguments a function writes more than once."""
    marks = [f"\0{number}\0" for number in range(len(arguments))]
    marked = [replace(each, text=mark) for each, mark in zip(arguments, marks, strict=True)]
    text = function.write(marked)
    return [text.count(each) > 1 for each in marks]


def _case(case: Case, place: WriteContext, done: Mapping[int, Written]) -> Written:
    results = [done[id(value)] for _, value in case.branches]
    results.append(done[id(case.otherwise)])
    lows, highs = [each.low for each in results], [each.high for each in results]
    branches = "".join(
        f" WHEN {place.finite(done[id(condition)]).text} THEN {done[id(value)].text}"
        for condition, value in case.branches
    )
    return Written(
        text=f"CASE{branches} ELSE {results[-1].text} END",
        kind=case.facts.kind,
        is_finite=all(each.is_finite for each in results),
        low=None if None in lows else min(each for each in lows if each is not None),
        high=None if None in highs else max(each for each in highs if each is not None),
    )


def key_text(expression: Expression, place: WriteContext) -> str:
    """Return a key: equal ones are the same to the last bit."""
    template = place.dialect.keys.get(expression.facts.kind, "{0}")
    return template.format(place.write(expression))


def _unit_is_in(test: UnitSemiJoin, place: WriteContext) -> str:
    if place.rows is not None:
        refuse_other_units(place.rows, test.rows)
    name = place.quoted(test.name)
    seen = None if place.seen is None else place.seen.without(test.name)
    inner = replace(place, rows=test.rows, unit=f"{name}.{UNIT}", stages=None, seen=seen)
    read = columns_read([] if test.where is None else [test.where])
    chosen = place.chosen_beside
    outer = replace(place, stages=None, seen=None, chosen=chosen, tells_fresh=False)
    rows = place.inner_rows(test.rows, outer, names_of(read, test.name))
    where = "" if test.where is None else f" WHERE {inner.write(test.where)}"
    text = f"{place.unit} IN (SELECT {inner.unit} FROM ({rows}) AS {name}{where})"
    return place.dialect.semi_join.format(text)


# --------------------------------------------------------------------------- windows

RANKS = {WindowFunction.RANK, WindowFunction.DENSE_RANK}


ORDERLESS = {WindowFunction.COUNT, WindowFunction.SUM, WindowFunction.MIN, WindowFunction.MAX}


FRAMED = {*ORDERLESS, WindowFunction.FIRST_VALUE, WindowFunction.LAST_VALUE}


MOST_OFFSET = 2**31 - 1


FRAMES = {
    "running": " ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
    "whole": " ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
}


def _window(window: Window, place: WriteContext) -> str:
    """Return a window where it stands, or the column in which it is computed first."""
    seen = place.seen
    if seen is not None:
        place = replace(place, seen=None, unit=seen.unit)
    function = window.function
    partition = ", ".join([place.unit, *map(place.write, window.partition)])
    order = [_ordering(each, place) for each in window.order]
    if function not in RANKS:
        order += [each + place.dialect.nulls_last for each in place.ties]
    if function in ORDERLESS and window.frame == "whole":
        over = f"OVER (PARTITION BY {partition})"
    else:
        frame = _frame(window.frame) if function in FRAMED else ""
        over = f"OVER (PARTITION BY {partition} ORDER BY {', '.join(order or [place.unit])}{frame})"
    column = str if seen is None else seen.column
    if function is WindowFunction.COUNT and not window.arguments:
        return column(f"count(*) {over}")
    if function is WindowFunction.SUM:
        argument = window.arguments[0]
        return sum_of(
            argument, place.write(argument), place.dialect, lambda each: column(f"{each} {over}")
        )
    arguments = ", ".join(
        _offset(each, place) if number == 1 else place.write(each)
        for number, each in enumerate(window.arguments)
    )
    name = function.value
    if window.arguments:
        kind = window.arguments[0].facts.kind
        name = place.dialect.aggregates.get((name, kind), name)
    return column(f"{name}({arguments}) {over}")


def _frame(frame: str) -> str:
    known = FRAMES.get(frame)
    return known or f" ROWS BETWEEN {int(frame.split(maxsplit=1)[0])} PRECEDING AND CURRENT ROW"


def _offset(expression: Expression, place: WriteContext) -> str:
    """Return how many rows LAG and LEAD go, which engines take in 32 bits."""
    if isinstance(expression, Literal) and isinstance(expression.value, int):
        return integer_literal(max(-MOST_OFFSET, min(MOST_OFFSET, expression.value)))
    return place.write(expression)


def _ordering(ordering: Ordering, place: WriteContext) -> str:
    direction = " DESC" if ordering.descending else ""
    nulls = "FIRST" if ordering.nulls_first else "LAST"
    return f"{place.write(ordering.expression)}{direction} NULLS {nulls}"


# --------------------------------------------------------------------------- what is read


def _children(expression: Expression) -> Iterable[Expression]:
    match expression:
        case Call(arguments=arguments):
            return arguments
        case InReleasedRows(argument=argument):
            return (argument,)
        case Case(branches=branches, otherwise=otherwise):
            return (*(each for pair in branches for each in pair), otherwise)
        case UnitSemiJoin(where=where):
            return () if where is None else (where,)
        case Window(arguments=arguments, partition=partition, order=order):
            return (*arguments, *partition, *(each.expression for each in order))
        case _:
            return ()


def parts_of(expression: Expression) -> Iterator[Expression]:
    """Yield an expression and all that it is made of, also what is asked of inner rows."""
    waiting = [expression]
    while waiting:
        part = waiting.pop()
        yield part
        waiting.extend(_children(part))


def columns_read(expressions: Iterable[Expression]) -> list[tuple[str, str]]:
    """Return the columns that are read, by source and name, each once, in a fixed order."""
    return sorted(
        {
            (part.source, part.name)
            for expression in expressions
            for part in parts_of(expression)
            if isinstance(part, ColumnOf)
        }
    )


def names_of(read: Iterable[tuple[str, str]], source: str) -> frozenset[str]:
    """Return the columns that are read of one source."""
    return frozenset(name for each, name in read if each == source)
