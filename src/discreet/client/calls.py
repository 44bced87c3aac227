"""Every call as steps that know nothing of sockets, so that both clients share them.

A function here is a generator: it yields the calls that are to be made, is sent the replies, and
returns the result. A call that may have been charged carries a key of its own, so that it can be
repeated after a lost connection: it is charged once, and its answer is not lost.
"""

import json
from collections.abc import Callable, Collection, Generator, Mapping
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from typing import Any, TypeAlias, TypeVar
from urllib.parse import quote, urlencode
from warnings import warn

import numpy as np
from pyarrow.lib import ArrowException

from discreet.account_limits import AccountLimits
from discreet.amounts import Balance
from discreet.answer import Answer
from discreet.answer.columns import Margins
from discreet.answer.series_table import SeriesTable, series_table_from_json
from discreet.answer.wire import unpacked
from discreet.catalog import Catalog
from discreet.error_codes import error_from
from discreet.errors import DiscreetError, SeriesError
from discreet.explanation import Explanation
from discreet.explanation.coverage import Coverage
from discreet.explanation.series import SeriesExplanation, series_explanation_from
from discreet.explanation.thresholds import GroupThresholdWarning, UnlikelyGroupsError
from discreet.noise import SYSTEM
from discreet.parameters import Real, fraction_from
from discreet.wire import from_wire
from discreet.written import json_from

T = TypeVar("T")

ARROW = "application/vnd.apache.arrow.stream"
WIRE = "application/vnd.discreet+json"

RETRIED = frozenset({429, 502, 503, 504})
"""Replies after which a call may be repeated."""


STILL_RUNNING = "still_running"
"""The code of a reply to a call whose query runs on: the same call gets its answer later."""


class ServerError(DiscreetError):
    """A server that cannot be reached, or whose reply cannot be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpCall:
    """A call to be made."""

    method: str
    path: str
    body: Mapping[str, Any] | None = None
    accept: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpReply:
    """What a server replied."""

    status: int
    body: bytes
    headers: Mapping[str, str]
    """By their names in small letters."""

    @property
    def code(self) -> str | None:
        """The code of the error that it reports; None if it is of a proxy."""
        try:
            return str(json.loads(self.body)["error"]["code"])
        except (ValueError, KeyError, TypeError, RecursionError):
            return None

    @property
    def is_still_running(self) -> bool:
        """Whether the query of this call runs on."""
        return self.status == 504 and self.code == STILL_RUNNING

    @property
    def is_repeatable(self) -> bool:
        """Whether the server is busy or away for now; a failure that it reports is told at once."""
        if self.status == 503 and "retry-after" not in self.headers:
            return self.code is None
        return self.status in RETRIED


Steps: TypeAlias = Generator[HttpCall, HttpReply, T]


UNSOUND = (
    *(ValueError, LookupError, TypeError),
    *(AttributeError, ArithmeticError, RecursionError),
)
"""What reading a reply raises that no server of ours sends."""


def checked(reply: HttpReply, sql: str = "") -> HttpReply:
    """Return a reply, or raise the error that it reports."""
    if reply.status < 400:
        return reply
    try:
        content = json.loads(reply.body)["error"]
        found = error_from(content, sql)
    except UNSOUND:
        what = f"The server replied with status {reply.status} and nothing readable"
        raise ServerError(what, "Check the address and what stands between you and it") from None
    raise found


def replied(call: HttpCall) -> Steps[HttpReply]:
    """Make a call, and return the reply as it is."""
    return (yield call)


def catalogs() -> Steps[list[str]]:
    """Return the catalogs that the caller may use."""
    reply = checked((yield HttpCall(method="GET", path="/v1/me")))
    try:
        return [str(each["name"]) for each in json.loads(reply.body)["catalogs"]]
    except UNSOUND:
        raise ServerError(*UNREADABLE) from None


def only_catalog(name: str | None) -> Steps[str]:
    """Return the catalog that is asked: the one that was named, or the only one."""
    names = yield from catalogs()
    if name is not None and name in names:
        return name
    if name is None and len(names) == 1:
        return names[0]
    what = "This server has several catalogs" if name is None else f"There is no catalog {name}"
    raise ServerError(what, f"Name one that you may use: {', '.join(names)}")


MarginsFrom: TypeAlias = Callable[[Steps[Margins]], Margins]
"""Makes the calls for margins at another confidence, when somebody wants them."""


def ask(path: str, sql: str, terms: Mapping[str, Any], run: MarginsFrom) -> Steps[Answer]:
    """Ask; warn before a charge for groups of which none is likely to be shown."""
    call = HttpCall(
        method="POST",
        path=f"{path}/ask",
        body={"sql": sql, **sent(terms)},
        accept=ARROW,
        headers={"Idempotency-Key": SYSTEM.draw(16).hex()},
    )
    try:
        reply = checked((yield call), sql)
    except UnlikelyGroupsError as error:
        warn(str(error), GroupThresholdWarning, stacklevel=2)
        again = {**(call.body or {}), "accept_unlikely": True}
        reply = checked((yield replace(call, body=again)), sql)
    place = f"{path}/answers/{quote(reply.headers.get('discreet-answer', ''), safe='')}/margins"
    try:
        return unpacked(reply.body, lambda *level: run(margins(place, *level)))
    except ValueError:
        raise ServerError(*UNREADABLE) from None


def margins(place: str, confidence: Fraction, simultaneous: bool) -> Steps[Margins]:
    """Return the margins of a saved answer at another confidence."""
    stated = (
        f"confidence={quote(str(confidence), safe='')}&simultaneous={str(simultaneous).lower()}"
    )
    reply = checked((yield HttpCall(method="GET", path=f"{place}?{stated}")))
    try:
        found = json.loads(reply.body)["margins"]
        return tuple(
            None if each is None else np.array(each, np.object_).astype(float) for each in found
        )
    except UNSOUND:
        raise ServerError(*UNREADABLE) from None


UNREADABLE = ("The reply of the server cannot be read", "Check that versions agree on both sides")


def explain(path: str, sql: str, terms: Mapping[str, Any]) -> Steps[Explanation]:
    """Explain a query."""
    body = {"sql": sql, **sent(terms)}
    call = HttpCall(method="POST", path=f"{path}/explain", body=body, accept=WIRE)
    return _value(checked((yield call), sql), Explanation)


def coverage(
    path: str, table: str, epsilon: Any, columns: Collection[str] | None
) -> Steps[Coverage]:
    """Measure the coverage of a table."""
    stated = {"epsilon": epsilon, "columns": None if columns is None else list(columns)}
    body = {"table": table, **sent(stated)}
    call = HttpCall(method="POST", path=f"{path}/coverage", body=body, accept=WIRE)
    return _value(checked((yield call)), Coverage)


def remaining(path: str) -> Steps[Balance]:
    """Return what is left for the caller."""
    return _value(
        checked((yield HttpCall(method="GET", path=f"{path}/budget", accept=WIRE))), Balance
    )


def remaining_by_month(path: str) -> Steps[dict[str, Balance]]:
    """Return what is left for the caller for each month; nothing if the budget is not per month."""
    reply = checked((yield HttpCall(method="GET", path=f"{path}/budget")))
    try:
        told = json.loads(reply.body)
        _balance(told["remaining"])  # every budget has it
        return {str(each["months"]): _balance(each) for each in told.get("months", ())}
    except UNSOUND:
        raise ServerError(*UNREADABLE) from None


def _balance(told: Mapping[str, Any]) -> Balance:
    """Return the balance that `Balance.to_json` wrote."""
    names = [each.name for each in fields(Balance)]
    exact = {name: told.get(f"{name}_exact") for name in names}
    return Balance(
        **{name: fraction_from(each) for name, each in exact.items() if each is not None}
    )


def limits(path: str) -> Steps[AccountLimits]:
    """Return the limits of the caller's account."""
    call = HttpCall(method="GET", path=f"{path}/limits", accept=WIRE)
    return _value(checked((yield call)), AccountLimits)


def catalog(path: str) -> Steps[Catalog]:
    """Return what may be asked about."""
    return _value(
        checked((yield HttpCall(method="GET", path=f"{path}/schema", accept=WIRE))), Catalog
    )


def all_series(path: str, confidence: Real) -> Steps[tuple[SeriesExplanation, ...]]:
    """Return what all series are like."""
    place = f"{path}/series?{urlencode(_asked(confidence=confidence))}"
    reply = checked((yield HttpCall(method="GET", path=place)))
    try:
        return tuple(map(series_explanation_from, json.loads(reply.body)["series"]))
    except UNSOUND:
        raise ServerError(*UNREADABLE) from None


def explain_series(path: str, name: str, confidence: Real) -> Steps[SeriesExplanation]:
    """Return what a series is like."""
    place = f"{_series(path, name)}/explain?{urlencode(_asked(confidence=confidence))}"
    reply = checked((yield HttpCall(method="GET", path=place)))
    try:
        return series_explanation_from(json.loads(reply.body))
    except UNSOUND:
        raise ServerError(*UNREADABLE) from None


def read_series(path: str, name: str, terms: Mapping[str, Any]) -> Steps[SeriesTable]:
    """Return released ticks of a series."""
    call = HttpCall(method="GET", path=f"{_series(path, name)}?{urlencode(_asked(**terms))}")
    reply = checked((yield call))
    try:
        return series_table_from_json(json.loads(reply.body))
    except (*UNSOUND, ArrowException):
        raise ServerError(*UNREADABLE) from None


def _asked(**terms: Any) -> dict[str, str]:
    return {name: str(each) for name, each in terms.items() if each is not None}


def _series(path: str, name: str) -> str:
    if name in {"", ".", ".."}:  # not a name in a path, but another path
        raise SeriesError(f"There is no series {name!r}", "all_series() has those that there are")
    return f"{path}/series/{quote(str(name), safe='')}"


def path_of(name: str) -> str:
    """Return the path of a catalog."""
    return f"/v1/catalogs/{quote(name, safe='')}"


def _value(reply: HttpReply, kind: type[T]) -> T:
    try:
        found = from_wire(reply.body)
    except ValueError:
        raise ServerError(*UNREADABLE) from None
    if not isinstance(found, kind):
        raise ServerError(*UNREADABLE)
    return found


def sent(terms: Mapping[str, Any]) -> dict[str, Any]:
    """Return terms as JSON has them: exact amounts as texts."""
    stated = {name: each for name, each in terms.items() if each is not None}
    parameters = {name: json_from(stated.pop(name)) for name in PARAMETERS & stated.keys()}
    return {name: _sent(each) for name, each in stated.items()} | parameters


PARAMETERS = {"parameters"}
"""Terms whose numbers are numbers, not amounts."""


def _sent(value: Any) -> Any:
    match value:
        case bool() | int() | str():
            return value
        case float():
            return repr(value)
        case Mapping():
            return {str(name): _sent(each) for name, each in value.items()}
        case list() | tuple() | set() | frozenset():
            return [_sent(each) for each in value]
        case _:
            return str(getattr(value, "value", value))
