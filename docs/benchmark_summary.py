"""Write docs/explanation/benchmarks.md: headline figures, taken from docs/benchmark-tables.md."""

import re
from pathlib import Path

TABLES = Path(__file__).parent / "benchmark-tables.md"

TEMPLATE = """# Benchmarks

On 10 million rows, six of our seven benchmark queries take at most {ten_million} times as long as the same SQL without privacy; at 100
million rows, at most {hundred_million} times. The seventh, a bare `COUNT(*)`, takes {count_ours} ms instead of {count_plain}, because each
query has a fixed overhead. This page has the headline results, the systems we compared with, and the commands to reproduce them. All
measured figures are in the [benchmark tables](../benchmark-tables.md), which also describe each measurement.

{machine}

## Queries

Seven queries at ε = 1 and δ = 10⁻⁶ each. At most 20 rows per patient are used.

| | |
|---|---|
| W1 | `SELECT COUNT(*) FROM visits` |
| W2 | `SELECT region, COUNT(*), SUM(cost), AVG(minutes) FROM visits GROUP BY region`, 20 declared regions |
| W3 | `SELECT day, region, COUNT(*) FROM visits GROUP BY day, region`, 7,300 undeclared groups |
| W4 | `SELECT MEDIAN(cost) FROM visits` |
| W5 | `SELECT COUNT(DISTINCT patient_id) FROM visits` |
| W6 | `SELECT sex, COUNT(*), AVG(cost) FROM visits JOIN patients ON` the unit `GROUP BY sex`, both tables private |
| W7 | `SELECT AVG(LEAST(total, 5000)) FROM (SELECT SUM(cost) AS total FROM visits GROUP BY patient_id)` |

![Wall time of seven queries, against plain SQL and five systems](../figures/workloads.svg)

Wall milliseconds at 10⁷ rows, and in brackets the ratio to the same SQL without privacy. "Prepared copy" is a table that
`discreet prepare` made; its ratio is to plain SQL on a DuckDB file.

{workloads}

At 10⁸ rows, in files:

{large}

Errors at 10⁷ rows: the median relative error of the numbers shown, against the value that the limit of 20 rows leaves on average.

{errors}

## Memory

{memory}

## Noise

The noise is exact and comes from a cryptographic generator. NumPy's is neither, and OpenDP's is exact.

{noise}

## Accounting, local privacy and utility

The [benchmark tables](../benchmark-tables.md) compare the accounting methods with dp-accounting, the local mechanisms with pure-ldp and
multi-freq-ldpy, and the optimal mechanisms with qif. They also break down where Discreet's own time goes.

## The systems compared

| system | version | how it is driven |
|---|---|---|
| OpenDP | 0.16.0, its Polars | a lazily scanned Parquet file; rows bounded by `truncate_per_group`, W5 and W7 by one row for each unit |
| Qrlew | 0.9.27 | its SQL run by DuckDB on tables in memory; `max_multiplicity` 20. It counts rows, not units, for `COUNT(DISTINCT unit)` |
| SmartNoise SQL | 1.0.10 | data frames in memory; `max_ids` 20; ε is divided by what its odometer counts for one query |
| PipelineDP | 0.3.1 | `LocalBackend` on a list of rows in memory; `max_contributions` 20 in W2, its limits by group in the others |
| Tumult Analytics | 0.21.0 | Spark 3.5 on this machine with 8 GB, tables cached; `MaxRowsPerID` 20 |

Each runs in its own environment, in its own process, on the same data and with the same ε, δ and limit. "cannot" means that the system does not
support the query; the tables give the reason.

## Reproduce

```sh
make bench                                            # everything; with all systems at 10^7 rows some hours
make bench QUICK=1                                    # the seven queries at 10^5 and 10^6 rows, memory at 10^6
.venv/bin/python -m benchmarks workloads --rows 1e8   # one size: above 10^7 only Discreet and plain SQL, in files
.venv/bin/python -m benchmarks workloads --page       # write the results to the tables; then make docs
```
"""

Table = list[dict[str, str]]


def benchmark_summary_page() -> str:
    """Return docs/explanation/benchmarks.md."""
    text = TABLES.read_text(encoding="utf-8")
    wall = "rows: wall ms of the best of three asks"
    medium, large = (_table(text, f"{size} {wall}") for size in ("10^7", "10^8"))
    kept = ("workload", "raw", "discreet", "discreet, copy", "OpenDP", "Qrlew", "SmartNoise SQL")
    more = ("PipelineDP", "Tumult")
    return TEMPLATE.format(
        machine=f"Measured on: {_machine(text)}",
        workloads=_shown(medium, (*kept, *more)),
        large=_shown(large, ("workload", "raw, file", "discreet, copy")),
        errors=_shown(_table(text, "10^7 rows: median relative error"), (*kept, *more)),
        memory=_memory(text),
        noise=_noise(text),
        ten_million=_most(medium, ("discreet", "discreet, copy")),
        hundred_million=_most(large, ("discreet, copy",)),
        count_ours=f"{float(medium[0]['discreet'].split()[0]):.1g}",
        count_plain=f"{float(medium[0]['raw']):.2g}",
    )


NAMES = {
    "workload": "query",
    "raw": "plain SQL",
    "raw, file": "plain SQL, file",
    "discreet": "Discreet",
    "discreet, copy": "Discreet, prepared copy",
}


def _table(text: str, title: str) -> Table:
    """Return the first table below a heading that begins with the title."""
    found = re.search(rf"^### {re.escape(title)}.*?\n\n((?:\|.*\n)+)", text, re.M)
    if found is None:
        raise ValueError(f"benchmark-tables.md has no table {title!r}")
    lines = [[each.strip() for each in line.strip("|").split("|")] for line in found[1].splitlines()]
    return [dict(zip(lines[0], line, strict=True)) for line in lines[2:]]


def _shown(table: Table, columns: tuple[str, ...]) -> str:
    head = "| " + " | ".join(NAMES.get(each, each) for each in columns) + " |"
    rows = ("| " + " | ".join(_percent(row[each]) for each in columns) + " |" for row in table)
    return "\n".join([head, "|" + "---|" * len(columns), *rows])


def _percent(cell: str) -> str:
    return re.sub(r"(\d) %", r"\1%", cell)


def _most(table: Table, columns: tuple[str, ...]) -> str:
    """Return the largest ratio to plain SQL of all queries but the bare count."""
    ratios = [re.search(r"\(([\d.]+)×\)", row[each]) for row in table[1:] for each in columns]
    return f"{max(float(each[1]) for each in ratios if each):g}"


def _machine(text: str) -> str:
    found = re.search(r"^`python -m benchmarks workloads`\n\n(.*)$", text, re.M)
    return found[1] if found else ""


def _memory(text: str) -> str:
    table = _table(text, "10^8 rows within")
    most = max(float(row["peak MB of the process"].replace(",", "")) for row in table[1:])
    return (
        f"With a memory limit of 4 GB, 10⁸ rows take {table[0]['seconds']} seconds to prepare. The seven queries "
        f"then take at most {most:,.0f} MB, Python and the database together."
    )


def _noise(text: str) -> str:
    table = _table(text, "Targets")
    rows = (f"| {row['target']} | {row['measured']} |" for row in table)
    return "\n".join(["| | measured |", "|---|---|", *rows])
