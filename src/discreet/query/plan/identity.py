"""When two releases are the same: then they are paid for once, whatever is made of them."""

from json import dumps

from discreet.accounting.events import record_from_event
from discreet.catalog.policy import BudgetPolicy
from discreet.query.canonical import canonical_release, digest_of, written
from discreet.query.plan.planned import PlannedRelease
from discreet.query.questions import Question, Release, Scalar

FORM = "1"
"""Changes when released tables are made or kept in another way, so that none is misread."""


def identities_of(
    question: Question, releases: tuple[PlannedRelease, ...], policy: BudgetPolicy
) -> tuple[str, ...]:
    """Return for each release what it shares with those, and only those, that release the same.

    The price and the noise are part of it, and so are earlier releases whose numbers it uses.
    """
    found: list[str] = []
    for planned in releases:
        numbers = {
            each.number: _scalar(each, found)
            for each in question.scalars
            if all(need < len(found) for need in each.needs)
        }
        told = (
            FORM,
            canonical_release(planned.release, numbers),
            _ranges(planned.release),
            dumps([record_from_event(each) for each in planned.events], sort_keys=True),
            "".join(written((planned.neighbours, policy.accounting))),
        )
        found.append(digest_of("|".join(told)))
    return tuple(found)


def _scalar(scalar: Scalar, found: list[str]) -> str:
    return digest_of(f"{scalar.sql}|{[found[each] for each in scalar.needs]}")


def _ranges(release: Release) -> str:
    """Return what is known of the aggregated values: the ranges that they are moved into."""
    known = tuple(each.argument.facts for each in release.aggregates if each.argument is not None)
    return digest_of("".join(written(known)))
