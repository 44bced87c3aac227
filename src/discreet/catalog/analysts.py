"""The declared analysts: their caps, and their limits within these."""

from collections.abc import Mapping
from fractions import Fraction

from discreet.account_limits import LIMITS
from discreet.catalog.catalog import AnalystPolicy
from discreet.catalog.entries import (
    Location,
    check_number,
    check_number_between,
    check_section,
    named_entries,
    value_text,
)

ANALYST = ("epsilon", "delta", *LIMITS)

EPSILON_LEAST, EPSILON_MOST = Fraction(1, 10**12), Fraction(10**12)
EPSILON_FIX = "Write for example epsilon = 1.0"


def analysts_from(location: Location, value: object) -> tuple[AnalystPolicy, ...]:
    """Return the analysts that a catalog declares."""
    return tuple(
        _analyst(location.at(name), name, entry)
        for name, entry in named_entries(location, value, "analyst").items()
    )


def _analyst(location: Location, name: str, value: object) -> AnalystPolicy:
    given = check_section(location, value, ANALYST)
    delta = check_delta(location.at("delta"), given["delta"]) if "delta" in given else None
    limits = {
        each: _limit(location.at(each), each, given[each]) for each in LIMITS if each in given
    }
    default, most = limits.get("default_epsilon"), limits.get("per_query")
    if default is not None and most is not None and default > most:
        raise location.at("default_epsilon").invalid(
            f"must be at most per_query, {value_text(given['per_query'])}",
            "Lower default_epsilon, or raise per_query",
        )
    return AnalystPolicy(name=name, epsilon=check_epsilon(location, given), delta=delta, **limits)


def _limit(location: Location, name: str, value: object) -> Fraction:
    least = 0 if name == "confirm_above" else EPSILON_LEAST
    return check_number_between(
        location, value, least, EPSILON_MOST, f"Write for example {name} = 0.1"
    )


def check_epsilon(location: Location, given: Mapping[str, object]) -> Fraction:
    """Return the epsilon of a budget or of a cap."""
    if "epsilon" not in given:
        raise location.at("epsilon").invalid("is missing", EPSILON_FIX)
    value = given["epsilon"]
    return check_number_between(
        location.at("epsilon"), value, EPSILON_LEAST, EPSILON_MOST, EPSILON_FIX
    )


def check_delta(location: Location, value: object) -> Fraction:
    """Return the delta of a budget or of a cap."""
    fix = "Write for example delta = 1e-6, or 0 for none"
    delta = check_number(location, value, fix)
    if not 0 <= delta < 1:
        raise location.invalid(f"must be at least 0 and less than 1, not {value_text(value)}", fix)
    return delta
