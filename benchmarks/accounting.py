"""What compositions cost and how long it takes to say so, next to dp-accounting."""

import sys
from collections.abc import Callable, Mapping
from fractions import Fraction
from json import loads

from benchmarks.compositions import WORKLOADS, Part, Workload
from benchmarks.environments import DP_ACCOUNTING, PeerError, lines_from_peer
from benchmarks.pricing import Pricing, make_pricing, times_faster
from benchmarks.report import Figure, Report, Say, Table
from discreet.accounting import (
    DiscreteLaplaceEvent,
    Event,
    GaussianEvent,
    LaplaceEvent,
    compose,
    epsilon_from_rdp,
    pld_epsilon,
)

Found = Mapping[tuple[str, str], Pricing]
"""Pricings by workload and accountant."""

ACCOUNTANTS: Mapping[str, Callable[[list[Event], Fraction], float]] = {
    "compose": lambda events, delta: float(compose(events, delta).epsilon),
    "PLD": pld_epsilon,
    "RDP": epsilon_from_rdp,
}
RIVALS = {"compose": "PLD", "PLD": "PLD", "RDP": "RDP"}
"""Which of the peer's accountants each of ours is held against."""


def run(say: Say) -> Report:
    """Price every workload by every accountant, ours and the peer's."""
    theirs, trouble = _their_pricings(say)
    ours = _our_pricings(say)
    return Report(
        name="accounting",
        tables=[_table(accountant, ours, theirs, trouble) for accountant in ACCOUNTANTS],
    )


def _our_pricings(say: Say) -> Found:
    found = {}
    for workload in WORKLOADS:
        for name in ACCOUNTANTS:
            say(f"discreet, {name}: {workload.name}")
            found[workload.name, name] = make_pricing(workload, name, _price(workload, name))
    return found


def _their_pricings(say: Say) -> tuple[Found, str | None]:
    say(f"{DP_ACCOUNTING.name}: its environment")
    found = {}
    try:
        for line in lines_from_peer(DP_ACCOUNTING):
            pricing = Pricing(**loads(line))
            found[pricing.workload, pricing.accountant] = pricing
            say(f"{DP_ACCOUNTING.name}, {pricing.accountant}: {pricing.workload}")
    except PeerError as trouble:
        return found, str(trouble)
    return found, None


def _price(workload: Workload, accountant: str) -> Callable[[], float]:
    events = _events(workload)
    caches = _caches()

    def price() -> float:
        for clear in caches:
            clear()
        return ACCOUNTANTS[accountant](events, workload.delta)

    return price


def _caches() -> list[Callable[[], None]]:
    """Return what empties each cache of the accountants: no run may live off the one before."""
    return [
        value.cache_clear
        for name, module in sys.modules.items()
        if name.startswith("discreet.accounting")
        for value in vars(module).values()
        if hasattr(value, "cache_clear")
    ]


def _events(workload: Workload) -> list[Event]:
    return [_event(part) for part in workload.parts]


def _event(part: Part) -> Event:
    match part.law:
        case "gaussian":
            event: Event = GaussianEvent(noise_multiplier=part.parameter)
        case "laplace":
            event = LaplaceEvent(sensitivity=Fraction(1), scale=1 / part.parameter)
        case _:
            event = DiscreteLaplaceEvent(sensitivity=1, scale=1 / part.parameter)
    return event * part.count


def _table(accountant: str, ours: Found, theirs: Found, trouble: str | None) -> Table:
    peer = f"{DP_ACCOUNTING.name} {RIVALS[accountant]}"
    heads = f"{accountant} ε", f"{peer} ε", f"{accountant} ms", f"{peer} ms"
    notes = ["(r×): discreet is r times as fast."]
    if accountant == "compose":
        notes.append(f"The least epsilon was proved by: {_provers()}.")
    return Table(
        title=f"Accounting by {accountant}: epsilon and CPU milliseconds",
        columns=("workload", "delta", *heads),
        rows=[_row(workload, accountant, ours, theirs) for workload in WORKLOADS],
        notes=[*notes, *([trouble] if trouble else ())],
    )


def _provers() -> str:
    provers = (compose(_events(each), each.delta).accountant for each in WORKLOADS)
    return ", ".join(provers)


def _row(workload: Workload, accountant: str, ours: Found, theirs: Found) -> list[str | Figure]:
    our, their = ours[workload.name, accountant], theirs.get((workload.name, RIVALS[accountant]))
    return [
        workload.name,
        f"{float(workload.delta):.0e}",
        _epsilon(our),
        _epsilon(their),
        Figure(our.seconds * 1e3),
        _milliseconds(our, their),
    ]


def _epsilon(pricing: Pricing | None) -> str | Figure:
    if pricing is None:
        return "see below"
    return "refused" if pricing.epsilon is None else Figure(pricing.epsilon, digits=6)


def _milliseconds(ours: Pricing, theirs: Pricing | None) -> str | Figure:
    if theirs is None:
        return "see below"
    if theirs.epsilon is None:
        return "–"
    return Figure(theirs.seconds * 1e3, times_faster(ours, theirs))
