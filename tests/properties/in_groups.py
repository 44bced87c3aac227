"""Questions by group of many shapes: joins that fan out, unions, windows, and odd keys."""

# ruff: noqa: S608 - the SQL is the tests' own

from tests.properties.questions import IN_GROUPS, UNITS

KEYS = ("v.cost", "v.cost * 0", "COALESCE(v.diagnosis, v.note)", "v.note, v.clinic_id")

ROWS = (
    "visits v LEFT JOIN rooms r ON r.clinic_id = v.clinic_id",
    "visits v LEFT JOIN visits w ON w.patient_id = v.patient_id AND w.minutes > v.minutes",
    "(SELECT * FROM visits UNION ALL SELECT * FROM visits) v",
    "(SELECT * FROM visits QUALIFY ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY cost) < 3)"
    " AS v",
)

OF_ANY_SHAPE = (
    *IN_GROUPS,
    *(
        f"SELECT {keys}, {UNITS}, SUM(v.minutes) FROM {rows} GROUP BY {keys}"
        for keys in KEYS
        for rows in ROWS
    ),
    "SELECT w.diagnosis, v.note, COUNT(DISTINCT v.patient_id) FROM visits v "
    "LEFT JOIN visits w ON w.patient_id = v.patient_id AND w.minutes > v.minutes GROUP BY 1, 2",
    "SELECT r.floor, COUNT(DISTINCT v.patient_id) FROM visits v "
    "JOIN rooms r ON r.clinic_id = v.clinic_id GROUP BY r.floor",
)
