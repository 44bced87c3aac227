"""Prepared tables on the server that holds them: made when the owner asks, used if of the same."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from discreet.catalog import complete
from discreet.catalog.addresses import is_spark
from discreet.catalog.declared import Declared
from discreet.engines.base import Holder
from discreet.engines.forms import Form, Preparing
from discreet.engines.opening import forget_forms_at, open_engine
from discreet.engines.preparing import Progress, as_prepared, scans_to_prepare
from discreet.errors import SourceError
from discreet.opening.files import kinds_of, limits_of
from discreet.opening.servers import form_of


def prepare_form(
    declared: Declared, address: str, place: Path, progress: Progress | None = None
) -> bool:
    """Make the prepared form of a catalog's tables on their server; return False if it was there.

    It is made of the tables themselves, by whoever may read them. Spark writes it as files to a
    folder beside the catalog.
    """
    form = _form(declared, place)
    with _opened(declared, address, None) as engine:
        if not isinstance(engine, Preparing):
            raise SourceError("tables of this engine are not prepared; leave them as they are.")
        catalog = as_prepared(complete(declared, engine.columns))
        if not engine.prepare(form, scans_to_prepare(catalog), progress):
            return False
        with _opened(declared, address, form) as again:
            if not (isinstance(again, Preparing) and again.is_prepared):
                raise SourceError("a table changed while it was read; prepare it again.")
    return True


def is_form_outdated(declared: Declared, address: str, place: Path) -> bool:
    """Return whether there is a form that is not of what catalog and data are now."""
    if is_spark(address) and not place.is_dir():
        return False
    with _opened(declared, address, _form(declared, place)) as engine:
        return isinstance(engine, Preparing) and engine.is_outdated


def forget_form(declared: Declared, address: str, place: Path) -> bool:
    """Remove all prepared forms of a catalog's tables; return whether there were any."""
    return forget_forms_at(address, _form(declared, place), limits_of(declared.source))


def _form(declared: Declared, place: Path) -> Form:
    form = form_of(declared, _sources(declared), place)
    if form is None:
        raise SourceError("tables that are nowhere are not prepared; name them in a catalog.")
    return form


def _sources(declared: Declared) -> dict[str, str]:
    return {each.name: each.source or each.name for each in declared.tables}


@contextmanager
def _opened(declared: Declared, address: str, form: Form | None) -> Iterator[Holder]:
    """Yield an engine of all tables, and close it afterwards."""
    engine = open_engine(
        address,
        _sources(declared),
        public=[each.name for each in declared.tables if each.unit is None],
        kinds=kinds_of(declared),
        form=form,
        limits=limits_of(declared.source),
    )
    try:
        yield engine
    finally:
        engine.close()
