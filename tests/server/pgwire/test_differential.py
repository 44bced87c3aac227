"""Random queries, over the wire and on a PostgreSQL that has the rows: the answers are the same.

Public tables are answered exactly, at no cost. What either of them rejects is not compared.
"""

import math
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import psycopg
import pytest

from discreet.noise import SYSTEM
from tests.postgresql import shared_server
from tests.server.pgwire.wired import Wired, wired
from tests.suites.drawing import Draw

CATALOG = """
[budget]
epsilon = 1000
delta = 1e-6

[tables.t]
from = "t.csv"
public = true
key = "id"

[tables.t.columns]
id = { type = "integer" }
g = { type = "text" }
s = { type = "text" }
x = { type = "integer" }
k = { type = "integer" }
y = { type = "real" }
d = { type = "date" }
ts = { type = "timestamp" }
b = { type = "boolean" }

[tables.u]
from = "u.csv"
public = true

[tables.u.columns]
g = { type = "text" }
v = { type = "integer" }
"""

T = """
1,a,Ab,1,2,1.5,2024-01-01,2024-01-01 10:00:00,true
2,b,b a,2,3,-0.5,2024-02-29,2024-02-29 23:59:59,false
3,,z,,1,,,,
4,a,a_b,3,1,2.5,2024-01-31,2024-01-10 12:00:00,true
5,B,É,-4,7,0.0,2024-03-15,2024-03-15 00:00:00.5,
6,ab,a%,5,0,3.5,2023-12-31,2023-12-31 01:02:03,false
7,a,,1,2,-2.5,2024-12-30,2024-12-30 12:00:00,true
"""
U = "a,1\nb,2\na,3\n,1\nzz,5\n"

MADE = """
CREATE TEMP TABLE t (id bigint PRIMARY KEY, g text, s text, x bigint, k bigint,
    y double precision, d date, ts timestamp, b boolean);
CREATE TEMP TABLE u (g text, v bigint);
"""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wired]:
    folder = tmp_path_factory.mktemp("differential")
    (folder / "t.csv").write_text(f"id,g,s,x,k,y,d,ts,b{T}")
    (folder / "u.csv").write_text(f"g,v\n{U}")
    catalog = Path(folder, "discreet.toml")
    catalog.write_text(CATALOG)
    with wired(catalog) as found:
        yield found


@pytest.fixture
def postgresql() -> Iterator[Any]:
    with psycopg.connect(shared_server(), autocommit=True) as found:
        found.execute(MADE)
        for table, rows in (("t", T.lstrip()), ("u", U)):
            with found.cursor().copy(f"COPY {table} FROM STDIN (FORMAT csv)") as copied:
                copied.write(rows)
        yield found


# --------------------------------------------------------------------------- random queries


class Writer:
    """Writes random parts of queries."""

    def __init__(self, seed: str) -> None:
        self._draw = Draw(seed)

    def one(self, *choices: str) -> str:
        return str(self._draw.one(choices))

    def filled(self, template: str, depth: int) -> str:
        """Return a template with N, R, T and C in braces replaced by expressions."""
        makers = {"{N}": self.number, "{R}": self.real, "{T}": self.text, "{C}": self.condition}
        for name, make in makers.items():
            while name in template:
                template = template.replace(name, make(depth + 1), 1)
        return template

    def number(self, depth: int = 0) -> str:
        if depth > 2 or self._draw.is_so(0.5):
            return self.one("id", "x", "k", "0", "1", "2", "-1", "5")
        return self.filled(self.one(*NUMBERS), depth)

    def real(self, depth: int = 0) -> str:
        if depth > 2 or self._draw.is_so(0.5):
            return "y"
        return self.filled(self.one(*REALS), depth)

    def text(self, depth: int = 0) -> str:
        if depth > 2 or self._draw.is_so(0.5):
            return self.one("g", "s")
        return self.filled(self.one(*TEXTS), depth)

    def condition(self, depth: int = 0) -> str:
        if depth > 2 or self._draw.is_so(0.3):
            return f"{self.number(3)} {self.one('<', '<=', '=', '<>', '>')} {self.number(3)}"
        return self.filled(self.one(*CONDITIONS), depth)

    def order(self, count: int) -> str:
        ways = ("", " DESC", " NULLS FIRST", " DESC NULLS LAST")
        return " ORDER BY " + ", ".join(f"{i + 1}{self.one(*ways)}" for i in range(count))

    def query(self) -> str:
        table = self.one("t", "T", '"t"', "t /* c */", "t -- c\n", "t AS t")
        where = self.filled(self.one("", " WHERE {C}"), 0)
        match self._draw.below(6):
            case 0 | 1:
                made = [self.filled(self.one("{N}", "{R}", "{T}", "{C}"), 0) for _ in range(2)]
                parts = ", ".join(f"{each} AS c{i}" for i, each in enumerate(made))
                return f"SELECT {parts} FROM {table}{where}{self.order(2)}{self.one(*TAILS)}"  # noqa: S608 - our own
            case 2:
                parts = ", ".join(self.filled(self.one(*AGGREGATES), 0) for _ in range(2))
                return f"SELECT {parts} FROM {table}{where}{self.one('', ' HAVING COUNT(*) > 0')}"  # noqa: S608 - our own
            case 3:
                key = self.filled(self.one("{N}", "{T}", "{C}"), 1)
                part = self.filled(self.one(*AGGREGATES), 0)
                tail = self.order(2) + self.one(*TAILS)
                return f"SELECT {key} AS key, {part} FROM {table}{where} GROUP BY 1{tail}"  # noqa: S608 - our own
            case 4:
                other = self.filled("SELECT {T} FROM t WHERE {C}", 0)
                return self.filled(
                    f"SELECT {{T}} AS a FROM {table}{where} {self.one(*SETS)} {other}"  # noqa: S608 - our own
                    f"{self.order(1)}{self.one(*TAILS)}",
                    0,
                )
        return self.filled(self.one(*WHOLE).replace("{W}", where), 0)


NUMBERS = (
    *(
        "({N} + {N})",
        "({N} - {N})",
        "({N} * {N})",
        "({N} / {N})",
        "({N} % {N})",
        "-{N}",
        "({N} ^ 2)",
    ),
    *("ABS({N})", "COALESCE({N}, 3)", "NULLIF({N}, 2)", "GREATEST({N}, {N})", "LEAST({N}, {N})"),
    *("CASE WHEN {C} THEN {N} ELSE {N} END", "LENGTH({T})", "MOD({N}, -3)", "DIV({N}, 2)"),
    *(
        "EXTRACT(year FROM d)",
        "EXTRACT(dow FROM d)",
        "EXTRACT(week FROM d)",
        "EXTRACT(epoch FROM ts)",
    ),
    *(
        "CAST({R} AS INTEGER)",
        "CAST({N} / 2.0 AS INTEGER)",
        "FLOOR({R})",
        "CEIL({R})",
        "TRUNC({R})",
    ),
    *("ROUND({N} / 2.0)", "ROUND({N} / 3.0, 1)", "POSITION('a' IN {T})", "(d - DATE '2024-01-01')"),
)
REALS = (
    *("(y + {N})", "(y * {N})", "(y / {N})", "2.5", "-0.5", "CAST({N} AS DOUBLE PRECISION)"),
    *("SQRT(ABS(y))", "y::numeric", "ROUND(CAST(y AS numeric), 1)"),
)
TEXTS = (
    *("'a'", "''", "'a''b'", "E'a\\'b'", "$$a$$", "UPPER({T})", "LOWER({T})", "({T} || {T})"),
    *(
        "SUBSTRING({T} FROM 2 FOR 2)",
        "TRIM({T})",
        "REPLACE({T}, 'a', 'z')",
        "COALESCE({T}, 'none')",
    ),
    *("LEFT({T}, -1)", "RIGHT({T}, 2)", "CAST({N} AS TEXT)", "CONCAT({T}, {T})", "CAST(d AS TEXT)"),
    *("SPLIT_PART({T}, 'a', 1)", "TO_CHAR(d, 'YYYY-MM')", "CAST(b AS TEXT)"),
)
CONDITIONS = (
    *(
        "({C} AND {C})",
        "({C} OR {C})",
        "NOT {C}",
        "{N} BETWEEN {N} AND {N}",
        "{T} = {T}",
        "{T} < {T}",
    ),
    *(
        "{T} LIKE 'a%'",
        "{T} LIKE 'a\\%%'",
        "{T} NOT LIKE '_\\_%'",
        "{T} ILIKE 'A%'",
        "{N} IN (1, {N})",
    ),
    *("{N} NOT IN (1, NULL)", "x IS NULL", "g IS NOT NULL", "b", "b IS NOT TRUE", "b IS UNKNOWN"),
    *(
        "{N} IS DISTINCT FROM {N}",
        "d > DATE '2024-01-15'",
        "y < {R}",
        "ts::date = d",
        "1=0",
        "NOT 1=0",
    ),
    *(
        "(1=0) IS FALSE",
        "FALSE IS NOT TRUE",
        "{N} BETWEEN SYMMETRIC 5 AND 1",
        "x = ANY (ARRAY[1, 2])",
    ),
    *("DATE_TRUNC('month', d) = DATE '2024-01-01'", "EXISTS (SELECT 1 FROM u WHERE u.g = t.g)"),
    *("x IN (SELECT v FROM u)", "d > '2024-01-20'", "g = 'a '", "2 ^ 3 ^ 2 = 64", "-2 ^ 2 = 4"),
    *("CASE WHEN x > 0 AND 1=0 AND k > 0 THEN FALSE ELSE TRUE END", "x - 1 - 1 = 0"),
)
AGGREGATES = (
    *(
        "COUNT(*)",
        "COUNT({N})",
        "COUNT(DISTINCT {N})",
        "SUM({N})",
        "MIN({N})",
        "MAX({T})",
        "AVG({N})",
    ),
    *("SUM({R})", "AVG({R})", "COUNT(*) FILTER (WHERE {C})", "BOOL_AND({C})", "BOOL_OR({C})"),
    *("STDDEV({N})", "VAR_POP({N})", "PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY {N})"),
)
TAILS = (
    *("", "", "", " LIMIT 0", " LIMIT 2", " LIMIT ALL", " LIMIT 0+2", " LIMIT NULL", " OFFSET 1"),
    *(" LIMIT 2 OFFSET 1", " FETCH FIRST 2 ROWS ONLY", " FETCH FIRST 0 ROWS ONLY", " LIMIT (1+1)"),
)
SETS = ("UNION", "UNION ALL", "INTERSECT", "EXCEPT")
WHOLE = (
    "WITH t AS (SELECT * FROM t WHERE {C}) SELECT COUNT(*), SUM({N}) FROM t",
    "SELECT COUNT(*), SUM(t.k) FROM t LEFT JOIN u ON t.g = u.g{W}",
    "SELECT COUNT(*), COUNT(t.x) FROM t FULL JOIN u USING (g)",
    "SELECT COUNT(*), COUNT(t.x) FROM t, LATERAL (SELECT v FROM u WHERE u.v = t.x) AS l",
    "SELECT id, SUM(x) OVER (PARTITION BY g ORDER BY x, id) AS w FROM t{W} ORDER BY id",
    "SELECT (SELECT COUNT(*) FROM u WHERE u.g = t.g) AS n, id FROM t{W} ORDER BY id",
    "SELECT * FROM (SELECT g, COUNT(*) AS n FROM t{W} GROUP BY g) AS q WHERE n > 1 ORDER BY g",
    "SELECT COUNT(*), (SELECT COUNT(*) FROM t{W}) FROM u WHERE 1=0",
    "SELECT MAX(1) AS where, (TRUE) AND 1=0 AND TRUE AS z FROM t GROUP BY 2",
    "SELECT g, COUNT(*) FROM t{W} GROUP BY GROUPING SETS ((g), ()) ORDER BY 1, 2",
    "SELECT COUNT(*) FROM t WHERE 1=0 OR {C}",
    "SELECT COUNT(*) FROM t WHERE {C} AND 1=0",
)


# --------------------------------------------------------------------------- comparing


def plain(value: Any) -> Any:
    """Return a value so that numbers of all types compare."""
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        return "NaN" if math.isnan(value) else float(f"{value:.9g}") + 0.0
    return value if value is None or isinstance(value, bool) else str(value)


def rows_of(connection: Any, sql: str) -> list[tuple[Any, ...]] | None:
    """Return rows in any order, as NULLs at the ends of LIMIT may tie; None if it is rejected."""
    try:
        found = connection.execute(sql.encode()).fetchall()
    except psycopg.Error:
        assert not connection.closed, sql
        return None
    return sorted((tuple(map(plain, row)) for row in found), key=repr)


def compare(served: Wired, postgresql: Any, seed: str, number: int) -> tuple[int, dict[str, Any]]:
    """Return how many queries both have answered, and those with different answers."""
    compared, wrong = 0, {}
    with served.connect(epsilon=None) as connection:
        for i in range(number):
            sql = Writer(f"{seed} {i}").query()
            ours = rows_of(connection, sql)
            theirs = None if ours is None else rows_of(postgresql, sql)
            if theirs is not None:
                compared += 1
                if ours != theirs:
                    wrong[sql] = (ours, theirs)
    return compared, wrong


@pytest.mark.postgresql
def test_random_queries_are_answered_as_postgresql_answers_them(
    served: Wired, postgresql: Any
) -> None:
    compared, wrong = compare(served, postgresql, "queries", 300)
    assert wrong == {}
    assert compared > 150


@pytest.mark.slow
@pytest.mark.postgresql
def test_many_random_queries_are_answered_as_postgresql_answers_them(
    served: Wired, postgresql: Any
) -> None:
    seed = SYSTEM.draw(4).hex()
    compared, wrong = compare(served, postgresql, seed, 10_000)
    assert wrong == {}, seed
    assert compared > 5000
