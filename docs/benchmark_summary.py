"""Put headline figures on docs/explanation/benchmarks.md, from docs/benchmark-tables.md.

What is computed is between `<!-- name -->` and `<!-- /name -->`; the rest of the page is prose.
"""

import re
from pathlib import Path

TABLES = Path(__file__).parent / "benchmark-tables.md"
PAGE = Path(__file__).parent / "explanation" / "benchmarks.md"

Table = list[dict[str, str]]


def benchmark_summary_page() -> str:
    """Return docs/explanation/benchmarks.md."""
    text = TABLES.read_text(encoding="utf-8")
    wall = "rows: wall ms of the best of three runs"
    medium, large = (_table(text, f"{size} {wall}") for size in ("10^7", "10^8"))
    kept = (
        "workload",
        "plain SQL",
        "discreet",
        "discreet, copy",
        "OpenDP",
        "Qrlew",
        "SmartNoise SQL",
    )
    more = ("PipelineDP", "Tumult")
    figures = {
        "machine": _machine(text),
        "workloads": _shown(medium, (*kept, *more)),
        "large": _shown(large, ("workload", "plain SQL, file", "discreet, copy")),
        "errors": _shown(_table(text, "10^7 rows: median relative error"), (*kept, *more)),
        "memory": _memory(text),
        "noise": _noise(text),
        "ten_million": _most(medium, ("discreet", "discreet, copy")),
        "hundred_million": _most(large, ("discreet, copy",)),
        "count_ours": f"{float(medium[0]['discreet'].split()[0]):.1g}",
        "count_plain": f"{float(medium[0]['plain SQL']):.2g}",
        **_engine_figures(text),
        **_cluster_figures(text),
        "growth": _shown(
            _table(text, "Preparing all rows"),
            ("engine", "rows", "all: wall s", "1 %: wall s", "all: CPU s", "1 %: CPU s", "%"),
        ),
    }
    page = PAGE.read_text(encoding="utf-8")
    for name, figure in figures.items():
        page = _with_figure(page, name, figure)
    return page


def _with_figure(page: str, name: str, figure: str) -> str:
    """Return the page with a figure between its two marks; tables have lines of their own."""
    shown = f"\n\n{figure}\n\n" if figure.startswith("|") else figure
    before, begin, rest = page.partition(f"<!-- {name} -->")
    _, end, after = rest.partition(f"<!-- /{name} -->")
    return f"{before}{begin}{shown}{end}{after}"


ENGINES = ("DuckDB", "PostgreSQL", "Spark")
WAYS = ("plain SQL", "per-query", "prepared")
QUERIES = 7
SIZES = {"10^8": "10⁸", "10^7": "10⁷", "10^6": "10⁶", "10^5": "10⁵"}
"""As the tables and as the page write them, the largest first."""


def _has_all(text: str, size: str, columns: tuple[str, ...]) -> bool:
    """Return whether all engines were measured at a size."""
    title = f"Engines, {size} rows: wall ms"
    table = _table(text, title) if f"### {title}" in text else []
    return len(table) == QUERIES and table[0].keys() >= {*columns}


def _engine_figures(text: str) -> dict[str, str]:
    """Return what the page says of each engine, at the largest size that all of them have."""
    columns = tuple(f"{engine}, {way}" for engine in ENGINES for way in WAYS)
    size = next(each for each in SIZES if _has_all(text, each, columns))
    wall, memory = (
        _table(text, f"Engines, {size} rows: {each}") for each in ("wall ms", "peak memory MB")
    )
    growth = _table(text, "Engines: exponent of growth")
    return {
        "engine_rows": SIZES[size],
        "engines": _shown(wall, ("workload", *columns)),
        "engine_memory": _shown(memory, ("workload", *columns)),
        "engine_growth": _shown(growth, ("workload", *columns)),
        "engine_first": _shown(_table(text, "Engines: the first W1"), ("rows", *columns)),
        "ticks": _shown(
            _table(text, "Engines: a tick of a series"), ("series", "rows", "plain ms", "tick ms")
        ),
        "postgresql_settings": _note(text, "PostgreSQL"),
        **{
            f"{engine.lower()}_{way.replace('-', '_')}": _most_answered(wall, f"{engine}, {way}")
            for engine in ENGINES
            for way in WAYS[1:]
        },
    }


def _cluster_figures(text: str) -> dict[str, str]:
    """Return what the page says of the cluster."""
    found = re.search(r"^### (\S+) rows on a Spark cluster", text, re.M)
    if found is None:
        raise ValueError("benchmark-tables.md has no table of a cluster")
    table = _table(text, f"{found[1]} rows on a Spark cluster")
    return {
        "cluster_rows": SIZES[found[1]],
        "cluster": _shown(table, ("workload", "plain SQL", "discreet", "prepared")),
        "cluster_note": _note(text, "discreet prepare took"),
    }


def _most_answered(table: Table, column: str) -> str:
    """Return the largest ratio, and say so if it is not that of all queries."""
    found = _most(table, (column,))
    is_whole = all("×" in row[column] for row in table[1:])
    return found if is_whole else f"{found} (in the queries that were answered in time)"


def _note(text: str, first: str) -> str:
    """Return the last line of the tables that begins with these words and a number."""
    found = re.findall(rf"^{first} \d.*$", text, re.M)
    return found[-1] if found else "–"


NAMES = {
    "workload": "query",
    "discreet": "Discreet",
    "discreet, copy": "Discreet, prepared copy",
    "prepared": "Discreet, prepared",
    "%": "CPU %",
}


def _table(text: str, title: str) -> Table:
    """Return the first table below a heading that begins with the title."""
    found = re.search(rf"^### {re.escape(title)}.*?\n\n((?:\|.*\n)+)", text, re.M)
    if found is None:
        raise ValueError(f"benchmark-tables.md has no table {title!r}")
    lines = [
        [each.strip() for each in line.strip("|").split("|")] for line in found[1].splitlines()
    ]
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
        f"With a memory limit of 4 GB, 10⁸ rows take {table[0]['seconds']} seconds to prepare. "
        f"The seven queries then take at most {most:,.0f} MB, Python and the database together."
    )


def _noise(text: str) -> str:
    table = _table(text, "Targets")
    rows = (f"| {row['target']} | {row['measured']} |" for row in table)
    return "\n".join(["| | measured |", "|---|---|", *rows])
