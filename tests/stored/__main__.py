"""Writes golden files anew: `python -m tests.stored identities.json ...`.

What is stored never changes its meaning. So this is for files that are new, for questions that are
added, and for SQL that was changed on purpose; nothing else runs it.
"""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.stored import events, forms, identities, ledgers, local_reports, statements
from tests.stored.golden import GOLDEN, json_text

TEXTS: dict[str, Callable[[Path], str]] = {
    "identities.json": lambda _: json_text(identities.identities()),
    "intervals.json": lambda _: json_text(identities.intervals()),
    "events.json": lambda _: json_text(events.records()),
    "forms.json": lambda folder: json_text(forms.texts(folder)),
    "local.json": lambda _: json_text(
        {name: local_reports.reports(name) for name in local_reports.CASES}
    ),
    "duckdb.sql": lambda _: statements.statements("duckdb"),
    "postgresql.sql": lambda _: statements.statements("postgresql"),
    "spark.sql": lambda _: statements.statements("spark"),
    "duckdb_intervals.sql": lambda _: statements.changed("duckdb"),
    "postgresql_intervals.sql": lambda _: statements.changed("postgresql"),
    "spark_intervals.sql": lambda _: statements.changed("spark"),
}

for wanted in sys.argv[1:]:
    with TemporaryDirectory() as folder:
        os.environ["DISCREET_STATE"] = folder
        if wanted in ledgers.CATALOGS:
            ledgers.write_ledger(wanted, Path(folder))
        elif wanted == "ledger_5":
            ledgers.write_requests(Path(folder))
        elif wanted == "ledger_6":
            ledgers.write_limits(Path(folder))
        else:
            (GOLDEN / wanted).write_text(TEXTS[wanted](Path(folder)), encoding="utf-8")
