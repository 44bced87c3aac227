"""The only source of randomness.

Small requests go to the kernel, large ones to OpenSSL's generator (AES-256 in counter mode), which
is fed fresh kernel entropy at least every millisecond of use. Neither can be seeded. Both give
different bytes to a forked child. Two copies of a machine restored from one snapshot get
different bytes as soon as their kernels do: at once if the hypervisor supports it (VM generation
id, Linux 5.18 and later), otherwise at the kernel's next reseed. OpenSSL's generator follows within
a millisecond of use.
"""

import os
import ssl
from time import monotonic_ns
from typing import Protocol

from discreet.errors import EntropyError

KERNEL_MOST = 512
"""Up to here the kernel is as fast as OpenSSL (measured: 2.2 against 1.6 µs at 512 bytes)."""

OPENSSL_MOST = 1 << 30
"""OpenSSL counts bytes in 32 bits; larger requests are made in pieces."""

FEED_AFTER = 1_000_000
"""Nanoseconds after which OpenSSL's generator is fed again; feeding it costs about 8 µs."""


class Entropy(Protocol):
    """An endless supply of independent uniform bytes."""

    def draw(self, count: int) -> bytes:
        """Return `count` bytes that were never returned before."""
        ...


class SystemEntropy:
    """Bytes from the operating system's and OpenSSL's cryptographic generators."""

    __slots__ = ("_fed",)

    def __init__(self) -> None:
        self._fed = 0

    def draw(self, count: int) -> bytes:
        """Return `count` bytes, or raise `EntropyError`: nothing is released without them."""
        try:
            if count <= KERNEL_MOST:
                return os.urandom(count)
            self._feed()
            if count <= OPENSSL_MOST:
                return ssl.RAND_bytes(count)
            return b"".join(
                ssl.RAND_bytes(min(OPENSSL_MOST, count - start))
                for start in range(0, count, OPENSSL_MOST)
            )
        except (OSError, NotImplementedError, ssl.SSLError) as cause:
            raise EntropyError from cause

    def _feed(self) -> None:
        now = monotonic_ns()
        if now - self._fed > FEED_AFTER:
            ssl.RAND_add(os.urandom(32), 32.0)
            self._fed = now


SYSTEM: Entropy = SystemEntropy()
"""The source of every release, unless a test provides another."""
