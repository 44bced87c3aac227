"""Values in text and binary form, held against a real PostgreSQL."""

from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st
from psycopg import pq

from discreet.server.pgwire import values
from discreet.server.pgwire.values import decoded, encoded
from tests.postgresql import shared_server

pytestmark = pytest.mark.postgresql

NAMES = {
    values.BOOL: "bool",
    values.INT2: "int2",
    values.INT4: "int4",
    values.INT8: "int8",
    values.FLOAT8: "float8",
    values.NUMERIC: "numeric",
    values.TEXT: "text",
    values.DATE: "date",
    values.TIMESTAMP: "timestamp",
    values.TIMESTAMPTZ: "timestamptz",
}

EXAMPLES: list[tuple[int, Any]] = [
    (values.BOOL, True),
    (values.BOOL, False),
    (values.INT2, -32768),
    (values.INT4, 2**31 - 1),
    (values.INT8, -(2**63)),
    (values.FLOAT8, 0.1),
    (values.FLOAT8, -1e300),
    (values.FLOAT8, 5e-324),
    (values.FLOAT8, 21025.0),
    (values.NUMERIC, Decimal(0)),
    (values.NUMERIC, Decimal("-12345.6789")),
    (values.NUMERIC, Decimal("0.00001234")),
    (values.NUMERIC, Decimal("100000000")),
    (values.NUMERIC, Decimal(2**70)),
    (values.TEXT, 'it\'s \\ a "text" — ü'),
    (values.DATE, date(1, 1, 1)),
    (values.DATE, date(2024, 2, 29)),
    (values.TIMESTAMP, datetime(1999, 12, 31, 23, 59, 59, 999999)),
    (values.TIMESTAMP, datetime(2024, 1, 1)),
    (values.TIMESTAMPTZ, datetime(2024, 6, 1, 12, tzinfo=UTC)),
]


@pytest.fixture(scope="module")
def database() -> Iterator[Any]:
    with psycopg.connect(shared_server(), autocommit=True) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        yield connection.pgconn


def read_back(database: Any, type_: int, sent: bytes, *, form: int, result: int) -> bytes:
    """Return a value as PostgreSQL has it, in text (0) or binary (1) form."""
    sql = f"SELECT $1::{NAMES[type_]}".encode()
    found = database.exec_params(sql, [sent], [type_], [form], result)
    assert found.status == pq.ExecStatus.TUPLES_OK, found.error_message
    value: bytes = found.get_value(0, 0)
    return value


@pytest.mark.parametrize(("type_", "value"), EXAMPLES)
def test_postgresql_reads_what_is_sent_and_sends_what_is_read(
    database: Any, type_: int, value: Any
) -> None:
    for form in (0, 1):
        sent = encoded(value, type_, form)
        assert sent is not None
        for result in (0, 1):
            theirs = read_back(database, type_, sent, form=form, result=result)
            assert encoded(value, type_, result) == theirs or type_ == values.FLOAT8
            assert decoded(theirs, type_, result) == value


@given(st.decimals(allow_nan=False, allow_infinity=False, places=6, min_value=-(10**12)))
def test_every_decimal_is_the_same_in_binary_form(value: Decimal) -> None:
    sent = encoded(value, values.NUMERIC, 1)
    assert decoded(sent, values.NUMERIC, 1) == value


@pytest.mark.parametrize(
    ("text", "type_", "expected"),
    [
        ('{a,"b c",NULL,"d\\"e"}', 1009, ["a", "b c", None, 'd"e']),
        ("{1,2,3}", 1016, [1, 2, 3]),
        ("{}", 1016, []),
        ("{2024-01-31}", 1182, [date(2024, 1, 31)]),
    ],
)
def test_arrays_are_read_as_lists(
    database: Any, text: str, type_: int, expected: list[Any]
) -> None:
    assert decoded(text.encode(), type_, 0) == expected
    names = {1009: "text[]", 1016: "int8[]", 1182: "date[]"}
    sql = f"SELECT $1::{names[type_]}".encode()
    found = database.exec_params(sql, [text.encode()], [type_], [0], 1)
    assert decoded(found.get_value(0, 0), type_, 1) == expected


@pytest.mark.parametrize(
    ("value", "type_", "form"),
    [
        (b"NaN", values.FLOAT8, 0),
        (b"Infinity", values.FLOAT8, 0),
        (b"1e999", values.FLOAT8, 0),
        (b"nan", values.NUMERIC, 0),
        (b"12x", values.INT8, 0),
        (b"\xff\xfe", values.TEXT, 0),
        (b"a\0b", values.TEXT, 1),
        (b"2024-13-01", values.DATE, 0),
        (b"\x7f\xff\xff\xff", values.DATE, 1),
        (b"\x7f" + b"\xff" * 7, values.TIMESTAMP, 1),
        (b"\0\1\0\0\xc0\0\0\0\0\0", values.NUMERIC, 1),
        (b"\xff\xff\0\0\0\0\0\0", values.NUMERIC, 1),
        (b"{{1},{2}}", 1016, 0),
        (b"\0\0\0\2" + b"\0" * 40, 1016, 1),
        (b"x", 2950, 1),
    ],
)
def test_what_is_no_value_of_its_type_is_rejected(value: bytes, type_: int, form: int) -> None:
    with pytest.raises(ValueError, match="not a value of its type"):
        decoded(value, type_, form)
