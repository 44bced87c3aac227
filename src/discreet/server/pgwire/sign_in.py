"""Signing in with the token of an account as the password, by SCRAM-SHA-256."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from discreet.ledger import Analyst
from discreet.noise import SYSTEM
from discreet.server.callers import Caller, caller_named
from discreet.server.faults import CallError
from discreet.server.pgwire.frames import (
    INT32,
    MOST_PASSWORD,
    FrameReader,
    ProtocolError,
    Stream,
    WireFrame,
    text,
)
from discreet.server.pgwire.scram import MECHANISM, Exchange, Keys, keys_from, keys_of_nobody
from discreet.server.pgwire.sqlstates import WireError
from discreet.server.pgwire.variables import PASSED_ON, PREFIX, is_iso, options_in
from discreet.server.signing import SignIns
from discreet.server.sites import Site

ASK_SCRAM = WireFrame(b"R", INT32.pack(10) + text(MECHANISM) + b"\0")

PROCESS = SYSTEM.draw(32).hex()
"""Stands for the key of a ledger that has none."""

WRONG = (
    "Use the account's name, and its token as the password. A token that was made before "
    "version 0.2 must be made again"
)


@dataclass(slots=True, kw_only=True)
class ClientGreeting:
    """What a client says of itself when it connects."""

    user: str
    database: str
    settings: dict[str, str]
    """Of PostgreSQL."""
    variables: dict[str, str]
    """Of Discreet."""
    unknown: tuple[str, ...] = ()
    """Extensions of the protocol that are not known here."""


def asked_in(reader: FrameReader) -> ClientGreeting:
    """Return what the first message of a client says."""
    given: dict[str, str] = {}
    while not reader.is_at_end and (name := reader.text()):
        given[name.casefold() if name != "_pq_" else name] = reader.text()
    user = given.pop("user", "")
    database = given.pop("database", "") or user
    if given.pop("replication", "false") not in ("false", "off", "no", "0"):
        raise WireError("0A000", "Replication is not supported", is_fatal=True)
    try:
        settings = {**options_in(given.pop("options", "")), **given}
    except WireError as error:
        raise WireError(error.code, error.what, error.hint, is_fatal=True) from None
    return ClientGreeting(
        user=user,
        database=database,
        settings={
            k: v for k, v in settings.items() if k in PASSED_ON and (k != "datestyle" or is_iso(v))
        },
        variables={k: v for k, v in settings.items() if k.startswith(PREFIX)},
        unknown=tuple(each for each in settings if each.startswith("_pq_.")),
    )


async def caller_of(stream: Stream, asked: ClientGreeting, host: str, sign_ins: SignIns) -> Caller:
    """Let a client prove that it holds the token of an account, and return who it is."""
    try:
        sign_ins.check_address(host)
    except CallError as error:
        raise WireError("53000", error.what, error.fix, is_fatal=True) from None
    sites = dict(sign_ins.sites)
    site, account = await asyncio.to_thread(_account, sites, asked)
    keys = await asyncio.to_thread(_keys, sites, asked, account)
    proof, caller = await _proved(stream, Exchange(keys)), None
    if proof is not None and account is not None and site is not None:
        fingerprint = site.fingerprint(account)
        caller = await asyncio.to_thread(caller_named, site, account.name, fingerprint)
    if proof is None or caller is None:
        with suppress(CallError):
            sign_ins.count_address(host)
        what = f'password authentication failed for user "{asked.user}"'
        raise WireError("28P01", what, WRONG, is_fatal=True)
    stream.write(WireFrame(b"R", INT32.pack(12) + proof))
    if caller.site.name != asked.database:
        raise _no_database(asked, await asyncio.to_thread(_names, sites, account))
    try:
        return caller.check("analyst")
    except CallError as error:
        raise WireError("42501", error.what, error.fix, is_fatal=True) from None


def _keys(sites: Mapping[str, Site], asked: ClientGreeting, account: Analyst | None) -> Keys:
    """Return the keys of an account; for one that does not exist, keys that always look alike.

    They do not depend on the database: those of an account do not either, if it is in one catalog.
    """
    if account is not None and account.scram is not None:
        return keys_from(account.scram)
    named = f"scram {asked.user}"
    return keys_of_nobody(next(iter(sites.values())).ledger.keyed(named) or PROCESS + named)


def _account(
    sites: Mapping[str, Site], asked: ClientGreeting
) -> tuple[Site | None, Analyst | None]:
    """Return the account that a client names, in the catalog that it names.

    If it is not there, it is that of any: the client must sign in before it learns more.
    """
    named = sites.get(asked.database)
    for site in [*([] if named is None else [named]), *sites.values()]:
        for each in site.ledger.analysts():
            if each.name == asked.user and each.enabled:
                return site, each
    return None, None


def _names(sites: Mapping[str, Site], account: Analyst | None) -> list[str]:
    """Return the catalogs in which an account has the same token."""
    return [
        name
        for name, site in sites.items()
        if account is not None
        and any(
            each.name == account.name and each.token_hash == account.token_hash
            for each in site.ledger.analysts()
        )
    ]


def _no_database(asked: ClientGreeting, names: list[str]) -> WireError:
    what = f'database "{asked.database}" does not exist'
    return WireError("3D000", what, f"You may use: {', '.join(names)}", is_fatal=True)


async def _proved(stream: Stream, exchange: Exchange) -> bytes | None:
    """Return the last message of SCRAM; None for somebody who does not hold the token."""
    stream.write(ASK_SCRAM)
    await stream.flush()
    first = FrameReader((await _password(stream)).body)
    if first.text() != MECHANISM:
        raise WireError("28000", f"Only {MECHANISM} is supported", is_fatal=True)
    stream.write(
        WireFrame(b"R", INT32.pack(11) + exchange.challenge(first.bytes_(first.number(INT32))))
    )
    await stream.flush()
    return exchange.verify((await _password(stream)).body)


async def _password(stream: Stream) -> WireFrame:
    frame = await stream.read(MOST_PASSWORD)
    if frame.kind != b"p":
        raise ProtocolError("A password is expected")
    return frame
