"""Routes for owners: analysts, requests, incidents, the ledger, the audit log."""

import asyncio
from collections.abc import Callable
from dataclasses import asdict
from typing import Annotated, Literal, TypeVar

from fastapi import APIRouter, Depends, Query
from pydantic import Field

from discreet.account_limits import LIMITS
from discreet.ledger import Analyst, Token, make_token
from discreet.ledger.inputs import check_analyst
from discreet.server.audit import logged
from discreet.server.bodies import MOST_NUMBER, Amount, Body, JsonObject, exact
from discreet.server.callers import NOWHERE, Caller
from discreet.server.faults import CallError
from discreet.server.reading import OneReading
from discreet.server.signing import caller_in

router = APIRouter(prefix="/v1/catalogs/{catalog}", tags=["owners"], route_class=OneReading)

Owner = Annotated[Caller, Depends(caller_in("owner"))]
T = TypeVar("T")
Name = Annotated[str, Field(min_length=1, max_length=200)]


class LimitsBody(Body):
    """Limits of an account, within its cap; null is no limit."""

    per_query: Annotated[Amount | None, Field(description="The most ε that one query costs")] = None
    per_day: Annotated[Amount | None, Field(description="The most ε in a day, by UTC")] = None
    default_epsilon: Annotated[
        Amount | None, Field(description="ε of a query from a SQL client that states none")
    ] = None
    confirm_above: Annotated[
        Amount | None, Field(description="An agent's query above this ε needs a confirmation")
    ] = None

    @property
    def limits(self) -> dict[str, object]:
        """The limits that the body names."""
        return {
            name: exact(getattr(self, name)) for name in LIMITS if name in self.model_fields_set
        }


class NewAnalyst(LimitsBody):
    """An account to be added."""

    name: Name
    role: Literal["reader", "analyst", "owner"] = "analyst"
    epsilon: Amount | None = None
    delta: Amount | None = None


class ChangedAnalyst(LimitsBody):
    """What is to change of an account. A limit that is null is removed."""

    epsilon: Amount | None = None
    delta: Amount | None = None
    enabled: bool | None = None
    rotate: Annotated[bool, Field(description="Make a new token and end the old one")] = False


class ResumeBody(Body):
    """An account that may ask again."""

    account: Name


class VerifyBody(Body):
    """The digest of an entry that was noted elsewhere."""

    head: Annotated[str, Field(pattern="^[0-9a-f]{64}$")] | None = None


HEAD_MISSING = CallError(
    status=409,
    code="head_missing",
    what="The ledger does not contain the entry with this digest",
    fix="Check the digest. If it is right, entries were removed or replaced: stop the server, keep "
    "the ledger for investigation, and restore a copy that contains the entry",
)


NAME_TAKEN = CallError(
    status=409,
    code="name_taken",
    what="There is an account with this name",
    fix="Use another name, or change the account: PATCH analysts/NAME",
)


@router.get("/analysts")
async def analysts(caller: Owner) -> JsonObject:
    """Return all accounts, their caps and what is left of them."""

    def listed() -> list[JsonObject]:
        return [_account(caller, each) for each in caller.site.ledger.analysts()]

    return {"analysts": await asyncio.to_thread(listed)}


@router.post("/analysts", status_code=201)
async def add_analyst(caller: Owner, body: NewAnalyst) -> JsonObject:
    """Add an account. The reply has its token, which is shown once."""

    def added() -> JsonObject:
        token = make_token()
        new = check_analyst(
            name=body.name,
            epsilon=exact(body.epsilon),
            delta=exact(body.delta),
            token_hash=token.hash,
            scram=token.scram,
            enabled=True,
            role=body.role,
            **body.limits,
        )
        made = caller.site.ledger.replace_analyst(None, new)
        if made != new:
            raise NAME_TAKEN
        return {**_account(caller, made), "token": token.text}

    return await _logged(caller, "add", body.name, added)


@router.patch("/analysts/{name:path}")
async def change_analyst(caller: Owner, name: Name, body: ChangedAnalyst) -> JsonObject:
    """Change cap or limits of an account, disable or enable it, or give it a new token."""

    def changed() -> JsonObject:
        token = make_token() if body.rotate else None
        made = new = None
        while new is None or made != new:  # somebody else may change it at the same time
            known = next(
                (each for each in caller.site.ledger.analysts() if each.name == name), None
            )
            if known is None:
                raise NOWHERE
            new = _changed(known, body, token)
            made = caller.site.ledger.replace_analyst(known, new)
        return {**_account(caller, made), **({} if token is None else {"token": token.text})}

    return await _logged(caller, "change", name, changed)


def _changed(known: Analyst, body: ChangedAnalyst, token: Token | None) -> Analyst:
    """Return an account with what is to change; what the body does not name stays."""
    changes: dict[str, object] = {
        name: exact(getattr(body, name))
        for name in ("epsilon", "delta", "enabled")
        if getattr(body, name) is not None
    }
    changes |= body.limits
    if token is not None:
        changes |= {"token_hash": token.hash, "scram": token.scram}
    return check_analyst(**(asdict(known) | changes))


@router.get("/incidents")
async def incidents(caller: Owner) -> JsonObject:
    """Return the queries that failed after they were charged, and those without an answer."""
    found = await asyncio.to_thread(caller.site.curator.incidents)
    return {
        "incidents": [
            {
                "number": each.number,
                "written": each.written.isoformat(),
                "account": each.account,
                "failure": each.failure,
                "suspends": each.suspends,
                "is_resumed": each.is_resumed,
                "about": dict(each.about),
            }
            for each in found
        ]
    }


@router.post("/resume", status_code=204)
async def resume(caller: Owner, body: ResumeBody) -> None:
    """Let an account ask again that a failure has suspended."""
    await _logged(caller, "resume", body.account, lambda: caller.site.curator.resume(body.account))


@router.post("/verify")
async def verify(caller: Owner, body: VerifyBody) -> JsonObject:
    """Check every entry of the ledger; with a head, that it is among them."""

    def verified() -> JsonObject:
        ledger = caller.site.ledger
        ledger.verify()  # with a wrong head it would answer nobody any more
        if body.head is not None and all(each.digest != body.head for each in ledger.entries()):
            raise HEAD_MISSING
        return {"is_valid": True, "head": ledger.head()}

    return await _logged(caller, "verify", "", verified)


@router.get("/audit")
async def audit(
    caller: Owner,
    before: Annotated[int | None, Query(ge=1, le=MOST_NUMBER)] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> JsonObject:
    """Return the audit log, the newest line first."""
    found = await asyncio.to_thread(lambda: caller.site.records.entries(before=before, most=limit))
    return {"entries": [each.to_json() for each in found]}


async def _logged(caller: Caller, action: str, account: str, act: Callable[[], T]) -> T:
    """Do something as an owner, and log it."""
    return await asyncio.to_thread(lambda: logged(caller, action, act, account=account))


def _account(caller: Caller, analyst: Analyst) -> JsonObject:
    told: JsonObject = {
        "name": analyst.name,
        "role": analyst.role,
        "enabled": analyst.enabled,
        "epsilon": str(analyst.epsilon),
        "delta": None if analyst.delta is None else str(analyst.delta),
    }
    if analyst.role == "analyst":
        told["remaining"] = caller.site.curator.remaining_of(analyst.name).to_json()
        told["limits"] = caller.site.curator.limits_of(analyst.name).to_json()
    return told
