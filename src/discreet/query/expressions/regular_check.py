"""Decides whether a regular expression has one way to match, by its automaton of positions."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import combinations, product

from discreet.query.expressions.regular import (
    Alternation,
    Characters,
    Concatenation,
    Group,
    Node,
    Pattern,
    PatternError,
    Reader,
    Repetition,
    is_empty,
    is_inside,
    meet,
)

MOST_POSITIONS = 400


MOST_FREE = 4


def read_pattern(text: str, *, ignores_case: bool = False, is_condition: bool = True) -> Pattern:
    """Return a regular expression that has one way to match at a place, or raise an error.

    For a condition it does not matter which of several texts is found.
    """
    found = Reader(text, ignores_case=ignores_case).pattern()
    body = factored(found.body, is_condition=is_condition)
    if is_condition:
        body = _without_captures(body)
        found = replace(found, groups=0)
    found = replace(found, body=_freed(body))
    _check(found.body, is_condition=is_condition)
    _check_captures(found.body, inside=False)
    for way in _ways(found.body):
        _check_way(way)
    return found


# --------------------------------------------------------------------------- common beginnings


def factored(node: Node, *, is_condition: bool) -> Node:
    """Return alternatives that begin alike as one with the beginning before it."""
    match node:
        case Concatenation(parts=parts):
            return _joined([factored(each, is_condition=is_condition) for each in parts])
        case Repetition(body=body):
            return replace(node, body=factored(body, is_condition=is_condition))
        case Group(body=body):
            return replace(node, body=factored(body, is_condition=is_condition))
        case Alternation(branches=branches):
            lists = [_parts(factored(each, is_condition=is_condition)) for each in branches]
            return _alternatives(lists, is_condition=is_condition)
        case _:
            return node


def _parts(node: Node) -> list[Node]:
    return list(node.parts) if isinstance(node, Concatenation) else [node]


def _joined(parts: list[Node]) -> Node:
    flat = [inner for each in parts for inner in _parts(each)]
    return flat[0] if len(flat) == 1 else Concatenation(parts=tuple(flat))


def _alternatives(branches: list[list[Node]], *, is_condition: bool) -> Node:
    """Return branches, those next to each other that begin with the same character together."""
    runs: list[list[list[Node]]] = []
    for each in branches:
        if runs and _begin_alike(runs[-1][0], each):
            runs[-1].append(each)
        else:
            runs.append([each])
    made = [
        _joined(run[0]) if len(run) == 1 else _together(run, is_condition=is_condition)
        for run in runs
    ]
    return made[0] if len(made) == 1 else Alternation(branches=tuple(made))


def _begin_alike(a: list[Node], b: list[Node]) -> bool:
    first, second = a[0], b[0]
    are_plain = isinstance(first, Characters) and isinstance(second, Characters)
    return are_plain and first.ranges == second.ranges  # type: ignore[union-attr]


def _together(run: list[list[Node]], *, is_condition: bool) -> Node:
    rests = [each[1:] for each in run]
    longer = [each for each in rests if each]
    if len(longer) < len(rests) and not is_condition:
        place = next(_characters(run[0][0])).place
        raise PatternError(
            "has an alternative that is the beginning of another",
            place,
            "Write the longer end as optional, such as flu(?:id)?",
        )
    if not longer:
        return run[0][0]
    inner = _alternatives(longer, is_condition=is_condition)
    if len(longer) < len(rests):
        inner = inner if is_empty(inner) else Repetition(body=inner, low=0, high=1)
    return _joined([run[0][0], inner])


def _characters(node: Node) -> Iterator[Characters]:
    match node:
        case Characters():
            yield node
        case Concatenation(parts=parts):
            for each in parts:
                yield from _characters(each)
        case Alternation(branches=branches):
            for each in branches:
                yield from _characters(each)
        case Repetition(body=body) | Group(body=body):
            yield from _characters(body)


def _without_captures(node: Node) -> Node:
    match node:
        case Concatenation(parts=parts):
            return _joined([_without_captures(each) for each in parts])
        case Alternation(branches=branches):
            return replace(node, branches=tuple(map(_without_captures, branches)))
        case Repetition(body=body):
            return replace(node, body=_without_captures(body))
        case Group(body=body):
            return _without_captures(body)
        case _:
            return node


# --------------------------------------------------------------------------- what is accepted


def _check(node: Node, *, is_condition: bool) -> None:
    match node:
        case Alternation(branches=branches):
            for each in branches:
                _check(each, is_condition=is_condition)
                if is_empty(each):
                    raise PatternError(
                        "has an alternative that can be empty",
                        next(_characters(each)).place,
                        "Write + instead of *, and ? behind the bracket",
                    )
        case Concatenation(parts=parts):
            for each in parts:
                _check(each, is_condition=is_condition)
        case Repetition(body=body) | Group(body=body):
            _check(body, is_condition=is_condition)


def _check_captures(node: Node, *, inside: bool) -> None:
    """Reject a captured part that is repeated: engines differ in which time they remember."""
    match node:
        case Group(body=body):
            if inside:
                raise PatternError(
                    "captures a part that is repeated",
                    next(_characters(body)).place,
                    "Write (?:...) for it, and a bracket around all of the repetition",
                )
            _check_captures(body, inside=inside)
        case Repetition(body=body, high=high):
            _check_captures(body, inside=inside or high != 1)
        case Concatenation(parts=parts):
            for each in parts:
                _check_captures(each, inside=inside)
        case Alternation(branches=branches):
            for each in branches:
                _check_captures(each, inside=inside)


# --------------------------------------------------------------------------- optional texts


def _freed(node: Node) -> Node:
    """Return the tree in which an optional text before a repeated class that has it is free.

    Read or not, the class goes on to the same place: `(?:www)?[^/]+` ends before the same /.
    """
    match node:
        case Group(body=body):
            return replace(node, body=_freed(body))
        case Repetition(body=body):
            return replace(node, body=_freed(body))
        case Alternation(branches=branches):
            return replace(node, branches=tuple(map(_freed, branches)))
        case Concatenation(parts=parts):
            following = (*parts[1:], None)
            found = [
                replace(each, is_free=True)
                if isinstance(each, Repetition) and _is_free(each, then)
                else _freed(each)
                for each, then in zip(parts, following, strict=True)
            ]
            return replace(node, parts=tuple(found))
        case _:
            return node


def _is_free(part: Repetition, then: Node | None) -> bool:
    while isinstance(then, Group):
        then = then.body
    is_loop = isinstance(then, Repetition) and then.high is None
    signs = _parts(part.body)
    if not is_loop or not isinstance(then, Repetition) or (part.low, part.high) != (0, 1):
        return False
    loop = then.body
    return isinstance(loop, Characters) and all(
        isinstance(each, Characters) and is_inside(each.ranges, loop.ranges) for each in signs
    )


def _ways(node: Node) -> Iterator[Node]:
    """Yield the tree with each free part taken or left out, in all combinations."""
    free = _count_free(node)
    if free > MOST_FREE:
        raise PatternError("has too many optional parts", 1, f"Use at most {MOST_FREE}")
    for chosen in product((True, False), repeat=free):
        yield _chosen(node, iter(chosen)) or node


def _count_free(node: Node) -> int:
    match node:
        case Concatenation(parts=parts):
            return sum(map(_count_free, parts))
        case Alternation(branches=branches):
            return sum(map(_count_free, branches))
        case Repetition(body=body, is_free=is_free):
            return is_free + _count_free(body)
        case Group(body=body):
            return _count_free(body)
        case _:
            return 0


def _chosen(node: Node, taken: Iterator[bool]) -> Node | None:
    match node:
        case Concatenation(parts=parts):
            found = [_chosen(each, taken) for each in parts]
            return Concatenation(parts=tuple(each for each in found if each is not None))
        case Alternation(branches=branches):
            made = [_chosen(each, taken) for each in branches]
            return Alternation(branches=tuple(each for each in made if each is not None))
        case Repetition(body=body, is_free=True):
            return body if next(taken) else None
        case Repetition(body=body):
            return replace(node, body=_chosen(body, taken) or body)
        case Group(body=body):
            return replace(node, body=_chosen(body, taken) or body)
        case _:
            return node


# --------------------------------------------------------------------------- one way


@dataclass(frozen=True, slots=True, kw_only=True)
class Automaton:
    """The positions of an expression: characters that may come first, last, and behind others."""

    signs: list[Characters] = field(default_factory=list)
    behind: list[set[int]] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ends:
    """Where a part begins and ends."""

    first: frozenset[int]
    last: frozenset[int]
    is_empty: bool


NOTHING = Ends(first=frozenset(), last=frozenset(), is_empty=True)


def _check_way(node: Node) -> None:
    automaton = Automaton()
    whole = _ends(node, automaton)
    for places in (whole.first, *automaton.behind):
        for a, b in combinations(sorted(places), 2):
            one, other = automaton.signs[a], automaton.signs[b]
            if meet(one.ranges, other.ranges):
                raise PatternError(
                    f"can go on in two ways, because the part that ends at position {other.place} "
                    "can begin with the same character",
                    one.place,
                    "Write a class without that character, such as [^/]* instead of .*. Or use "
                    "LIKE, CONTAINS or SPLIT_PART",
                )


def _ends(node: Node, automaton: Automaton) -> Ends:
    match node:
        case Characters():
            automaton.signs.append(node)
            automaton.behind.append(set())
            if len(automaton.signs) > MOST_POSITIONS:
                raise PatternError("is too large", node.place, "Repeat parts less often")
            here = frozenset({len(automaton.signs) - 1})
            return Ends(first=here, last=here, is_empty=False)
        case Group(body=body):
            return _ends(body, automaton)
        case Alternation(branches=branches):
            ends = [_ends(each, automaton) for each in branches]
            return Ends(
                first=frozenset().union(*(each.first for each in ends)),
                last=frozenset().union(*(each.last for each in ends)),
                is_empty=any(each.is_empty for each in ends),
            )
        case Concatenation(parts=parts):
            return _in_turn([_ends(each, automaton) for each in parts], automaton)
        case Repetition(body=body, low=low, high=high):
            return _repeated(body, low, high, automaton)


def _in_turn(ends: list[Ends], automaton: Automaton) -> Ends:
    found = NOTHING
    for each in ends:
        for place in found.last:
            automaton.behind[place] |= each.first
        found = Ends(
            first=found.first | each.first if found.is_empty else found.first,
            last=found.last | each.last if each.is_empty else each.last,
            is_empty=found.is_empty and each.is_empty,
        )
    return found


def _repeated(body: Node, low: int, high: int | None, automaton: Automaton) -> Ends:
    before = [_ends(body, automaton) for _ in range(max(low - 1, 0) if high is None else low)]
    if high is None:
        loop = _ends(body, automaton)
        for place in loop.last:
            automaton.behind[place] |= loop.first
        return _in_turn([*before, replace(loop, is_empty=low == 0)], automaton)
    more = NOTHING
    for _ in range(high - low):  # from the inside out: x(x(x)?)?
        outer = _ends(body, automaton)
        more = replace(_in_turn([outer, more], automaton), is_empty=True)
    return _in_turn([*before, more], automaton)
