"""`discreet attack`: known attacks on synthetic data, with and without a privacy budget."""
# ruff: noqa: PLR0913 - each argument is an option

import json
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from pathlib import Path

from discreet.attacks.defences import Discreet
from discreet.attacks.people import Make
from discreet.attacks.registry import (
    ATTACKS,
    DEFENCES,
    EPSILON_LEAST,
    EPSILON_MOST,
    Attack,
    DefenceOptions,
)
from discreet.attacks.synthesizer import synthesizer_like
from discreet.attacks.targets import KnownDefence
from discreet.attacks.trials import Outcome
from discreet.catalog import BudgetPolicy
from discreet.catalog.declaration import Declaration
from discreet.catalog.resolve import read
from discreet.cli import stop_if_interrupted
from discreet.cli.console import progress, remark, say, show
from discreet.errors import ParameterError
from discreet.parameters import nearest_name, rational
from discreet.plots import check_format

MOST_QUERIES, MOST_TRIALS, MOST_PEOPLE = 100_000, 100_000, 100_000
PERCENT = 100

OLD_DEFENCES = {"cached": "sticky"}
"""Old names that still work, with a warning."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackOptions:
    """What was typed; None leaves it to the attack."""

    attack: str
    against: str
    epsilon: Fraction | None = None
    epsilon_per_query: Fraction | None = None
    queries: int | None = None
    people: int | None = None
    trials: int | None = None
    method: str | None = None
    catalog: Path | None = None
    secret: str | None = None


def attack(
    *,
    name: str,
    against: str,
    epsilon: Fraction | None,
    epsilon_per_query: Fraction | None,
    queries: int | None,
    people: int | None,
    trials: int | None,
    method: str | None,
    catalog: Path | None,
    secret: str | None,
    plot: Path,
    is_json: bool,
) -> None:
    """Run an attack on synthetic people, print its verdict, and save a chart of it."""
    options = AttackOptions(
        attack=name,
        against=_defence_today(against),
        epsilon=epsilon,
        epsilon_per_query=epsilon_per_query,
        queries=queries,
        people=people,
        trials=trials,
        method=method,
        catalog=catalog,
        secret=secret,
    )
    chosen = ATTACKS[_known("attack", name, ATTACKS)]
    _known("against", options.against, DEFENCES)
    check_format("plot", plot)
    outcome = _run(chosen, options)
    if is_json:
        show(json.dumps(outcome.to_dict()))
    else:
        say(outcome.verdict)
    remark(f"Chart: {outcome.plot().save(plot)}")


def _defence_today(name: str) -> str:
    if name not in OLD_DEFENCES:
        return name
    remark(f"discreet: --against {name} is deprecated. Use --against {OLD_DEFENCES[name]}.")
    return OLD_DEFENCES[name]


def _run(attack: Attack, options: AttackOptions) -> Outcome:
    declared = None if options.catalog is None else read(options.catalog)
    given: dict[str, object] = {
        name: value
        for name, value in (
            ("people", _size("people", options.people, MOST_PEOPLE)),
            ("queries", _size("queries", options.queries, MOST_QUERIES)),
            ("trials", _size("trials", options.trials, MOST_TRIALS)),
            ("by", _method(attack, options)),
            ("make", _maker(attack, options, declared)),
        )
        if value is not None
    }
    defence = _defence(options, declared)
    name = f"{options.attack} against {options.against}"
    with progress(name) as advance:

        def tell(share: float) -> None:
            stop_if_interrupted()
            advance("trials", round(PERCENT * share), PERCENT)

        outcome = attack.run(defence, progress=tell, **given)
    stop_if_interrupted()
    return outcome


def _known(option: str, name: str, names: Iterable[str]) -> str:
    """Return a name that exists, or reject it with the nearest one."""
    listed = list(names)
    if name in listed:
        return name
    near = nearest_name(name, listed)
    hint = "" if near is None else f" ({near!r} is near)"
    raise ParameterError(option, name, f"must be one of {', '.join(listed)}{hint}")


def _size(option: str, value: int | None, most: int) -> int | None:
    if value is not None and not 1 <= value <= most:
        raise ParameterError(option, value, f"must be between 1 and {most:,}")
    return value


def _method(attack: Attack, options: AttackOptions) -> Enum | None:
    if options.method is None:
        return None
    if attack.ways is None:
        rule = f"must be left out: {options.attack} has only one"
        raise ParameterError("method", options.method, rule)
    return attack.ways(_known("method", options.method, [str(each.value) for each in attack.ways]))


def _maker(attack: Attack, options: AttackOptions, declared: Declaration | None) -> Make | None:
    """Return what generates people for the catalog, if one was named."""
    if declared is None:
        if options.secret is not None:
            rule = "needs a catalog: add --catalog discreet.toml"
            raise ParameterError("secret", options.secret, rule)
        return None
    if not attack.takes_catalogs:
        able = ", ".join(name for name, each in ATTACKS.items() if each.takes_catalogs)
        rule = f"must be left out for {options.attack}; {able} take one"
        raise ParameterError("catalog", str(options.catalog), rule)
    return synthesizer_like(declared, options.secret)


def _defence(options: AttackOptions, declared: Declaration | None) -> KnownDefence:
    """Return what is attacked; Discreet has the catalog's budget unless epsilon is given."""
    each = options.epsilon_per_query
    if each is not None:
        rational("epsilon-per-query", each, above=0, least=EPSILON_LEAST, most=EPSILON_MOST)
    if declared is not None and options.against == "discreet" and options.epsilon is None:
        return _as_declared(declared.budget, each)
    epsilon = Fraction(1) if options.epsilon is None else options.epsilon
    defence = DEFENCES[options.against](DefenceOptions(epsilon=epsilon, each=each))
    if (options.epsilon or each) and not hasattr(defence, "each"):
        remark(f"{options.against} has no ε: --epsilon and --epsilon-per-query have no effect.")
    return defence


def _as_declared(budget: BudgetPolicy, each: Fraction | None) -> Discreet:
    return Discreet(
        epsilon=float(budget.epsilon),
        each=DefenceOptions(epsilon=budget.epsilon, each=each).share,
        delta=budget.delta,
        neighbours=budget.neighbours,
        accounting=budget.accounting,
    )
