"""`discreet coverage`: the share of rows and values that answers count, measured privately."""
# ruff: noqa: PLR0913 - each argument is an option

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path

import typer

from discreet.amounts import amount_up
from discreet.catalog.edits import with_rows_per_unit
from discreet.catalog.resolve import read
from discreet.cli.ask import Asked, opened
from discreet.cli.console import answers, remark, show, waiting, width_of
from discreet.cli.options import AccountOptions, account_options
from discreet.curator import Curator
from discreet.errors import CatalogError
from discreet.explanation.coverage import Coverage, share_text
from discreet.opening import open_to_measure
from discreet.writing import write_file

TYPICAL_PART = Fraction(1, 10)
"""The part of the total ε that a typical query costs, unless the owner says another."""


def coverage(
    *,
    table: str,
    catalog: Path,
    epsilon: Fraction | None,
    columns: str | None,
    write: bool,
    query_epsilon: Fraction | None,
    is_json: bool,
    account: str | None,
    token: str | None,
    server: str | None,
) -> None:
    """Measure a table's coverage and print it."""
    charged = account_options(account, token, server)
    if write and charged != AccountOptions():
        raise typer.BadParameter("--write changes the catalog, which only the data owner does.")
    if write:
        _write(catalog, table, epsilon, query_epsilon, is_json=is_json)
        return
    with opened(catalog, charged) as curator:
        found = _measured(curator, table, epsilon, _names(columns))
    _show(found, is_json=is_json)


def _names(columns: str | None) -> list[str] | None:
    return None if columns is None else [each.strip() for each in columns.split(",")]


def _measured(
    curator: Asked, table: str, epsilon: Fraction | None, columns: list[str] | None
) -> Coverage:
    with waiting("measuring"):
        return curator.coverage(table, epsilon=epsilon, columns=columns)


def _show(found: Coverage, *, is_json: bool) -> None:
    show(found.to_json(indent=2) if is_json else found.to_text(width=width_of(answers())))


# --------------------------------------------------------------------------- the best limit


def _write(
    catalog: Path,
    table: str,
    epsilon: Fraction | None,
    query_epsilon: Fraction | None,
    *,
    is_json: bool,
) -> None:
    """Measure the rows of units alone, choose the limit, and write it into the catalog."""
    with _opened_to_measure(catalog) as curator:
        total = curator.catalog.budget.epsilon
        found = _measured(curator, table, epsilon, [])
    typical = total * TYPICAL_PART if query_epsilon is None else query_epsilon
    limit = found.best_rows_per_unit(typical)
    if limit is None:
        raise CatalogError(
            f"No rows_per_unit was found for {found.table}: too few {found.unit} values stand out "
            "from the noise",
            "What was spent stays spent. Try a larger --epsilon, or write a number",
        )
    text = with_rows_per_unit(catalog.read_text(encoding="utf-8"), found.table, limit)
    write_file("catalog", catalog, text.encode())
    share = found.rows_at(limit)
    kept = "" if share is None else f" It counts {share_text(share)} of the rows of {found.table}."
    remark(
        f"Wrote rows_per_unit = {limit} of {found.table} into {catalog}: the least expected error "
        f"of COUNT(*) at ε = {amount_up(typical)}.{kept}"
    )
    if is_json:
        show(found.to_json(indent=2))
        return
    remark(f"Spent {'nothing' if found.from_ledger else found.price}. Remaining: {found.remaining}")


@contextmanager
def _opened_to_measure(catalog: Path) -> Iterator[Curator]:
    declared = read(catalog)
    with waiting("reading the data"):
        curator = open_to_measure(catalog, declared=declared)
    with curator:
        yield curator
