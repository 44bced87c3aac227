"""Tables in which nothing is as declared, for tests that hold engines against each other."""

from dataclasses import replace
from functools import cache

import pyarrow as pa

from discreet.catalog.catalog import Catalog, RowChoice
from discreet.catalog.schema import PrivateTable
from tests.attacks.clinic import spread
from tests.properties.databases import (
    COLUMNS,
    PRIVATE,
    PUBLIC,
    WILD,
    catalog,
    table_of,
)

ROWS = 150
KEYS = (*range(25), None)


@cache
def wild_tables() -> dict[str, pa.Table]:
    """Return tables in which nothing is as declared, always the same."""
    made = {name: table_of(name, rows) for name, rows in PUBLIC.items()}
    for place, name in enumerate(PRIVATE):
        rows = [
            tuple(
                (WILD.get(column) or KEYS)[
                    spread(row * 31 + 7 * number + place, len(WILD.get(column) or KEYS))
                ]
                for number, column in enumerate(COLUMNS[name])
            )
            for row in range(ROWS)
        ]
        made[name] = table_of(name, rows)
    return made


def declared() -> Catalog:
    """Return the catalog with limits that no unit exceeds, so that no rows are chosen."""
    found = catalog()
    tables = tuple(
        replace(each, rows_per_unit=ROWS) if isinstance(each, PrivateTable) else each
        for each in found.tables
    )
    source = replace(found.source, row_choice=RowChoice.PER_QUERY)
    return replace(found, tables=tables, source=source)
