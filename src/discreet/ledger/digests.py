"""The texts that entries are stored as, and the digests that chain them."""

import json
from functools import lru_cache
from hashlib import sha256


def text_of(value: object) -> str:
    """Return the one text of a value: ASCII, keys in order, no spaces."""
    return _ENCODER.encode(value)


_ENCODER = json.JSONEncoder(ensure_ascii=True, sort_keys=True, separators=(",", ":"))


@lru_cache(maxsize=16)
def digest_of(previous: bytes, told: tuple[object, ...], kinds: tuple[type, ...]) -> bytes:
    """Return the digest of an entry: it is computed before it is written, and checked afterwards.

    The types of what is told stand beside it: 1 and 1.0 are equal, and are written differently.
    """
    assert len(kinds) == len(told)  # noqa: S101 - they are of these
    return sha256(previous + text_of(told).encode("ascii")).digest()
