"""Single entries of a catalog, each checked and made exact, or refused by place."""

import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import TypeVar

from discreet.catalog.places import Place
from discreet.catalog.policy import nearest
from discreet.errors import ParameterError, readable, shown
from discreet.parameters import rational

BLANK = "FILL IN"
"""Stands in a drafted catalog where only the owner knows what to write."""

LARGEST = Fraction(10**300)
"""No number of a catalog is farther from 0: floats hold its square root many times over."""

QUOTIENT = r"-?[0-9]{1,500}/[1-9][0-9]{0,500}"
"""A text that is a number: "1/3", which no decimal is."""

UNSEEN = "[\x00-\x1f\x7f-\x9f\ud800-\udfff]"
"""Control characters, and halves of characters that no file can hold."""

Named = TypeVar("Named", bound=Enum)


def told(value: object) -> str:
    """Return a given value as the catalog would write it, short and on one line."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Decimal):
        text = str(value)
        return text if len(text) <= 60 else text[:57] + "..."
    if isinstance(value, date):
        return value.isoformat()
    return shown(value)


def meant(near: str) -> str:
    """Return the advice that goes with a name that is near to the one given."""
    return f"write {near!r}, if that is what was meant"


def a_number(place: Place, value: object, fix: str) -> Fraction:
    """Return the exact number that is written; a float means the decimal it prints as."""
    exact = _exact(value)
    if exact is None:
        raise place.refused(f"must be a finite number, not {told(value)}", fix)
    if abs(exact) > LARGEST or 0 < abs(exact) < 1 / LARGEST:
        raise place.refused(
            f"must be 0 or between 1e-300 and 1e300 in size, not {told(value)}", fix
        )
    return exact


def _exact(value: object) -> Fraction | None:
    if isinstance(value, Decimal) and value and abs(value.adjusted()) > 400:
        # The fraction of 1e999999999 would fill the memory; a number past the limits says as much.
        return Fraction(10) ** (400 if value.adjusted() > 0 else -400)
    if isinstance(value, str):
        return Fraction(value) if re.fullmatch(QUOTIENT, value) else None
    try:
        return rational("", value)
    except ParameterError:
        return None


def a_number_within(
    place: Place, value: object, low: Fraction | int, high: Fraction | int, fix: str
) -> Fraction:
    """Return a number from low to high, both among them."""
    exact = a_number(place, value, fix)
    if not low <= exact <= high:
        ends = f"{readable(Fraction(low))} to {readable(Fraction(high))}".replace("e+", "e")
        raise place.refused(f"must be a number from {ends}, not {told(value)}", fix)
    return exact


def a_whole_number(place: Place, value: object, low: int, high: int, fix: str) -> int:
    """Return a whole number from low to high, both among them."""
    exact = _exact(value)
    if exact is None or exact.denominator != 1 or not low <= exact <= high:
        raise place.refused(f"must be a whole number from {low} to {high}, not {told(value)}", fix)
    return int(exact)


def a_flag(place: Place, value: object) -> bool:
    """Return true or false."""
    if not isinstance(value, bool):
        raise place.refused(f"must be true or false, not {told(value)}", "write one of them")
    return value


def a_text(place: Place, value: object, fix: str) -> str:
    """Return a text that is not empty, not a blank to fill in, and can be shown."""
    if value == BLANK:
        raise place.refused("is still to be filled in", fix)
    if not isinstance(value, str) or not value.strip():
        raise place.refused(f"must be a text, not {told(value)}", fix)
    if re.search(UNSEEN, value):
        raise place.refused("has a character that cannot be shown", fix)
    return value


def a_choice(place: Place, value: object, kind: type[Named]) -> Named:
    """Return a choice by its name, or refuse it with the nearest one."""
    names = [each.value for each in kind]
    if isinstance(value, kind):
        return value
    if isinstance(value, str) and value in names:
        return kind(value)
    near = nearest(value, names) if isinstance(value, str) else None
    choices = " or ".join(f'"{name}"' for name in names)
    fix = "write one of these" if near is None else meant(near)
    raise place.refused(f"must be {choices}, not {told(value)}", fix)


def a_section(place: Place, value: object, known: Sequence[str]) -> dict[str, object]:
    """Return the entries of a table of the catalog, all of which must be known."""
    entries = a_table(place, value)
    for key in entries:
        if key not in known:
            raise place.at(key).refused("is not a known key", _instead(key, known))
    return entries


def _instead(key: str, known: Sequence[str]) -> str:
    near = nearest(key, list(known))
    there = f"the known keys there are {', '.join(known)}"
    return there if near is None else f"{meant(near)}; {there}"


def a_table(place: Place, value: object) -> dict[str, object]:
    """Return the entries of a table of the catalog, whatever their names."""
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        fix = "write it as a table: [section] and key = value lines, or { key = value }"
        raise place.refused(f"must be a table of names, not {told(value)}", fix)
    return dict(value)


def named_entries(place: Place, value: object, what: str) -> dict[str, object]:
    """Return entries by the names that the owner chose; letter case tells none apart."""
    entries = a_table(place, value)
    seen: dict[str, str] = {}
    for name in entries:
        a_text(place.at(name), name, f"give the {what} another name")
        if (other := seen.setdefault(name.casefold(), name)) != name:
            rule = f"differs from {other!r} only by letter case, which SQL does not tell apart"
            raise place.at(name).refused(rule, f"give one {what} another name")
    return entries


def a_list(place: Place, value: object, fix: str) -> tuple[object, ...]:
    """Return the items of a list."""
    if not isinstance(value, Sequence) or isinstance(value, str | bytes):
        raise place.refused(f"must be a list, not {told(value)}", fix)
    return tuple(value)


def a_time(value: object) -> date | None:
    """Return a date or timestamp that is given as such or as ISO text, else None."""
    if isinstance(value, date):
        return value
    if not isinstance(value, str) or not re.match(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", value):
        return None
    try:
        return date.fromisoformat(value) if len(value) == 10 else datetime.fromisoformat(value)
    except ValueError:
        return None
