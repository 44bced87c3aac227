"""Public hash functions: from words to 64-bit keys, and from keys to columns of a sketch.

Nothing private rests on them: a report is as private whatever the functions are. Errors of sketches
are stated as if the functions were drawn at random and independently of the words.
"""

from collections.abc import Iterable
from functools import lru_cache
from hashlib import blake2b, sha256

import numpy as np
from numpy.typing import NDArray

from discreet.errors import HIDDEN, ParameterError
from discreet.local.base import listed
from discreet.noise.uniform import IntArray

Keys = NDArray[np.uint64]

WORD_BYTES_MOST = 1 << 16


def keys_of(words: Iterable[str | bytes | int]) -> Keys:
    """Return a 64-bit key for each word; 5 and "5" are different words."""
    return np.array([_key(each) for each in listed("words", words)], np.uint64)


def _key(word: object) -> int:
    if isinstance(word, str):
        content = b"s" + word.encode("utf-8", "surrogatepass")
    elif isinstance(word, bytes):
        content = b"b" + word
    elif isinstance(word, int | np.integer) and not isinstance(word, bool):
        content = b"i" + str(int(word)).encode()
    else:
        raise ParameterError("words", HIDDEN, "must be texts, bytes or whole numbers")
    if len(content) > WORD_BYTES_MOST:
        raise ParameterError("words", HIDDEN, f"must be shorter than {WORD_BYTES_MOST} bytes")
    return int.from_bytes(blake2b(content, digest_size=8).digest(), "little")


@lru_cache(maxsize=64)
def seeds(family: int, hashes: int) -> Keys:
    """Return the public seeds of so many hash functions of a family."""
    found = [sha256(f"discreet.sketch/1 {family} {j}".encode()).digest()[:8] for j in range(hashes)]
    return np.frombuffer(b"".join(found), "<u8").astype(np.uint64)


def columns(keys: Keys, of_each: Keys, width: int) -> IntArray:
    """Return a column below `width`, a power of two, for each key under the seed beside it.

    The finaliser of SplitMix64 (Steele, Lea, Flood 2014), whose upper bits are the column.
    """
    x = keys ^ of_each
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    x ^= x >> np.uint64(31)
    bits = width.bit_length() - 1
    return (x >> np.uint64(64 - bits)).astype(np.int64)
