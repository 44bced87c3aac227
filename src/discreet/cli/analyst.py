"""`discreet analyst`: who may do what and up to which cap, and what analysts asked for."""

import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path
from typing import cast

import typer

from discreet.account_limits import LIMITS, AccountLimits
from discreet.amounts import Price, amount_down, amount_up, equation
from discreet.catalog.resolve import read
from discreet.cli.console import remark, show, show_table
from discreet.cli.ledger import ledger_location, left_text
from discreet.cli.ledger_entries import (
    cap_header,
    cap_request_text,
    cap_scope,
    limits_text,
    moment_text,
    status_text,
)
from discreet.cli.options import exact
from discreet.errors import AccountError
from discreet.ledger import OWNER, Analyst, Ledger, Request, existing_ledger
from discreet.ledger import make_token as new_token
from discreet.ledger.analysts import LimitTerms
from discreet.ledger.inputs import NONE, ROLES
from discreet.opening import open_books
from discreet.parameters import nearest_name

MAY: Mapping[str, str] = {
    "reader": "may read saved answers and spends nothing",
    "owner": 'administers, and runs queries on the account "owner"',
}
"""What holders of a token may do who have no cap."""


def add_analyst(  # noqa: PLR0913 - each is an option
    *,
    name: str,
    epsilon: Fraction | None,
    delta: Fraction | None,
    role: str,
    per_query: str | None,
    per_day: str | None,
    default_epsilon: str | None,
    confirm_above: str | None,
    place: str | None,
    catalog: Path,
) -> None:
    """Declare an analyst, in place of an earlier declaration, and print a new token once."""
    cap = _cap(role, epsilon, delta)
    limits = _limits(
        per_query=per_query,
        per_day=per_day,
        default_epsilon=default_epsilon,
        confirm_above=confirm_above,
    )
    if limits and role != "analyst":
        raise typer.BadParameter(f"Limits are for analysts: the {role} is never charged.")
    token = new_token()
    with closing(open_books(catalog, ledger=place)) as found:
        known = next((each for each in found.analysts() if each.name == name), None)
        made = found.declare_analyst(
            name,
            epsilon=cap,
            delta=delta,
            token_hash=token.hash,
            scram=token.scram,
            role=ROLES[role],
            **limits,
        )
        scope = _scope(found)
    before = {each: getattr(known, each) for each in LIMITS if known and not getattr(made, each)}
    if removed := limits_text(before):
        remark(f"Limits that {name} had are removed: {removed}.")
    limit = Price(epsilon=cap, delta=delta or Fraction(0))
    may = MAY.get(role, f"may spend {limit} {scope}")
    if told := limits_text({each: getattr(made, each) for each in LIMITS}):
        may += f" ({told})"
    used = "for --token or DISCREET_TOKEN" if role == "analyst" else "for a server"
    remark(
        f"{role.capitalize()} {name} {may}. This is the access token, {used}. It is shown only "
        f"once. Give it to the {role} over a secure channel:"
    )
    show(token.text)


def _scope(ledger: Ledger) -> str:
    """Return what a cap is for: everything, or each month if the budget is per month."""
    return cap_scope(is_by_month=_is_by_month(ledger))


def _is_by_month(ledger: Ledger) -> bool:
    with ledger.view() as view:
        return view.per_month() is not None


def _cap(role: str, epsilon: Fraction | None, delta: Fraction | None) -> Fraction:
    """Return the epsilon of a role: an analyst has a cap, the others have none."""
    if role not in ROLES:
        raise typer.BadParameter("--role must be analyst, reader or owner.")
    if role != "analyst" and (epsilon is not None or delta is not None):
        raise typer.BadParameter(f"--epsilon and --delta are for analysts: the {role} has no cap.")
    if role == "analyst" and epsilon is None:
        raise typer.BadParameter("Give the analyst's cap with --epsilon.")
    return epsilon or Fraction(0)


def _limits(**given: str | None) -> LimitTerms:
    """Return the limits that were given: exact numbers, or None for those to be removed."""
    limits = {
        name: None if text.strip().lower() == NONE else exact(text)
        for name, text in given.items()
        if text is not None
    }
    return cast("LimitTerms", limits)


def limit_analyst(  # noqa: PLR0913 - each is an option
    *,
    name: str,
    per_query: str | None,
    per_day: str | None,
    default_epsilon: str | None,
    confirm_above: str | None,
    place: str | None,
    catalog: Path,
) -> None:
    """Put limits of an account in force, and print all that it has."""
    limits = _limits(
        per_query=per_query,
        per_day=per_day,
        default_epsilon=default_epsilon,
        confirm_above=confirm_above,
    )
    if not limits:
        options = ", ".join(f"--{each.replace('_', '-')}" for each in LIMITS)
        raise typer.BadParameter(f"Give a limit to change: {options}.")
    with closing(open_books(catalog, ledger=place)) as found:
        made = found.declare_limits(name, **limits)
    told = limits_text({each: getattr(made, each) for each in LIMITS})
    show(f"{name}: {told}." if told else f"{name} has no limits within the cap now.")
    if catalog.exists():
        again = {each.name: each for each in read(catalog).analysts}.get(name)
        if again is not None and any(getattr(again, each) is not None for each in limits):
            remark(
                f"The catalog {catalog} declares limits for {name} too, which apply again whenever "
                "it is opened. Change them there as well."
            )


def list_analysts(*, place: str | None, catalog: Path, is_json: bool) -> None:
    """Print the analysts as a table, or as JSON."""
    with closing(open_books(catalog, ledger=place)) as found:
        analysts, suspended = found.analysts(), found.suspended()
        lefts = [_left(found, each) for each in analysts]
        limits = {each.name: found.limits_of(each.name) for each in analysts}
        header = cap_header(is_by_month=_is_by_month(found))
    stopped = [any(suspended.values()) or each.name in suspended for each in analysts]
    if is_json:
        records = [
            {**_analyst_record(each, is_stopped), "limits": limits[each.name].to_json()}
            for each, is_stopped in zip(analysts, stopped, strict=True)
        ]
        show(json.dumps({"analysts": records}, indent=2))
        return
    if not analysts:
        show("No analysts are declared.")
        return
    show_table(
        {
            "analyst": [each.name for each in analysts],
            "role": [each.role for each in analysts],
            header: [_capped(each, amount_up(each.epsilon)) for each in analysts],
            "remaining ε": lefts,
            "cap δ": [
                _capped(each, "no separate cap" if each.delta is None else amount_up(each.delta))
                for each in analysts
            ],
            "status": [
                status_text(each.enabled, is_stopped)
                for each, is_stopped in zip(analysts, stopped, strict=True)
            ],
            **_limit_columns(analysts, limits),
        }
    )


def _limit_columns(
    analysts: Sequence[Analyst], limits: Mapping[str, AccountLimits]
) -> dict[str, list[str]]:
    """Return a column for each limit that an account has, and one for what remains today."""
    headers = {
        "per_query": "ε per query",
        "per_day": "ε per day",
        "remaining_today": "remaining today",
        "default_epsilon": "default ε",
        "confirm_above": "confirm above ε",
    }
    found = {
        header: [getattr(limits[each.name], name) for each in analysts]
        for name, header in headers.items()
    }
    return {
        header: ["" if each is None else amount_down(each) for each in amounts]
        for header, amounts in found.items()
        if any(each is not None for each in amounts)
    }


def _left(found: Ledger, analyst: Analyst) -> str:
    """Return what remains of an analyst's cap; nothing for those who have none."""
    return left_text(found.remaining(analyst.name)) if analyst.role == "analyst" else ""


def _capped(analyst: Analyst, cap: str) -> str:
    return cap if analyst.role == "analyst" else ""


def _analyst_record(analyst: Analyst, is_suspended: bool) -> dict[str, object]:
    has_cap = analyst.role == "analyst"
    return {
        "analyst": analyst.name,
        "role": analyst.role,
        "epsilon": float(analyst.epsilon) if has_cap else None,
        "delta": float(analyst.delta) if has_cap and analyst.delta is not None else None,
        "enabled": analyst.enabled,
        "suspended": is_suspended,
    }


def disable_analyst(*, name: str, place: str | None, catalog: Path) -> None:
    """Declare an analyst again, disabled."""
    with closing(open_books(catalog, ledger=place)) as found:
        known = {each.name: each for each in found.analysts()}
        if name not in known:
            near = nearest_name(name, known)
            hint = "see discreet analyst list" if near is None else f"the nearest is {near!r}"
            raise AccountError("There is no analyst with this name", hint)
        found.declare_analyst(**{**asdict(known[name]), "enabled": False})


def resume_account(*, name: str, place: str | None, catalog: Path) -> None:
    """Note in the ledger that the owner has looked at an account's incidents."""
    with closing(existing_ledger(ledger_location(place, catalog))) as found:
        found.resume(name)
    show(f"{name} can run queries again")


# --------------------------------------------------------------------------- requests


def request_cap(  # noqa: PLR0913 - each is an option
    *,
    name: str,
    epsilon: Fraction,
    reason: str,
    delta: Fraction | None,
    place: str | None,
    catalog: Path,
) -> None:
    """Write a request for a new cap to the ledger, and print its number."""
    with closing(existing_ledger(ledger_location(place, catalog))) as found:
        made = found.request_budget(name, epsilon=epsilon, delta=delta, reason=reason)
        scope = _scope(found)
    show(
        f"Request {made.number}: {name} asks for a {_wanted(made, scope)}. The data owner can "
        f"decide it with discreet analyst grant {made.number} or "
        f"discreet analyst decline {made.number}."
    )


def list_requests(*, place: str | None, catalog: Path, is_json: bool) -> None:
    """Print all requests with their states, the open ones included."""
    with closing(existing_ledger(ledger_location(place, catalog))) as found:
        requests, scope = found.requests(), _scope(found)
    if is_json:
        show(json.dumps({"requests": [request_record(each) for each in requests]}, indent=2))
    elif not requests:
        show("No requests.")
    else:
        show_table(_request_columns(requests, scope))


def grant_request(  # noqa: PLR0913 - each is an option
    *,
    number: int,
    epsilon: Fraction | None,
    delta: Fraction | None,
    reason: str,
    place: str | None,
    catalog: Path,
) -> None:
    """Note that a request is granted, and put its cap in force."""
    with closing(existing_ledger(ledger_location(place, catalog))) as found:
        decided = found.decide(
            number, granted=True, by=OWNER, reason=reason, epsilon=epsilon, delta=delta
        )
        scope = _scope(found)
    if decided.kind == "question":
        show(f"{decided.account} may run the query of request {number}.")
        return
    epsilon_text = equation("ε", amount_up(decided.granted_epsilon or Fraction(0)))
    show(f"The cap of {decided.account} is {epsilon_text} {scope} now.")
    if catalog.exists() and decided.account in {each.name for each in read(catalog).analysts}:
        remark(
            f"The catalog {catalog} declares a cap for {decided.account} too, which applies again "
            "whenever it is opened. Change it there as well."
        )


def decline_request(*, number: int, reason: str, place: str | None, catalog: Path) -> None:
    """Note that a request is declined."""
    with closing(existing_ledger(ledger_location(place, catalog))) as found:
        decided = found.decide(number, granted=False, by=OWNER, reason=reason)
    show(f"Request {number} of {decided.account} is declined.")


def _wanted(request: Request, scope: str) -> str:
    if request.kind == "question":
        return f"query at {request.price}: {_sql_of(request.question)}"
    return cap_request_text(request.epsilon or Fraction(0), request.delta, scope)


def _sql_of(question: str) -> str:
    """Return the SQL of a request that a server made, which is JSON; any other text as it is."""
    try:
        return str(json.loads(question)["sql"])
    except (ValueError, TypeError, KeyError):
        return question


def _request_columns(requests: Sequence[Request], scope: str) -> dict[str, list[str]]:
    return {
        "request": [str(each.number) for each in requests],
        "when (UTC)": [moment_text(each.written) for each in requests],
        "account": [each.account for each in requests],
        "state": [each.state for each in requests],
        "by": [each.by for each in requests],
        "asks for": [_wanted(each, scope) for each in requests],
        "reason": [each.reason for each in requests],
        "decision": [each.answer for each in requests],
    }


def request_record(request: Request) -> dict[str, object]:
    """Return a request for JSON."""
    return {
        "number": request.number,
        "written": request.written.isoformat(),
        "account": request.account,
        "kind": request.kind,
        "epsilon": _float(request.epsilon),
        "delta": _float(request.delta),
        "question": request.question or None,
        "price": request.price or None,
        "reason": request.reason,
        "state": request.state,
        "decided": None if request.decided is None else request.decided.isoformat(),
        "by": request.by or None,
        "answer": request.answer,
        "granted_epsilon": _float(request.granted_epsilon),
        "granted_delta": _float(request.granted_delta),
    }


def _float(amount: Fraction | None) -> float | None:
    return None if amount is None else float(amount)
