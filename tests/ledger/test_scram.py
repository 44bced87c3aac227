"""The verifier of a token, by which PostgreSQL clients prove that they know it."""

import hmac
from base64 import b64decode, b64encode
from dataclasses import replace
from hashlib import pbkdf2_hmac, sha256

import psycopg.pq
import pytest

from discreet.errors import ParameterError
from discreet.ledger import Token, make_token
from discreet.ledger.inputs import scram_verifier
from tests.ledger.stores import Store
from tests.replay import ReplayableEntropy


@pytest.fixture(scope="module")
def token() -> Token:
    return make_token()


def keys_in(verifier: str) -> tuple[bytes, bytes, bytes]:
    """Return salt, StoredKey and ServerKey."""
    kind, counted, keys = verifier.split("$")
    iterations, salt = counted.split(":")
    assert (kind, iterations) == ("SCRAM-SHA-256", "4096")
    stored, server = keys.split(":")
    return b64decode(salt), b64decode(stored), b64decode(server)


def test_a_verifier_accepts_the_exchange_of_the_standard() -> None:
    """RFC 7677, section 3: the user "user" with the password "pencil"."""
    nonce = "rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
    salt = "W22ZaJ0SNY7soEsUEjb6gQ=="
    exchanged = f"n=user,r=rOprNGfwEbeRWgbNEkqO,r={nonce},s={salt},i=4096,c=biws,r={nonce}".encode()
    proof = b64decode("dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=")
    found, stored, server = keys_in(scram_verifier("pencil", b64decode(salt)))
    assert found == b64decode(salt)
    signature = hmac.digest(stored, exchanged, "sha256")
    client = bytes(a ^ b for a, b in zip(proof, signature, strict=True))
    assert sha256(client).digest() == stored
    told = b64encode(hmac.digest(server, exchanged, "sha256")).decode()
    assert told == "6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="


def test_a_verifier_is_what_the_library_of_postgresql_makes_of_the_token(token: Token) -> None:
    made = _by_libpq(token.text)
    assert scram_verifier(token.text, keys_in(made)[0]) == made


def _by_libpq(password: str) -> str:
    connection = psycopg.pq.PGconn.connect_start(b"host=/nowhere")
    try:
        return connection.encrypt_password(password.encode(), b"eve", b"scram-sha-256").decode()
    except psycopg.NotSupportedError:  # pragma: no cover - an old libpq
        pytest.skip("this libpq makes no verifiers")
    finally:
        connection.finish()


def test_a_token_comes_with_its_verifier_whose_salt_is_its_own(token: Token) -> None:
    salt, stored, server = keys_in(token.scram)
    salted = pbkdf2_hmac("sha256", token.text.encode(), salt, 4096)
    assert stored == sha256(hmac.digest(salted, b"Client Key", "sha256")).digest()
    assert server == hmac.digest(salted, b"Server Key", "sha256")
    assert salt.hex() not in token.hash
    assert token.scram not in repr(token)
    assert keys_in(make_token().scram)[0] != salt


def test_tokens_and_hashes_are_drawn_as_they_were_before_there_were_verifiers() -> None:
    found, entropy = make_token(ReplayableEntropy("token")), ReplayableEntropy("token")
    selector, salt = entropy.draw(8).hex(), entropy.draw(16).hex()
    assert found.text.startswith(f"discreet_{selector}_")
    assert f":{selector}:{salt}:" in found.hash


def test_a_verifier_is_stored_beside_the_hash_and_only_if_there_is_one(
    durable: Store, token: Token
) -> None:
    with durable.open() as ledger:
        plain = ledger.declare_analyst("max", epsilon=1)
        made = ledger.declare_analyst("eve", epsilon=1, token_hash=token.hash, scram=token.scram)
        first, second = [dict(each.about) for each in ledger.entries()][-2:]
        assert first == {"epsilon": "1", "delta": "none", "token": "none", "enabled": "yes"}
        assert second == {**first, "token": token.hash, "scram": token.scram}
        assert token.scram not in repr(made)
    with durable.existing() as ledger:
        assert ledger.analysts() == (plain, made)


def test_a_verifier_stays_with_its_token_and_ends_with_it(store: Store, token: Token) -> None:
    ledger = store.open()
    known = ledger.declare_analyst("eve", epsilon=1, token_hash=token.hash, scram=token.scram)
    ledger.declare_cap("eve", epsilon=2)
    ledger.declare_limits("eve", per_day=1)
    asked = ledger.request_budget("eve", epsilon=3, reason="a study")
    ledger.decide(asked.number, granted=True, by="owner")
    (found,) = ledger.analysts()
    assert found.epsilon == 3
    assert found.scram == token.scram
    disabled = ledger.replace_analyst(found, replace(found, enabled=False))
    assert disabled.scram == token.scram
    other = make_token()
    ledger.declare_analyst("eve", epsilon=1, token_hash=other.hash, scram=other.scram)
    assert ledger.analysts()[0].scram == other.scram
    ledger.declare_analyst("eve", epsilon=1, token_hash=known.token_hash)
    assert ledger.analysts()[0].scram is None


@pytest.mark.parametrize(
    "scram", ["", "md5", 5, "SCRAM-SHA-256$4096:c2FsdA==$a:b", "SCRAM-SHA-256$1:"]
)
def test_anything_else_is_rejected_unseen(store: Store, token: Token, scram: object) -> None:
    with pytest.raises(ParameterError) as rejection:
        store.open().declare_analyst("eve", epsilon=1, token_hash=token.hash, scram=scram)  # type: ignore[arg-type]
    assert str(rejection.value) == "scram must be the scram that make_token returned."


def test_a_verifier_needs_the_hash_of_its_token(store: Store, token: Token) -> None:
    with pytest.raises(ParameterError, match="must come with the token_hash of the same token"):
        store.open().declare_analyst("eve", epsilon=1, scram=token.scram)
