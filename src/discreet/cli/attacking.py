"""`discreet attack`: what goes wrong without a budget, and what holds with one."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from pathlib import Path

from discreet.attacks.alike import maker_like
from discreet.attacks.arsenal import ATTACKS, DEFENCES, Attack, Terms
from discreet.attacks.defences import Discreet
from discreet.attacks.outcome import Outcome
from discreet.attacks.people import Make
from discreet.attacks.targets import KnownDefence
from discreet.catalog import BudgetPolicy
from discreet.catalog.policy import nearest
from discreet.catalog.resolve import read
from discreet.cli.interrupts import stop_if_interrupted
from discreet.cli.screen import progress, remark, show
from discreet.errors import ParameterError
from discreet.plots import check_format

MOST_QUERIES, MOST_TRIALS, MOST_PEOPLE = 100_000, 100_000, 100_000
PERCENT = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What was typed; None is left to the attack."""

    attack: str
    against: str
    epsilon: Fraction | None = None
    each: Fraction | None = None
    queries: int | None = None
    people: int | None = None
    trials: int | None = None
    by: str | None = None
    catalog: Path | None = None
    secret: str | None = None


def show_attack(asked: Asked, *, is_json: bool, picture: Path) -> None:
    """Run an attack on made-up people, print its verdict, and save a picture of it."""
    attack = ATTACKS[_known("attack", asked.attack, ATTACKS)]
    _known("against", asked.against, DEFENCES)
    check_format("plot", picture)
    outcome = _run(attack, asked)
    if is_json:
        show(json.dumps(outcome.to_dict()))
    else:
        show(outcome.verdict)
    remark(f"Picture: {outcome.plot().save(picture)}")


def _run(attack: Attack, asked: Asked) -> Outcome:
    given: dict[str, object] = {
        name: value
        for name, value in (
            ("people", _size("people", asked.people, MOST_PEOPLE)),
            ("queries", _size("queries", asked.queries, MOST_QUERIES)),
            ("trials", _size("trials", asked.trials, MOST_TRIALS)),
            ("by", _way(attack, asked)),
            ("make", _maker(attack, asked)),
        )
        if value is not None
    }
    defence = _defence(asked)
    name = f"{asked.attack} against {asked.against}"
    with progress(name) as told:

        def tell(share: float) -> None:
            stop_if_interrupted()
            told("made-up people", round(PERCENT * share), PERCENT)

        outcome = attack.run(defence, progress=tell, **given)
    stop_if_interrupted()
    return outcome


def _known(option: str, name: str, names: Iterable[str]) -> str:
    """Return a name that there is, or refuse it with the nearest one."""
    listed = list(names)
    if name in listed:
        return name
    near = nearest(name, listed)
    hint = "" if near is None else f" ({near!r} is near)"
    raise ParameterError(option, name, f"must be one of {', '.join(listed)}{hint}")


def _size(option: str, value: int | None, most: int) -> int | None:
    if value is not None and not 1 <= value <= most:
        raise ParameterError(option, value, f"must lie between 1 and {most}")
    return value


def _way(attack: Attack, asked: Asked) -> Enum | None:
    if asked.by is None:
        return None
    if attack.ways is None:
        raise ParameterError("by", asked.by, f"must be left out: {asked.attack} has one way only")
    return attack.ways(_known("by", asked.by, [str(each.value) for each in attack.ways]))


def _maker(attack: Attack, asked: Asked) -> Make | None:
    """Return what makes up people of the catalog that was named, if one was."""
    if asked.catalog is None:
        if asked.secret is not None:
            rule = "must come with a catalog: --catalog discreet.toml"
            raise ParameterError("secret", asked.secret, rule)
        return None
    if not attack.takes_catalogs:
        able = ", ".join(name for name, each in ATTACKS.items() if each.takes_catalogs)
        rule = f"must be left out for {asked.attack}; {able} take one"
        raise ParameterError("catalog", str(asked.catalog), rule)
    return maker_like(read(asked.catalog), asked.secret)


def _defence(asked: Asked) -> KnownDefence:
    """Return what is attacked; Discreet has the catalog's budget unless epsilon is given."""
    budget = None if asked.catalog is None else read(asked.catalog).budget
    if budget is not None and asked.against == "discreet" and asked.epsilon is None:
        return _as_declared(budget, asked.each)
    epsilon = Fraction(1) if asked.epsilon is None else asked.epsilon
    defence = DEFENCES[asked.against](Terms(epsilon=epsilon, each=asked.each))
    if (asked.epsilon or asked.each) and not hasattr(defence, "each"):
        remark(f"{asked.against} has no ε: --epsilon and --each change nothing.")
    return defence


def _as_declared(budget: BudgetPolicy, each: Fraction | None) -> Discreet:
    return Discreet(
        epsilon=float(budget.epsilon),
        each=Terms(epsilon=budget.epsilon, each=each).share,
        delta=budget.delta,
        neighbours=budget.neighbours,
        accounting=budget.accounting,
    )
