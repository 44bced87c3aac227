"""The eight tables of TPC-H, some thousand rows of them, with the customer as unit.

The rows are our own, drawn by rules in the spirit of the standard's: parts, nations and dates that
its queries ask for occur more often, so that every query finds some.
"""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from decimal import Decimal
from functools import cache
from itertools import product
from typing import Any

import pyarrow as pa

from tests.suites.drawing import Draw

Row = tuple[Any, ...]

CUSTOMERS, PARTS, SUPPLIERS, SUPPLIERS_OF_A_PART = 240, 120, 30, 4
MOST_ORDERS, MOST_LINES = 12, 7
"""Of a customer, and of an order."""

FIRST_DAY, LAST_DAY, TODAY = date(1992, 1, 1), date(1998, 8, 2), date(1995, 6, 17)

WHOLE, TEXT, DAY, MONEY = pa.int64(), pa.string(), pa.date32(), pa.decimal128(15, 2)

COLUMNS: Mapping[str, Mapping[str, pa.DataType]] = {
    "region": {"r_regionkey": WHOLE, "r_name": TEXT, "r_comment": TEXT},
    "nation": {"n_nationkey": WHOLE, "n_name": TEXT, "n_regionkey": WHOLE, "n_comment": TEXT},
    "supplier": {
        "s_suppkey": WHOLE,
        "s_name": TEXT,
        "s_address": TEXT,
        "s_nationkey": WHOLE,
        "s_phone": TEXT,
        "s_acctbal": MONEY,
        "s_comment": TEXT,
    },
    "part": {
        "p_partkey": WHOLE,
        "p_name": TEXT,
        "p_mfgr": TEXT,
        "p_brand": TEXT,
        "p_type": TEXT,
        "p_size": WHOLE,
        "p_container": TEXT,
        "p_retailprice": MONEY,
        "p_comment": TEXT,
    },
    "partsupp": {
        "ps_partkey": WHOLE,
        "ps_suppkey": WHOLE,
        "ps_availqty": WHOLE,
        "ps_supplycost": MONEY,
        "ps_comment": TEXT,
    },
    "customer": {
        "c_custkey": WHOLE,
        "c_name": TEXT,
        "c_address": TEXT,
        "c_nationkey": WHOLE,
        "c_phone": TEXT,
        "c_acctbal": MONEY,
        "c_mktsegment": TEXT,
        "c_comment": TEXT,
    },
    "orders": {
        "o_orderkey": WHOLE,
        "o_custkey": WHOLE,
        "o_orderstatus": TEXT,
        "o_totalprice": MONEY,
        "o_orderdate": DAY,
        "o_orderpriority": TEXT,
        "o_clerk": TEXT,
        "o_shippriority": WHOLE,
        "o_comment": TEXT,
    },
    "lineitem": {
        "l_orderkey": WHOLE,
        "l_partkey": WHOLE,
        "l_suppkey": WHOLE,
        "l_linenumber": WHOLE,
        "l_quantity": MONEY,
        "l_extendedprice": MONEY,
        "l_discount": MONEY,
        "l_tax": MONEY,
        "l_returnflag": TEXT,
        "l_linestatus": TEXT,
        "l_shipdate": DAY,
        "l_commitdate": DAY,
        "l_receiptdate": DAY,
        "l_shipinstruct": TEXT,
        "l_shipmode": TEXT,
        "l_comment": TEXT,
    },
}

NATIONS = {
    "ALGERIA": 0,
    "ARGENTINA": 1,
    "BRAZIL": 1,
    "CANADA": 1,
    "EGYPT": 4,
    "ETHIOPIA": 0,
    "FRANCE": 3,
    "GERMANY": 3,
    "INDIA": 2,
    "INDONESIA": 2,
    "IRAN": 4,
    "IRAQ": 4,
    "JAPAN": 2,
    "JORDAN": 4,
    "KENYA": 0,
    "MOROCCO": 0,
    "MOZAMBIQUE": 0,
    "PERU": 1,
    "CHINA": 2,
    "ROMANIA": 3,
    "SAUDI ARABIA": 4,
    "VIETNAM": 2,
    "RUSSIA": 3,
    "UNITED KINGDOM": 3,
    "UNITED STATES": 1,
}
"""Each with its region."""

REGIONS = ("AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST")
SEGMENTS = ("AUTOMOBILE", "BUILDING", "FURNITURE", "HOUSEHOLD", "MACHINERY")
PRIORITIES = ("1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW")
MODES = ("AIR", "FOB", "MAIL", "RAIL", "REG AIR", "SHIP", "TRUCK")
INSTRUCTIONS = ("DELIVER IN PERSON", "COLLECT COD", "NONE", "TAKE BACK RETURN")
COLOURS = ("almond", "azure", "brown", "coral", "forest", "green", "ivory", "navy", "rose", "snow")
WORDS = ("quickly", "special", "pending", "requests", "deposits", "Customer", "Complaints", "ideas")
USUAL_BRANDS = {"Brand#12": "SM", "Brand#23": "MED", "Brand#34": "LG", "Brand#45": "JUMBO"}
"""Those that queries ask for, with the size of most of their containers."""

TYPES = (
    "ECONOMY ANODIZED STEEL",
    "PROMO BURNISHED COPPER",
    "STANDARD PLATED BRASS",
    "MEDIUM POLISHED TIN",
    "LARGE BRUSHED NICKEL",
    "SMALL ANODIZED BRASS",
)


def settings() -> dict[str, Any]:
    """Return what a catalog says of the tables, as arguments of `declare`."""
    return {
        "unit": {
            "customer": "c_custkey",
            "orders": "o_custkey",
            "lineitem": "orders.o_custkey via l_orderkey",
        },
        "key": {"orders": "o_orderkey"},
        "rows_per_unit": {
            "customer": 1,
            "orders": MOST_ORDERS,
            "lineitem": MOST_ORDERS * MOST_LINES,
        },
        "public": ["region", "nation", "supplier", "part", "partsupp"],
        "bounds": {
            "customer.c_acctbal": (-1000, 10_000),
            "orders.o_orderdate": (FIRST_DAY, LAST_DAY),
            "orders.o_totalprice": (0, 500_000),
            "lineitem.l_quantity": (0, 50),
            "lineitem.l_extendedprice": (0, 60_000),
            "lineitem.l_discount": (0, 0.1),
            "lineitem.l_tax": (0, 0.1),
            "lineitem.l_suppkey": (1, SUPPLIERS),
            "lineitem.l_shipdate": (FIRST_DAY, date(1998, 12, 31)),
        },
        "step": {
            "customer.c_acctbal": 0.01,
            "lineitem.l_quantity": 1,
            "lineitem.l_extendedprice": 0.01,
            "lineitem.l_discount": 0.01,
            "lineitem.l_tax": 0.01,
        },
        "values": {
            "customer.c_mktsegment": list(SEGMENTS),
            "orders.o_orderpriority": list(PRIORITIES),
            "lineitem.l_returnflag": ["A", "N", "R"],
            "lineitem.l_linestatus": ["F", "O"],
            "lineitem.l_shipmode": list(MODES),
        },
    }


@cache
def tables() -> Mapping[str, pa.Table]:
    """Return all tables; the same rows each time."""
    draw = _Rows("tpch")
    parts, suppliers = draw.parts(), draw.suppliers()
    supplies = draw.supplies()
    customers = draw.customers()
    orders: list[Row] = []
    lines: list[Row] = []
    for key in range(1, CUSTOMERS + 1):
        if key % 3:  # a third of customers never ordered
            for _ in range(draw.below(MOST_ORDERS) + 1):
                order, its_lines = draw.order(len(orders) + 1, key, parts, supplies)
                orders.append(order)
                lines += its_lines
    nations = [(n, name, region, "") for n, (name, region) in enumerate(NATIONS.items())]
    rows: Mapping[str, Sequence[Row]] = {
        "region": [(n, name, "") for n, name in enumerate(REGIONS)],
        "nation": nations,
        "supplier": suppliers,
        "part": parts,
        "partsupp": supplies,
        "customer": customers,
        "orders": orders,
        "lineitem": lines,
    }
    return {name: _table(name, rows[name]) for name in COLUMNS}


def _table(name: str, rows: Sequence[Row]) -> pa.Table:
    """Return rows as a table; amounts of money are drawn in cents."""
    kinds = COLUMNS[name]
    columns = {
        each: list(found) for each, found in zip(kinds, zip(*rows, strict=True), strict=True)
    }
    for each, kind in kinds.items():
        if kind == MONEY:
            columns[each] = [Decimal(cents).scaleb(-2) for cents in columns[each]]
    return pa.Table.from_pydict(columns, schema=pa.schema(dict(kinds)))


class _Rows(Draw):
    """Draws the rows of each table."""

    def text(self) -> str:
        return " ".join(self.one(WORDS) for _ in range(4))

    def phone(self, nation: int) -> str:
        return f"{10 + nation}-{100 + self.below(900)}-{100 + self.below(900)}-{self.below(10_000)}"

    def parts(self) -> list[Row]:
        return [self._part(key) for key in range(1, PARTS + 1)]

    def _part(self, key: int) -> Row:
        brand = (
            self.one([*USUAL_BRANDS])
            if self.is_so(0.7)
            else f"Brand#{1 + self.below(5)}{1 + self.below(5)}"
        )
        usual = USUAL_BRANDS.get(brand, "WRAP")
        container = f"{usual} {self.one(('CASE', 'BOX', 'BAG', 'PKG', 'PACK'))}"
        kind = self.one(TYPES)
        size = 15 if "BRASS" in kind and self.is_so(0.5) else 1 + self.below(15)
        name = " ".join(self.one(COLOURS) for _ in range(3))
        price = 90_000 + key // 10 % 20_001 + 100 * (key % 1000)
        return (key, name, f"Manufacturer#{brand[6]}", brand, kind, size, container, price, "")

    def suppliers(self) -> list[Row]:
        wanted = [*range(len(NATIONS)), *(list(NATIONS).index(each) for each in self._asked)]
        return [
            (
                key,
                f"Supplier#{key:09}",
                f"{key} Main Street",
                wanted[(key - 1) % len(wanted)],
                self.phone(wanted[(key - 1) % len(wanted)]),
                self.below(1_000_000) - 99_999,
                self.text(),
            )
            for key in range(1, SUPPLIERS + 1)
        ]

    _asked = ("CANADA", "GERMANY", "SAUDI ARABIA", "FRANCE", "JAPAN")

    def supplies(self) -> list[Row]:
        return [
            (
                part,
                1 + (part * 7 + place * (SUPPLIERS // SUPPLIERS_OF_A_PART)) % SUPPLIERS,
                1 + self.below(200),
                100 + self.below(100_000),
                "",
            )
            for part, place in product(range(1, PARTS + 1), range(SUPPLIERS_OF_A_PART))
        ]

    def customers(self) -> list[Row]:
        return [self._customer(key) for key in range(1, CUSTOMERS + 1)]

    def _customer(self, key: int) -> Row:
        nation = self.below(len(NATIONS))
        return (
            key,
            f"Customer#{key:09}",
            f"{key} High Street",
            nation,
            self.phone(nation),
            self.below(1_099_999) - 99_999,
            self.one(SEGMENTS),
            "",
        )

    def order(
        self, key: int, customer: int, parts: Sequence[Row], supplies: Sequence[Row]
    ) -> tuple[Row, list[Row]]:
        """Return an order of a customer, and its lines."""
        day = FIRST_DAY + timedelta(self.below((LAST_DAY - FIRST_DAY).days + 1))
        lines = [
            self._line(key, number, day, parts, supplies)
            for number in range(1, self.below(MOST_LINES) + 2)
        ]
        total = sum(each[5] for each in lines)
        open_lines = sum(each[9] == "O" for each in lines)
        status = "P" if 0 < open_lines < len(lines) else "O" if open_lines else "F"
        priority = self.one(PRIORITIES)
        clerk = f"Clerk#{1 + self.below(10):09}"
        return (key, customer, status, total, day, priority, clerk, 0, self.text()), lines

    def _line(
        self, order: int, number: int, day: date, parts: Sequence[Row], supplies: Sequence[Row]
    ) -> Row:
        part = self.one(parts)
        supply = supplies[(part[0] - 1) * SUPPLIERS_OF_A_PART + self.below(SUPPLIERS_OF_A_PART)]
        quantity = 1 + (self.below(15) if self.is_so(0.4) else self.below(50))
        shipped = day + timedelta(1 + self.below(121))
        committed, received = (
            day + timedelta(30 + self.below(61)),
            shipped + timedelta(1 + self.below(30)),
        )
        returned = self.one("RA") if received <= TODAY else "N"
        return (
            order,
            part[0],
            supply[1],
            number,
            100 * quantity,
            quantity * part[7],
            self.below(11),
            self.below(9),
            returned,
            "O" if shipped > TODAY else "F",
            shipped,
            committed,
            received,
            INSTRUCTIONS[0] if self.is_so(0.5) else self.one(INSTRUCTIONS),
            "AIR" if self.is_so(0.2) else self.one(MODES),
            "",
        )
