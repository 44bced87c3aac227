"""When two plans are the same: a canonical text of all that decides what is released."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from datetime import date
from enum import Enum
from fractions import Fraction
from hashlib import sha256

from discreet.catalog.policy import BudgetPolicy
from discreet.query.questions import Question


def fingerprint_of(
    question: Question, epsilon: Fraction, delta: Fraction, policy: BudgetPolicy
) -> str:
    """Return what two plans share exactly if they release the same, at the same price.

    Words for explanations and facts, which do not tell values apart, are left out.
    """
    asked = (question.releases, question.scalars, question.afterwards, question.columns)
    decided = (epsilon, delta, policy.neighbours, policy.accounting)
    return sha256("".join(_written((asked, decided))).encode()).hexdigest()


def _written(value: object) -> Iterator[str]:
    """Yield the parts of a text that no other value has."""
    match value:
        case tuple():
            yield "("
            for each in value:
                yield from _written(each)
            yield ")"
        case Enum():
            yield f"{type(value).__name__}.{value.name};"
        case _ if is_dataclass(value) and not isinstance(value, type):
            yield f"{type(value).__name__}("
            for each in fields(value):
                if each.compare:
                    yield f"{each.name}="
                    yield from _written(getattr(value, each.name))
            yield ")"
        case date():
            yield f"{type(value).__name__}:{value.isoformat()};"
        case _:
            text = repr(value)
            yield f"{type(value).__name__}:{len(text)}:{text};"
