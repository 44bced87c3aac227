"""When two releases are the same: then they are paid for once, whatever is made of them."""

from dataclasses import dataclass
from json import dumps

from discreet.accounting.events import record_from_event
from discreet.catalog.catalog import BudgetPolicy
from discreet.query.identity import CanonicalRelease, digest_of, identity_text
from discreet.query.plan.plan import PlannedRelease
from discreet.query.questions import Aggregate, Aggregation, Question, ScalarQuery

FORM = "1"
"""Changes when released tables are made or kept in another way, so that none is misread."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """What a release shares with others, each as a digest."""

    whole: str
    """With those, and only those, that release the same at the same price."""
    base: str
    """With all that are about the same rows and groups."""
    aggregates: tuple[str, ...]
    """For each aggregate, with those, and only those, that mean the same."""


def identities_of(
    question: Question, releases: tuple[PlannedRelease, ...], policy: BudgetPolicy
) -> tuple[Identity, ...]:
    """Return what each release shares with others.

    The price and the noise are part of it, and so are earlier releases whose numbers it uses.
    """
    found: list[Identity] = []
    for planned in releases:
        release = planned.aggregation
        wholes = [each.whole for each in found]
        numbers = {
            each.number: _scalar(each, wholes)
            for each in question.scalars
            if all(need < len(found) for need in each.needs)
        }
        plain = CanonicalRelease(release, {})
        own = CanonicalRelease(release, numbers) if numbers else plain
        told = (
            FORM,
            own.text(release.aggregates),
            _ranges(release),
            dumps([record_from_event(each) for each in planned.events], sort_keys=True),
            identity_text((planned.neighbours, policy.accounting)),
        )
        found.append(
            Identity(
                whole=digest_of("|".join(told)),
                base=digest_of(plain.text(())),
                aggregates=tuple(_meaning(plain, each) for each in release.aggregates),
            )
        )
    return tuple(found)


def meanings_of(release: Aggregation) -> tuple[str, ...]:
    """Return for each aggregate what it shares with those, and only those, that mean the same."""
    plain = CanonicalRelease(release, {})
    return tuple(_meaning(plain, each) for each in release.aggregates)


def _meaning(plain: CanonicalRelease, aggregate: Aggregate) -> str:
    facts = () if aggregate.argument is None else aggregate.argument.facts
    return digest_of(f"{plain.text((aggregate,))}|{identity_text(facts)}")[:32]


def _scalar(scalar: ScalarQuery, found: list[str]) -> str:
    return digest_of(f"{scalar.sql}|{[found[each] for each in scalar.needs]}")


def _ranges(release: Aggregation) -> str:
    """Return what is known of the aggregated values: the ranges that they are moved into."""
    known = tuple(each.argument.facts for each in release.aggregates if each.argument is not None)
    return digest_of(identity_text(known))
