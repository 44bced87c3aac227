"""Tokens with which analysts identify themselves. The ledger stores only a hash of each.

A token is "discreet_", a public selector that says which hash to compare with, and a secret of 256
random bits. The hash is scrypt's, with a salt of its own, so that a stolen ledger lets nobody in.
"""

import hmac
import re
from base64 import urlsafe_b64encode
from dataclasses import dataclass, field
from hashlib import scrypt
from threading import Lock

from discreet.errors import HIDDEN, ParameterError
from discreet.noise import SYSTEM, Entropy

N, R, P = 2**15, 8, 1
"""scrypt's cost: 32 MiB and about a tenth of a second."""

STORED = re.compile(r"scrypt:32768:8:1:([0-9a-f]{16}):([0-9a-f]{32}):([0-9a-f]{64})")
"""A stored hash: cost, selector, salt and scrypt's result."""

WRITTEN = re.compile(r"discreet_([0-9a-f]{16})_([A-Za-z0-9_-]{43})")
"""A token: selector and secret."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A new token, to be shown once, and its hash, to be stored."""

    text: str = field(repr=False)
    hash: str = field(repr=False)


def make_token(entropy: Entropy = SYSTEM) -> Token:
    """Return a token of 256 random bits that was never returned before."""
    selector, salt, secret = entropy.draw(8).hex(), entropy.draw(16), entropy.draw(32)
    text = f"discreet_{selector}_{urlsafe_b64encode(secret).decode('ascii').rstrip('=')}"
    digest = _digest(text, salt)
    return Token(text=text, hash=f"scrypt:{N}:{R}:{P}:{selector}:{salt.hex()}:{digest.hex()}")


def a_hash(token_hash: object) -> str:
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
