"""`discreet.open`: from files, data frames, servers or a catalog to a curator, in one call."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import cast

from discreet.catalog import Value, declare
from discreet.catalog.policy import Accounting, RowChoice, Suspends
from discreet.curator import Curator
from discreet.engines.loading import Source
from discreet.engines.spark.tables import Session, SparkFrame
from discreet.errors import ParameterError
from discreet.mechanisms.sensitivity import Neighbours
from discreet.opening.catalogs import MEMORY, curator_of, open_catalog
from discreet.opening.files import named
from discreet.opening.servers import names_tables, place_of, shown, tables_named
from discreet.parameters import Real, plain_text


def open_data(  # noqa: PLR0913 - each is a thing that an owner may declare
    source: "Source | Mapping[str, Source] | SparkFrame | Session",
    *,
    epsilon: Real | None = None,
    delta: Real = 0,
    unit: str | Mapping[str, str] | None = None,
    bounds: Mapping[str, Sequence[object]] | None = None,
    values: Mapping[str, Sequence[Value]] | None = None,
    step: Mapping[str, Real] | None = None,
    nulls: Mapping[str, bool] | None = None,
    types: Mapping[str, str] | None = None,
    rows_per_unit: int | Mapping[str, int] | None = None,
    public: bool | Collection[str] = (),
    neighbours: Neighbours | str = Neighbours.ADD_REMOVE,
    accounting: Accounting | str = Accounting.BASIC,
    least_epsilon: Real | None = None,
    incident_suspends: Suspends | str | None = None,
    name: str | None = None,
    ledger: str | Path | None = None,
    version: str | None = None,
    bounding: RowChoice | str | None = None,
    disjoint: Sequence[Sequence[str]] = (),
) -> Curator:
    """Return a curator of a CSV or Parquet file, a data frame, a DuckDB file or a catalog.

    `source` is one of these, or several by table name; or a data frame of Spark, which stays there;
    or a session of Spark, or the address of a PostgreSQL or Spark server, whose tables are those
    that `name`, `unit` and `public` name. A catalog file (discreet.toml) says all the rest itself.
    Charges are kept in `ledger`: beside a catalog by default, else in memory only, so that the
    budget ends with the process. What was answered about data applies to data of the same
    `version`: as it is given, else files and frames of the same contents. `disjoint` names groups
    of tables that have no unit in common, and are charged apart. `least_epsilon` is the least that
    a question may cost, a millionth of epsilon if not given; `incident_suspends` says whom a
    failure after a charge suspends until the owner has looked: the "account" that asked, or "all".
    """
    _check_names(source, name, ledger)
    if isinstance(source, str | Path) and str(source).endswith(".toml"):
        _refuse_arguments(
            epsilon=epsilon,
            unit=unit,
            bounds=bounds,
            values=values,
            step=step,
            nulls=nulls,
            types=types,
            rows_per_unit=rows_per_unit,
            name=name,
            version=version,
            bounding=bounding,
            least_epsilon=least_epsilon,
            incident_suspends=incident_suspends,
            delta=delta or None,
            public=public or None,
            disjoint=disjoint or None,
            neighbours=None if neighbours is Neighbours.ADD_REMOVE else neighbours,
            accounting=None if accounting is Accounting.BASIC else accounting,
        )
        return open_catalog(source, ledger=ledger)
    if epsilon is None:
        raise ParameterError("epsilon", None, "must say how much may be revealed in all")
    address = place_of(source)
    if not names_tables(source):
        sources = named(cast("Source | Mapping[str, Source]", source), name)
    else:
        meant = tables_named(name, unit, public)
        sources, unit, public = {**meant.tables}, meant.unit, meant.public
    files = {
        each: str(path) if isinstance(path, str | Path) else None for each, path in sources.items()
    }
    declared = declare(
        files,
        engine=None if address is None else shown(address),
        epsilon=epsilon,
        delta=delta,
        unit=unit,
        bounds=bounds,
        values=values,
        step=step,
        nulls=nulls,
        types=types,
        rows_per_unit=rows_per_unit,
        public=public,
        neighbours=neighbours,
        accounting=accounting,
        least_epsilon=least_epsilon,
        incident_suspends=incident_suspends,
        version=version,
        bounding=bounding,
        disjoint=disjoint,
    )
    return curator_of(declared, sources, ledger or MEMORY, address=address)


def _check_names(source: object, name: object, ledger: object) -> None:
    """Refuse names of tables and a place of the ledger that are none, before anything is read."""
    if name is not None:
        plain_text("name", name, what="must be the name of a table")
    for each in source if isinstance(source, Mapping) else ():
        plain_text("source", each, what="must name its tables in text")
    if ledger is None:
        return
    place = str(ledger) if isinstance(ledger, Path) else ledger
    plain_text("ledger", place, what="must be the path of a file, or an address")


def _refuse_arguments(**given: object) -> None:
    for name, value in given.items():
        if value is not None:
            raise ParameterError(name, value, "is declared in the catalog: change it there")
