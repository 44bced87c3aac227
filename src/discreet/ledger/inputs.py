"""What callers hand in, checked: items, names, analysts, tokens.

What an analyst paid for is (epsilon, delta)-private by the numbers of the analyst's cap. Caps are
shares of one total and never add to it: whoever pools what they learnt, the total holds for all of
it.

A token is "discreet_", a public selector that says which hash to compare with, and a secret of 256
random bits. The ledger stores only its hash, which is scrypt's, with a salt of its own, so that a
stolen ledger lets nobody in. For PostgreSQL clients, which prove a password by SCRAM-SHA-256, it
also stores the verifier of the token's text, with another salt.
"""

import hmac
import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from hashlib import pbkdf2_hmac, scrypt, sha256
from threading import Lock
from typing import get_args

from discreet.account_limits import LIMITS
from discreet.accounting import Budget, Event
from discreet.accounting.events import check_some_events, positive, zero_or_delta, zero_or_positive
from discreet.errors import HIDDEN, ParameterError, shown
from discreet.ledger.analysts import OWNER, Analyst, Role
from discreet.ledger.base import Receipt
from discreet.ledger.charges import MONTHS_NOTE, NOTE
from discreet.ledger.limits import STATED
from discreet.noise import SYSTEM, Entropy
from discreet.parameters import flag

MOST_NAME, MOST_ABOUT, MOST_ANSWER = 1000, 2**20, 2**28
"""Longer queries, accounts, notes (in characters) and answers (in bytes) are rejected."""


def check_name(name: str, value: object) -> str:
    """Return text that can stand for a query or an account, or reject it by name."""
    rule = f"must be text of 1 to {MOST_NAME} characters"
    if not isinstance(value, str) or not 1 <= len(value) <= MOST_NAME:
        raise ParameterError(name, value, rule)
    if not value.isascii() and any(0xD800 <= ord(each) <= 0xDFFF for each in value):
        raise ParameterError(name, value, "must not contain lone surrogates")
    return value


def check_prefix(value: object) -> str:
    """Return the beginning of queries' names, or reject what stores may sort differently."""
    text = check_name("prefix", value)
    if not text.isascii():
        raise ParameterError("prefix", value, "must be ASCII")
    return text


def one_or_more(events: object) -> tuple[Event, ...]:
    """Return the events as a tuple, or reject an empty list, which is a mistake."""
    checked = check_some_events("events", events)
    if not checked:
        raise ParameterError(
            "events", HIDDEN, "must be at least one, because a query without a cost needs no ledger"
        )
    return checked


def check_notes(about: object) -> dict[str, str]:
    """Return what the caller notes of a query, or reject what is not text."""
    rule = f"must map text to text, {MOST_ABOUT} characters or fewer in total"
    if not isinstance(about, Mapping):
        raise ParameterError("about", HIDDEN, rule)
    texts = [each for item in about.items() for each in item]
    if not all(isinstance(each, str) for each in texts) or sum(map(len, texts)) > MOST_ABOUT:
        raise ParameterError("about", HIDDEN, rule)
    for name in (NOTE, MONTHS_NOTE, STATED):
        if name in about:
            rule = f"must not use {name!r}, which the ledger writes itself"
            raise ParameterError("about", HIDDEN, rule)
    return dict(about)


def check_head(head: object) -> str:
    """Return the digest of an entry as it was noted, or reject what is not text."""
    if not isinstance(head, str):
        raise ParameterError("head", head, "must be the text that head() returned, or None")
    return head


def check_answer(answer: object) -> bytes:
    """Return an answer as it can be kept, or reject it without showing it."""
    if not isinstance(answer, bytes) or len(answer) > MOST_ANSWER:
        raise ParameterError("answer", HIDDEN, f"must be bytes, {MOST_ANSWER} or fewer")
    return answer


def check_receipt(receipt: object) -> Receipt:
    """Return a receipt, or reject anything else."""
    if not isinstance(receipt, Receipt):
        raise ParameterError("receipt", HIDDEN, "must be a Receipt")
    return receipt


N, R, P = 2**15, 8, 1
"""scrypt's cost: 32 MiB and about a tenth of a second."""


STORED = re.compile(r"scrypt:32768:8:1:([0-9a-f]{16}):([0-9a-f]{32}):([0-9a-f]{64})")
"""A stored hash: cost, selector, salt and scrypt's result."""


WRITTEN = re.compile(r"discreet_([0-9a-f]{16})_([A-Za-z0-9_-]{43})")
"""A token: selector and secret."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A new token, to be shown once, and its hash and SCRAM verifier, to be stored."""

    text: str = field(repr=False)
    hash: str = field(repr=False)
    scram: str = field(repr=False)


def make_token(entropy: Entropy = SYSTEM) -> Token:
    """Return a token of 256 random bits that was never returned before."""
    selector, salt, secret = entropy.draw(8).hex(), entropy.draw(16), entropy.draw(32)
    text = f"discreet_{selector}_{urlsafe_b64encode(secret).decode('ascii').rstrip('=')}"
    digest = _digest(text, salt)
    return Token(
        text=text,
        hash=f"scrypt:{N}:{R}:{P}:{selector}:{salt.hex()}:{digest.hex()}",
        scram=scram_verifier(text, entropy.draw(16)),
    )


ITERATIONS = 4096
"""Of SCRAM's hash: as PostgreSQL has it by default."""

VERIFIER = re.compile(
    rf"SCRAM-SHA-256\${ITERATIONS}:[A-Za-z0-9+/]{{22}}==\$[A-Za-z0-9+/]{{43}}=:[A-Za-z0-9+/]{{43}}="
)
"""A stored verifier: iterations, salt, StoredKey and ServerKey."""


def scram_verifier(token: str, salt: bytes) -> str:
    """Return what proves that a client knows a token, in the form that PostgreSQL stores.

    SCRAM-SHA-256 of RFC 5802 and 7677. Few iterations are enough: a token has 256 random bits, so
    nobody can guess it from the verifier, however fast each guess is.
    """
    salted = pbkdf2_hmac("sha256", token.encode("ascii"), salt, ITERATIONS)
    stored = sha256(hmac.digest(salted, b"Client Key", "sha256")).digest()
    server = hmac.digest(salted, b"Server Key", "sha256")
    written, first, second = (b64encode(each).decode("ascii") for each in (salt, stored, server))
    return f"SCRAM-SHA-256${ITERATIONS}:{written}${first}:{second}"


def check_scram(scram: object, token_hash: object) -> str:
    """Return a verifier as make_token gives it, or reject anything else unseen."""
    if not isinstance(scram, str) or VERIFIER.fullmatch(scram) is None:
        raise ParameterError("scram", HIDDEN, "must be the scram that make_token returned")
    if token_hash is None:
        raise ParameterError("scram", HIDDEN, "must come with the token_hash of the same token")
    return scram


def check_hash(token_hash: object) -> str:
    """Return a hash as make_token gives it, or reject anything else unseen."""
    if not isinstance(token_hash, str) or STORED.fullmatch(token_hash) is None:
        rule = "must be the hash that make_token returned"
        raise ParameterError("token_hash", HIDDEN, rule)
    return token_hash


def selector_of(token_hash: str) -> str:
    """Return the public part of a stored hash."""
    return token_hash.split(":")[4]


def selector_in(token: object) -> str | None:
    """Return the public part of a token, or None if it is no token."""
    found = WRITTEN.fullmatch(token) if isinstance(token, str) else None
    return None if found is None else found[1]


def is_token_of(token: str, token_hash: str) -> bool:
    """Return whether a token belongs to a hash; takes as long whichever it is."""
    found = STORED.fullmatch(token_hash)
    if found is None:
        return False
    _, salt, digest = found.groups()
    return hmac.compare_digest(_digest(token, bytes.fromhex(salt)), bytes.fromhex(digest))


_one_at_a_time = Lock()


def _digest(token: str, salt: bytes) -> bytes:
    # Each takes 32 MiB; many at once would be a way to fill the memory.
    with _one_at_a_time:
        return scrypt(token.encode("ascii"), salt=salt, n=N, r=R, p=P, maxmem=2**26, dklen=32)


YES, NO, NONE = "yes", "no", "none"


DISABLED = ("This analyst's account is disabled", "Ask the data owner to enable it")

NEVER_CHARGED: Mapping[Role, tuple[str, str]] = {
    "reader": (
        "A reader may read saved answers, and not run queries that cost",
        "Ask the data owner for an analyst's account",
    ),
    "owner": (
        "The account of a person who administers is never charged",
        'Run the query on the account "owner"',
    ),
}
"""Why an account of such a role has no cap and runs no queries."""


ROLES: Mapping[object, Role] = {each: each for each in get_args(Role)}


def check_analyst(  # noqa: PLR0913 - each is a field
    *,
    name: object,
    epsilon: object,
    delta: object,
    token_hash: object,
    enabled: object,
    role: object = "analyst",
    scram: object = None,
    **limits: object,
) -> Analyst:
    """Return an account as it can be declared, or reject what it cannot be.

    Readers and owners are never charged, so that their caps may be 0 and decide nothing.
    """
    if name == OWNER:
        raise ParameterError("name", name, "must be another name, because the owner has no cap")
    if not isinstance(role, str) or role not in ROLES:
        raise ParameterError("role", role, f"must be one of {', '.join(map(repr, ROLES))}")
    least = positive if role == "analyst" else zero_or_positive
    cap = 0 if epsilon is None and role != "analyst" else epsilon
    return Analyst(
        name=check_name("name", name),
        epsilon=least("epsilon", cap),
        delta=None if delta is None else zero_or_delta("delta", delta),
        token_hash=None if token_hash is None else check_hash(token_hash),
        enabled=flag("enabled", enabled),
        role=ROLES[role],
        scram=None if scram is None else check_scram(scram, token_hash),
        **check_limits(limits),
    )


def check_limits(given: Mapping[str, object]) -> dict[str, Fraction | None]:
    """Return the limits of an account as exact fractions, or reject one by its name."""
    found: dict[str, Fraction | None] = {}
    for name, value in given.items():
        if name not in LIMITS:
            raise ParameterError("limits", name, f"must be among {', '.join(map(repr, LIMITS))}")
        least = zero_or_positive if name == "confirm_above" else positive
        found[name] = None if value is None else least(name, value)
    default, most = found.get("default_epsilon"), found.get("per_query")
    if default is not None and most is not None and default > most:
        rule = f"must be at most per_query, {shown(most)}"
        raise ParameterError("default_epsilon", default, rule)
    return found


def cap_of(analyst: Analyst, total: Budget, share: Fraction) -> Budget:
    """Return an analyst's cap as a budget, uncharged: the total's filter, a share of delta aside.

    The share stays what it was when the account was first declared, so that a cap with a delta of
    its own means the same whatever becomes of the total. One without has the delta of the total.
    """
    delta = total.delta if analyst.delta is None else analyst.delta
    aside = share * delta
    return Budget(epsilon=analyst.epsilon, delta=delta, filter=total.filter, set_aside=aside)


def record_from_analyst(analyst: Analyst) -> dict[str, str]:
    """Return the account as its entry holds it; the name stands beside it.

    The role of an analyst is not written, nor a verifier or a limit that is not there, so that
    entries are what they were before there were any.
    """
    limits = {name: getattr(analyst, name) for name in LIMITS}
    return {
        "epsilon": str(analyst.epsilon),
        "delta": NONE if analyst.delta is None else str(analyst.delta),
        "token": NONE if analyst.token_hash is None else analyst.token_hash,
        "enabled": YES if analyst.enabled else NO,
        **({} if analyst.role == "analyst" else {"role": analyst.role}),
        **({} if analyst.scram is None else {"scram": analyst.scram}),
        **{name: str(limit) for name, limit in limits.items() if limit is not None},
    }


def analyst_from_record(name: str, record: Mapping[str, str]) -> Analyst:
    """Return the account that `record_from_analyst` wrote; reject what this version cannot read."""
    if record.keys() - {"role", "scram", *LIMITS} != {"epsilon", "delta", "token", "enabled"}:
        raise ParameterError(
            "record", sorted(record), "must be a record that record_from_analyst returned"
        )
    delta, token = record["delta"], record["token"]
    return check_analyst(
        name=name,
        epsilon=Fraction(record["epsilon"]),
        delta=None if delta == NONE else Fraction(delta),
        token_hash=None if token == NONE else token,
        enabled={YES: True, NO: False}[record["enabled"]],
        role=record.get("role", "analyst"),
        scram=record.get("scram"),
        **{name: Fraction(record[name]) for name in LIMITS if name in record},
    )
