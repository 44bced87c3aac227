"""One query on one table: every statistic, every way to limit contributions, every kind of group.

The victim is where the answer changes most: at an end of the bounds, in a copy that is otherwise
empty or balanced, among rows that are left out (NULL, NaN, infinities, undeclared groups).
"""

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from math import inf, nan

from discreet.audit.question_experiments import AskedQuestion, Experiment, Row

VICTIM: Row = {"person": 0, "x": 8.0, "kind": "a", "day": 1}


LOW: Row = {"person": 1, "x": 0.0, "kind": "b", "day": 1}


HIGH: Row = {"person": 2, "x": 8.0, "kind": "a", "day": 2}


ODD: tuple[Row, ...] = (
    {"person": 3, "x": nan, "kind": "c", "day": 3},
    {"person": 4, "x": inf, "day": -9},
    {"person": 5, "x": -1e308, "kind": ""},
    {"person": 6},
    {"x": 8.0, "kind": "a", "day": 1},
)
"""Rows that are hard to count. The last one has no unit."""


FEW, DEAR = 3_000, Fraction(3)
"""The runs of a query with slow groups, such as quantiles, and its higher cost."""


DELTA = Fraction(1, 40)
"""Large enough to detect. At epsilon 1, a group of one unit is shown with probability 0.0236."""


def about_visits(
    name: str, sql: str, victim: Iterable[Row] = (VICTIM,), others: Iterable[Row] = ()
) -> Experiment:
    """Return the experiment whose victim has these rows here, and none there."""
    rest = list(others)
    return Experiment(
        name=name,
        questions=(AskedQuestion(sql),),
        here={"visits": [*victim, *rest]},
        there={"visits": rest},
    )


def measured() -> tuple[Experiment, ...]:
    """Return counts, sums and moments."""
    return (
        about_visits("COUNT(*)", by_copy("COUNT(*)")),
        about_visits("COUNT(*), odd rows besides", by_copy("COUNT(*)"), others=ODD),
        about_visits("COUNT(x), NULL and NaN besides", by_copy("COUNT(x)"), others=ODD),
        about_visits("COUNT(DISTINCT person)", by_copy("COUNT(DISTINCT person)"), others=[LOW]),
        about_visits("APPROX_COUNT_DISTINCT", by_copy("APPROX_COUNT_DISTINCT(person)")),
        replace(
            about_visits(
                "COUNT(DISTINCT kind)",
                by_copy("COUNT(DISTINCT kind)"),
                victim=[VICTIM, VICTIM | {"kind": "b"}],
            ),
            rows_per_unit=2,
        ),
        about_visits("SUM", by_copy("SUM(x)"), others=ODD),
        about_visits("SUM(DISTINCT x)", by_copy("SUM(DISTINCT x)"), others=[LOW, *ODD]),
        about_visits(
            "SUM of either sign", by_copy("SUM(x - 8)"), victim=[VICTIM | {"x": 0.0}], others=[HIGH]
        ),
        about_visits(
            "SUM beyond its bounds", by_copy("SUM(x)"), victim=[VICTIM | {"x": 1e300}], others=[LOW]
        ),
        about_visits("AVG of one row", by_copy("AVG(x)")),
        about_visits(
            "AVG of one far from others",
            by_copy("AVG(x)"),
            others=[LOW, LOW | {"person": 7, "x": 2.0}],
        ),
        about_visits("AVG and COUNT", by_copy("AVG(x) AS mean, COUNT(*)"), others=[LOW]),
        about_visits("VARIANCE", by_copy("VARIANCE(x)"), others=[LOW, LOW | {"person": 7}]),
        about_visits(
            "STDDEV, AVG and COUNT",
            by_copy("STDDEV(x) AS spread, AVG(x) AS mean, COUNT(*)"),
            others=[LOW],
        ),
        about_visits(
            "CORR and COUNT",
            by_copy("CORR(x, day) AS r, COUNT(*)"),
            others=[LOW, HIGH, *ODD],
        ),
        about_visits("REGR_SLOPE", by_copy("REGR_SLOPE(x, day)"), others=[LOW, HIGH]),
        about_visits("WHERE", by_copy("COUNT(*)", "WHERE x / day > 3 AND kind = 'a'"), others=ODD),
        about_visits("FILTER", by_copy("SUM(x) FILTER (WHERE kind = 'a')"), others=[LOW]),
        about_visits("CASE", by_copy("SUM(CASE WHEN x > 7 THEN 1 ELSE 0 END)"), others=ODD),
        replace(about_visits('unit = "row"', by_copy("COUNT(*)")), declared={"unit": "row"}),
        drifting(),
    )


def drifting() -> Experiment:
    """Return a sum that one row changes by much in 11-bit floats, and only by its value exactly.

    At 4096 such floats are 4 apart above and 2 below. Without the victim, each of 120 rows of -1.5
    lowers the sum by 2. The victim's 3 raises it to 4100, where -1.5 is rounded away every time.
    """
    up = [LOW | {"person": 1 + each, "x": 8.0} for each in range(64)]
    down = [LOW | {"person": 65 + each, "x": 62.5 / 16} for each in range(120)]
    found = about_visits("SUM that floats get wrong", by_copy("SUM(16 * x - 64)"))
    return replace(
        found,
        here={"visits": [*up, VICTIM | {"x": 67 / 16}, *down]},
        there={"visits": [*up, *down]},
        copies=1_000,
        runs=1_000,
    )


def chosen() -> tuple[Experiment, ...]:
    """Return statistics that are selected among values."""
    early = LOW | {"person": 7, "day": 0}
    found = (
        about_visits("MEDIAN", by_copy("MEDIAN(LEAST(day, 1))"), others=[early, LOW]),
        about_visits("MEDIAN of one row", by_copy("MEDIAN(day)"), victim=[VICTIM | {"day": 7}]),
        about_visits("QUANTILE", by_copy("QUANTILE(LEAST(day, 1), 0.9)"), others=[early] * 3),
        about_visits("MIN", by_copy("MIN(LEAST(day, 1))"), victim=[early], others=[LOW, HIGH]),
        about_visits("MAX", by_copy("MAX(LEAST(day, 1))"), others=[early]),
        about_visits("MODE of a tie", by_copy("MODE(kind)"), others=[LOW]),
    )
    return tuple(
        replace(
            each, questions=(AskedQuestion(each.questions[0].sql, DEAR),), epsilon=DEAR, runs=FEW
        )
        for each in found
    )


def bounded() -> tuple[Experiment, ...]:
    """Return queries about a victim with many more rows than the contribution limit."""
    many = [VICTIM | {"x": 8 - each / 8} for each in range(30)]
    spread = [VICTIM | {"kind": "ab"[each % 2]} for each in range(30)]
    two = by_copy("COUNT(*)", keys="copy, kind")
    found = (
        about_visits("30 rows where 3 count", by_copy("COUNT(*)"), many, [LOW]),
        about_visits("SUM of 30 rows where 3 count", by_copy("SUM(x)"), [VICTIM] * 30),
        replace(about_visits("30 rows over two groups", two, spread), rows=2),
        about_visits("COUNT(DISTINCT x) of 30 rows", by_copy("COUNT(DISTINCT x)"), many, [LOW]),
    )
    prepared = [replace(each, rows_per_unit=3, copies=5_000, runs=5_000) for each in found]
    per_query = [
        replace(each, name=f"{each.name}, per query", declared={"row_choice": "per-query"})
        for each in prepared
    ]
    return (*prepared, *per_query)


def keyed() -> tuple[Experiment, ...]:
    """Return declared and undeclared groups, and replace neighbours."""
    histogram = by_copy("COUNT(*)", keys="copy, kind")
    two = replace(about_visits("histogram", histogram, others=[LOW]), rows=2)
    by_size = by_copy("COUNT(*)", keys="copy, CASE WHEN x > 4 THEN 'much' ELSE 'little' END")
    changes = replace(
        two,
        name="histogram, replaced",
        here={"visits": [VICTIM]},
        there={"visits": [VICTIM | {"kind": "b"}]},
        declared={"neighbours": "replace"},
    )
    return (
        two,
        replace(
            two,
            name="histogram, two groups",
            here={"visits": [VICTIM, VICTIM | {"kind": "b"}]},
            there={"visits": []},
            rows_per_unit=2,
        ),
        changes,
        replace(
            changes,
            name="SUM, replaced",
            questions=(AskedQuestion(by_copy("SUM(x)", keys="copy, kind")),),
        ),
        replace(
            two,
            name="NULL as a group",
            here={"visits": [VICTIM | {"kind": None}, LOW]},
            rows=3,
            declared={"nulls": {"visits.kind": True}},
        ),
        replace(two, name="keys of a CASE", questions=(AskedQuestion(by_size),)),
        *(unknown(f"unknown keys of {each} others", each) for each in (0, 3, 5)),
        unknown("unknown keys with SUM", 4, by_copy("COUNT(*) AS n, SUM(x)")),
        replace(
            unknown("unknown keys by rows", 2, by_copy("COUNT(*)")),
            here={"visits": [VICTIM] * 3 + [LOW] * 2},
            there={"visits": [LOW] * 2},
            rows_per_unit=3,
        ),
        unknown_replaced(),
        unknown_in_many_groups(),
        gaussian(),
        in_few_groups(),
    )


def unknown(name: str, others: int, sql: str = "") -> Experiment:
    """Return undeclared groups, each with the victim and this many others."""
    rest = [LOW | {"person": 1 + each} for each in range(others)]
    found = about_visits(name, sql or by_copy("COUNT(DISTINCT person)"), others=rest)
    return replace(
        found,
        questions=(found.questions[0]._replace(delta=DELTA),),
        delta=DELTA,
        budget=(Fraction(1000), Fraction(1, 2)),
        keys_are_known=False,
    )


def unknown_replaced() -> Experiment:
    """Return a victim that moves from one undeclared group to another."""
    rest = [
        LOW | {"person": 10 * (1 + each) + ord(kind), "kind": kind}
        for each in range(3)
        for kind in "ab"
    ]
    people = by_copy("COUNT(DISTINCT person)", keys="copy, kind")
    return replace(
        unknown("unknown keys, replaced", 0, people),
        here={"visits": [VICTIM, *rest]},
        there={"visits": [VICTIM | {"kind": "b"}, *rest]},
        rows=2,
        declared={"neighbours": "replace"},
    )


def unknown_in_many_groups() -> Experiment:
    """Return a victim in eight undeclared groups, which Gaussian noise selects."""
    return replace(
        unknown("unknown keys, Gaussian noise", 0, PEOPLE_BY_DAY),
        here={"visits": EVERY_DAY},
        there={"visits": []},
        rows_per_unit=8,
        rows=8,
        copies=5_000,
    )


def in_few_groups() -> Experiment:
    """Return a victim in eight groups, of which two count."""
    return replace(
        about_visits("8 groups where 2 count", PEOPLE_BY_DAY, EVERY_DAY),
        rows_per_unit=8,
        rows=8,
        copies=5_000,
        declared={"groups_per_unit": {"visits": 2}},
    )


def gaussian() -> Experiment:
    """Return a histogram of people over days, which gets Gaussian noise."""
    return replace(
        about_visits("people by day, Gaussian noise", PEOPLE_BY_DAY, EVERY_DAY),
        questions=(AskedQuestion(PEOPLE_BY_DAY, delta=DELTA),),
        delta=DELTA,
        budget=(Fraction(1000), Fraction(1, 2)),
        rows_per_unit=8,
        rows=8,
        copies=5_000,
    )


def by_copy(statistic: str, where: str = "", *, keys: str = "copy", table: str = "visits") -> str:
    """Return a query that groups by copy."""
    return f"SELECT {keys}, {statistic} AS n FROM {table} {where} GROUP BY {keys}"  # noqa: S608


PEOPLE_BY_DAY = by_copy("COUNT(DISTINCT person)", keys="copy, day")

EVERY_DAY = [VICTIM | {"day": each} for each in range(8)]
