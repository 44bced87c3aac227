"""The fix that an error suggests works when it is copied into the query."""

import re
from collections.abc import Callable, Iterator

import pytest

from discreet.curator import Curator
from discreet.errors import QuestionError
from tests.attacks.clinic import opened

RANKED = "SELECT COUNT(*) FROM (SELECT {} AS r FROM visits) WHERE r = 1"
BY_REGION = "SELECT region, COUNT(*) AS n FROM patients{} GROUP BY region"
FIRST = "PARTITION BY patient_id ORDER BY cost"

FIXES: dict[str, tuple[str, str, Callable[..., str]]] = {
    "window": (
        RANKED.format("RANK() OVER (ORDER BY cost)"),
        r"In a subquery, write (.+)\. Then aggregate",
        RANKED.format,
    ),
    "window by a column": (
        "SELECT ROW_NUMBER() OVER (PARTITION BY clinic_id ORDER BY cost) FROM visits",
        r"In a subquery, write (.+)\. Then aggregate",
        RANKED.format,
    ),
    "named window": (
        "SELECT COUNT(*) FROM (SELECT patient_id, RANK() OVER (w ORDER BY cost) AS r FROM visits "
        "WINDOW w AS (PARTITION BY patient_id ORDER BY day)) WHERE r = 1",
        r"Write the whole definition in (OVER) \(\.\.\.\), without w\.",
        lambda over: RANKED.format(f"RANK() {over} ({FIRST})"),
    ),
    "distinct on": (
        "SELECT DISTINCT ON (region) region FROM patients",
        r"Write (DISTINCT ON \(patient_id, region\)) in a subquery, and aggregate its rows\.",
        "SELECT COUNT(*) FROM (SELECT {} region FROM patients) AS t".format,
    ),
    "left join": (
        "SELECT COUNT(*) FROM clinics c LEFT JOIN visits v ON c.clinic_id = v.clinic_id",
        r"Write (COUNT\(v\.patient_id\)), or use JOIN\.",
        "SELECT {} FROM clinics c LEFT JOIN visits v ON c.clinic_id = v.clinic_id".format,
    ),
    "left join without aliases": (
        "SELECT AVG(COALESCE(cost, 0)) FROM clinics LEFT JOIN visits USING (clinic_id)",
        r"add (FILTER \(WHERE visits\.patient_id IS NOT NULL\))\.",
        "SELECT AVG(COALESCE(cost, 0)) {} FROM clinics LEFT JOIN visits USING (clinic_id)".format,
    ),
    "left join of a private key": (
        "SELECT diagnosis, COUNT(v.cost) FROM clinics c LEFT JOIN visits v "
        "ON c.clinic_id = v.clinic_id GROUP BY diagnosis",
        r"add (WHERE v\.diagnosis IS NOT NULL)\.",
        (
            "SELECT diagnosis, COUNT(v.cost) FROM clinics c LEFT JOIN visits v "
            "ON c.clinic_id = v.clinic_id {} GROUP BY diagnosis"
        ).format,
    ),
    "join on true": (
        "SELECT COUNT(*) FROM patients p LEFT JOIN visits v ON true",
        r"Add (.+) to the ON clause\.",
        "SELECT COUNT(*) FROM patients p LEFT JOIN visits v ON {}".format,
    ),
    "join using": (
        "SELECT COUNT(*) FROM visits v LEFT JOIN visits w USING (clinic_id)",
        r"Write (USING \(patient_id, clinic_id\))\.",
        "SELECT COUNT(*) FROM visits v LEFT JOIN visits w {}".format,
    ),
    "mode": (
        "SELECT MODE(diagnosis) FROM visits",
        r"Write (.+) in its place, and add (.+)\. Or ask",
        "SELECT {} FROM visits {}".format,
    ),
    "aggregate in WHERE": (
        BY_REGION.format(" WHERE COUNT(*) > 10"),
        r"Remove this condition and write (HAVING COUNT\(\*\) > 10), or",
        lambda having: f"{BY_REGION.format('')} {having}",
    ),
    "alias in WHERE": (
        BY_REGION.format(" WHERE n > 3"),
        r"Remove this condition and write (HAVING n > 3), or",
        lambda having: f"{BY_REGION.format('')} {having}",
    ),
    "rollup": (
        "SELECT patient_id, COUNT(*) FROM visits GROUP BY ROLLUP (patient_id)",
        r"Write (GROUP BY patient_id) in a subquery",
        "SELECT COUNT(*) FROM (SELECT patient_id FROM visits {}) AS t".format,
    ),
    "recursive": (
        "WITH RECURSIVE t AS (SELECT patient_id FROM visits) SELECT COUNT(*) FROM t",
        r"Remove (RECURSIVE)\.",
        lambda _: "WITH t AS (SELECT patient_id FROM visits) SELECT COUNT(*) FROM t",
    ),
    "clamp": (
        "SELECT SUM(CLAMP(cost, 9, 1)) FROM visits",
        r"Write (CLAMP\(cost, 1, 9\))\.",
        "SELECT SUM({}) FROM visits".format,
    ),
    "double quotes": (
        'SELECT COUNT(*) FROM patients WHERE region = "north"',
        r"Write text in single quotes: ('north')\.",
        "SELECT COUNT(*) FROM patients WHERE region = {}".format,
    ),
    "curly quotes": (
        "SELECT COUNT(*) FROM patients WHERE region = ’north’",
        r"Write text in single quotes: ('north')\.",
        "SELECT COUNT(*) FROM patients WHERE region = {}".format,
    ),
    "number that is not grouped": (
        "SELECT minutes, COUNT(*) FROM visits",
        r"or write (AVG\(minutes\))\.",
        "SELECT {}, COUNT(*) FROM visits".format,
    ),
    "text that is not grouped": (
        "SELECT diagnosis, COUNT(*) FROM visits",
        r"or write (COUNT\(DISTINCT diagnosis\))\.",
        "SELECT {}, COUNT(*) FROM visits".format,
    ),
}


@pytest.fixture(scope="module")
def clinic() -> Iterator[Curator]:
    with opened() as curator:
        yield curator


@pytest.mark.parametrize("case", FIXES)
def test_a_suggested_fix_works_when_it_is_copied(clinic: Curator, case: str) -> None:
    wrong, pattern, fixed = FIXES[case]
    with pytest.raises(QuestionError) as caught:
        clinic.explain(wrong, epsilon=1)
    copied = re.search(pattern, str(caught.value))
    assert copied is not None, str(caught.value)
    assert clinic.explain(fixed(*copied.groups()), epsilon=1).columns


@pytest.mark.parametrize(
    ("sql", "place", "says"),
    [
        (BY_REGION.format(" WHERE n > 3"), "n > 3", "A condition on rows cannot contain n"),
        ("SELECT COUNT(*) FROM visits ORDER BY LIMIT", "LIMIT", 'Syntax error at or near "LIMIT"'),
        ("SELECT COUNT(*) FROM visits ORDER BY costs", "costs", "visits has no column costs"),
        ("SELECT COUNT(*) FROM visits WHERE random() < 0.5", "random", "Remove it. To use fewer"),
        ("SELECT COUNT(*) FROM read_csv('a.csv')", "read_csv", "Queries cannot read files or call"),
    ],
)
def test_an_error_points_at_the_mistake(clinic: Curator, sql: str, place: str, says: str) -> None:
    with pytest.raises(QuestionError) as caught:
        clinic.explain(sql, epsilon=1)
    assert says in str(caught.value)
    assert caught.value.span is not None
    assert sql[caught.value.span[0] :].startswith(place)


def test_a_column_called_limit_can_still_be_quoted(clinic: Curator) -> None:
    sql = 'SELECT "limit", COUNT(*) FROM (SELECT region AS "limit" FROM patients) GROUP BY "limit"'
    assert clinic.explain(f'{sql} ORDER BY "limit"', epsilon=1).columns
