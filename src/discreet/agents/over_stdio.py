"""`discreet mcp`: a client starts this process and talks to it over standard input and output."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from discreet.agents.agent_server import make_server
from discreet.agents.caller_desk import CallerDesk
from discreet.agents.ceiling import Ceiling
from discreet.agents.desk import Desk
from discreet.agents.remote_desk import RemoteDesk
from discreet.client import Remote
from discreet.errors import AccountError
from discreet.ledger import Analyst
from discreet.parameters import nearest_name
from discreet.server.admission import Turns, reading_turns
from discreet.server.asking import QueryRunner
from discreet.server.callers import Caller
from discreet.server.settings import ServerLimits, Settings
from discreet.server.sites import Site, open_site

PATIENCE = 3600
"""Seconds to wait for an answer: the client of a process of its own may wait long."""

LIMITS = ServerLimits()
SETTINGS = Settings(limits=replace(LIMITS, seconds=PATIENCE, reply_seconds=PATIENCE))


def serve_catalog(
    path: Path,
    account: Callable[[Site], Analyst],
    *,
    most: Fraction | None,
    is_read_only: bool,
) -> None:
    """Serve a catalog of this machine for an account, until the client ends."""
    site = open_site("data", path)
    try:
        found = account(site)
        caller = Caller(name=found.name, role=found.role, site=site, token_hash=found.token_hash)
        asyncio.run(_serve_caller(caller, most, is_read_only))
    finally:
        site.close()


async def _serve_caller(caller: Caller, most: Fraction | None, is_read_only: bool) -> None:
    turns = Turns(SETTINGS.limits)
    runner = QueryRunner(settings=SETTINGS, turns=turns)
    desk = CallerDesk(
        caller=caller,
        runner=runner,
        planning=Turns(SETTINGS.limits),
        reading=reading_turns(SETTINGS.limits),
        is_gone=_never,
    )
    await _serve(desk, most, is_read_only)
    turns.stop()
    await runner.finish()


def serve_remote(remote: Remote, *, most: Fraction | None, is_read_only: bool) -> None:
    """Serve the catalog of a server, until the client ends."""
    asyncio.run(_serve(RemoteDesk(remote), most, is_read_only))


async def _serve(desk: Desk, most: Fraction | None, is_read_only: bool) -> None:
    ceiling = None if most is None else Ceiling(most)
    server = make_server(lambda _: desk, ceiling=ceiling, is_read_only=is_read_only)
    await server.run_stdio_async()


async def _never() -> bool:
    return False


def account_named(name: str) -> Callable[[Site], Analyst]:
    """Return what finds an account by its name."""

    def found(site: Site) -> Analyst:
        known = {each.name: each for each in site.ledger.analysts() if each.enabled}
        if name not in known:
            near = nearest_name(name, known)
            hint = "discreet analyst add makes one" if near is None else f"The nearest is {near!r}"
            raise AccountError("There is no enabled account with this name", hint)
        return known[name]

    return found


def account_with(token: str) -> Callable[[Site], Analyst]:
    """Return what finds the account of a token."""
    return lambda site: site.ledger.holder(token)
