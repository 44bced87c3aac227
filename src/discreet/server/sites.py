"""A catalog that is served: its curator, its ledger, its records."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from discreet.catalog.declaration import Declaration
from discreet.catalog.resolve import read
from discreet.curator import Curator
from discreet.errors import ParameterError
from discreet.ledger import Analyst, Ledger
from discreet.ledger.inputs import selector_in
from discreet.ledger.storage import selected
from discreet.opening import ledger_place, open_catalog
from discreet.server.data_places import covered_by
from discreet.server.records import AuditFile, Records, records_beside

NAME = re.compile(r"[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """One catalog with all that belongs to it."""

    name: str
    """As routes call it."""
    curator: Curator
    ledger: Ledger
    records: Records
    declared: Declaration | None = None
    """The catalog, as it was when the site was opened."""
    path: Path | None = None
    """The file of the catalog; None for data that are not opened again."""
    ledger_place: str | Path | None = None
    """The file or address of the ledger, if it is not where the catalog says."""
    covers: frozenset[str] = frozenset()
    """What stood for its private data then."""
    is_added: bool = False
    """Whether an owner of another catalog added it on the page."""

    def account_of(self, token: str) -> Analyst | None:
        """Return the account that has the public part of a token; its secret is not read."""
        return selected(self.ledger.analysts(), selector_in(token))

    def fingerprint(self, analyst: Analyst) -> str:
        """Return what changes when a token does: sessions end with the token they began with."""
        return sha256(f"{analyst.name}\0{analyst.token_hash}".encode()).hexdigest()[:32]

    def covered(self) -> frozenset[str]:
        """Return what stands for its private data: files may have been replaced since."""
        return self.covers if self.declared is None else self.covers | covered_by(self.declared)

    def close(self) -> None:
        """Give back engine, ledger and records."""
        self.curator.close()
        self.records.close()


def named_paths(given: Sequence[str]) -> dict[str, Path]:
    """Return catalogs by name. NAME=PATH names one; otherwise its file or folder does."""
    found: dict[str, Path] = {}
    for each in given:
        name, _, rest = each.rpartition("=")
        path = Path(rest)
        own = name or _name_of(path)
        if not NAME.fullmatch(own):
            rule = "must be small letters, digits, - and _"
            raise ParameterError("name", own, rule, f"Write NAME={rest}")
        if own in found:
            raise ParameterError("name", own, "must name one catalog", f"Write NAME={rest}")
        found[own] = path
    return found


def _name_of(path: Path) -> str:
    stem = path.resolve().parent.name if path.stem == "discreet" else path.stem
    return re.sub(r"[^a-z0-9_-]+", "-", stem.casefold()).strip("-_")[:64] or "data"


CATALOG_FILE = "discreet.toml"


def added_catalogs(folder: Path | None) -> dict[str, Path]:
    """Return the catalogs of data that were added on the page, by name."""
    if folder is None or not folder.is_dir():
        return {}
    found = {each.name: each / CATALOG_FILE for each in sorted(folder.iterdir())}
    return {name: path for name, path in found.items() if NAME.fullmatch(name) and path.is_file()}


def open_site(
    name: str,
    path: Path,
    audit_file: Path | None = None,
    *,
    ledger: Path | None = None,
    is_added: bool = False,
) -> Site:
    """Open a catalog to be served, with its ledger beside it or elsewhere."""
    audit = None if audit_file is None else AuditFile(path=audit_file, catalog=name)
    declared = read(path)
    curator = open_catalog(path, declared=declared, ledger=ledger)
    try:
        records = records_beside(ledger or ledger_place(path, declared=declared), audit)
    except BaseException:
        curator.close()
        raise
    return Site(
        name=name,
        curator=curator,
        ledger=curator.ledger,
        records=records,
        declared=declared,
        path=path,
        ledger_place=ledger,
        covers=covered_by(declared),
        is_added=is_added,
    )
