"""SCRAM-SHA-256 from stored keys (RFC 5802, RFC 7677): the token itself is never sent or stored.

The ledger has the keys of each token as PostgreSQL stores them. For an account that does not exist
the exchange has the same form and always fails, so nobody learns which accounts there are.
"""

import hmac
import re
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from dataclasses import dataclass
from hashlib import sha256

from discreet.noise import SYSTEM
from discreet.server.pgwire.frames import ProtocolError

MECHANISM = "SCRAM-SHA-256"
ITERATIONS = 4096

STORED = re.compile(r"SCRAM-SHA-256\$([0-9]{1,9}):([^$:]+)\$([^$:]+):([^$:]+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    """What is stored of a token."""

    salt: bytes
    iterations: int
    stored_key: bytes
    server_key: bytes


def keys_from(scram: str) -> Keys:
    """Return the keys of a text as PostgreSQL stores it."""
    found = STORED.fullmatch(scram)
    if found is None:
        raise ValueError("These are not keys of SCRAM-SHA-256")
    iterations, *parts = found.groups()
    salt, stored_key, server_key = (b64decode(each, validate=True) for each in parts)
    return Keys(salt=salt, iterations=int(iterations), stored_key=stored_key, server_key=server_key)


def keys_of_nobody(secret: str) -> Keys:
    """Return keys that no token has; their salt follows from a secret of the name."""
    salt = sha256(secret.encode("utf-8", "replace")).digest()[:16]
    key = SYSTEM.draw(32)
    return Keys(salt=salt, iterations=ITERATIONS, stored_key=key, server_key=key)


CLIENT_FIRST = re.compile(r"([ny]),(?:a=[^,]*)?,(n=[^,]*,r=([\x21-\x2b\x2d-\x7e]{1,256})(?:,.*)?)")
CLIENT_FINAL = re.compile(r"(c=([^,]+),r=([^,]+)),p=([^,]+)")


class Exchange:
    """One attempt to sign in."""

    def __init__(self, keys: Keys) -> None:
        self._keys = keys
        self._client_first = self._server_first = self._nonce = self._header = ""

    def challenge(self, client_first: bytes) -> bytes:
        """Return the reply to the first message of a client."""
        found = CLIENT_FIRST.fullmatch(_ascii(client_first))
        if found is None:
            raise ProtocolError("The first message of SCRAM is not understood")
        self._header, self._client_first = found[0][: found.start(2)], found[2]
        self._nonce = found[3] + b64encode(SYSTEM.draw(18)).decode()
        salt = b64encode(self._keys.salt).decode()
        self._server_first = f"r={self._nonce},s={salt},i={self._keys.iterations}"
        return self._server_first.encode()

    def verify(self, client_final: bytes) -> bytes | None:
        """Return the proof for the client that it talks to who has its keys; None if it has not."""
        found = CLIENT_FINAL.fullmatch(_ascii(client_final))
        if found is None:
            raise ProtocolError("The second message of SCRAM is not understood")
        try:
            binding, proof = (b64decode(found[i], validate=True) for i in (2, 4))
        except (Base64Error, ValueError):
            raise ProtocolError("The second message of SCRAM is not understood") from None
        said = f"{self._client_first},{self._server_first},{found[1]}".encode()
        signature = hmac.digest(self._keys.stored_key, said, sha256)
        if len(proof) != len(signature):
            return None
        key = bytes(a ^ b for a, b in zip(proof, signature, strict=True))
        is_known = hmac.compare_digest(sha256(key).digest(), self._keys.stored_key)
        is_same = binding == self._header.encode() and found[3] == self._nonce
        if not (is_known and is_same):
            return None
        proved = hmac.digest(self._keys.server_key, said, sha256)
        return b"v=" + b64encode(proved)


def _ascii(message: bytes) -> str:
    try:
        return message.decode("utf-8")
    except UnicodeDecodeError:
        raise ProtocolError("A message of SCRAM is not UTF-8") from None
