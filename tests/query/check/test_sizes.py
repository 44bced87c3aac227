"""Queries inside each other that double at every level end with an error, soon."""

# ruff: noqa: S608 - this file writes questions

from fractions import Fraction
from time import process_time

import pytest

from discreet.errors import QuestionSizeError
from discreet.mechanisms.sensitivity import ADD_REMOVE
from tests.properties.plans import plan_of
from tests.properties.questions import Written

ROWS = "SELECT patient_id AS u, minutes AS i, diagnosis AS t FROM visits"

DOUBLING = {
    "IN": "SELECT a{n}.u, a{n}.i, a{n}.t FROM ({rows}) a{n} WHERE a{n}.t IN "
    "(SELECT b{n}.t FROM ({inner}) b{n} WHERE b{n}.u = a{n}.u)",
    "ALL": "SELECT a{n}.u, a{n}.i, a{n}.t FROM ({rows}) a{n} WHERE a{n}.i <= ALL "
    "(SELECT b{n}.i FROM ({inner}) b{n} WHERE b{n}.u = a{n}.u)",
    "SEMI": "SELECT a{n}.u, a{n}.i, a{n}.t FROM ({rows}) a{n} "
    "SEMI JOIN ({inner}) b{n} ON b{n}.u = a{n}.u",
    "groups": "SELECT 1 AS u, COUNT(*) AS i, 'x' AS t FROM (SELECT DISTINCT i FROM ({inner}) a{n})",
    "twice": "WITH c{n} AS ({inner}) SELECT u, i, t FROM c{n} WHERE u IN (SELECT u FROM c{n}) "
    "OR u NOT IN (SELECT u FROM c{n} WHERE i > 3)",
    "selected": "WITH c{n} AS ({inner}) SELECT x.u, CASE WHEN EXISTS (SELECT 1 FROM c{n} y WHERE "
    "y.u = x.u AND y.i > x.i) THEN 1 ELSE 0 END AS i, x.t FROM c{n} x",
    "value": "WITH c{n} AS ({inner}) SELECT x.u, (SELECT MAX(y.i) FROM c{n} y WHERE y.u = x.u) "
    "AS i, x.t FROM c{n} x",
    "LATERAL": "WITH c{n} AS ({inner}) SELECT x.u, l.i, x.t FROM c{n} x, "
    "LATERAL (SELECT COUNT(*) AS i FROM c{n} y WHERE y.u = x.u) l",
}
FEW, MANY = 4, 16
MOST_SECONDS = 20.0
"""Far more than it takes; what doubles 16 times takes hours."""


def nested(form: str, levels: int) -> Written:
    inner = ROWS
    for number in range(levels):
        inner = DOUBLING[form].format(n=number, rows=ROWS, inner=inner)
    return Written(f"SELECT COUNT(*) FROM ({inner}) z")


@pytest.mark.parametrize("form", DOUBLING)
def test_what_doubles_a_few_times_is_answered(form: str) -> None:
    plan_of(nested(form, FEW), ADD_REMOVE, Fraction(1))


@pytest.mark.parametrize("form", DOUBLING)
def test_what_doubles_many_times_is_rejected_soon(form: str) -> None:
    start = process_time()
    with pytest.raises(QuestionSizeError):
        plan_of(nested(form, MANY), ADD_REMOVE, Fraction(1))
    assert process_time() - start < MOST_SECONDS
