"""The data version as a ledger names it: under its key, beside other versions that it knows.

Older releases named files by location, size and times. When a ledger with such charges is opened,
it notes once which contents that name stands for. So what was paid for under the old name stays
free for the same contents, even if the file is touched or copied later.
"""

import logging
from collections.abc import Iterator, Mapping
from enum import Enum
from uuid import uuid4
from warnings import warn

from discreet.accounting import Charge
from discreet.errors import DiscreetWarning, SourceError
from discreet.known_releases import DataVersion, Earlier
from discreet.ledger import Ledger
from discreet.ledger.versions import SeenVersion
from discreet.opening.sources import Version

MOST = 10
"""So many other versions are searched for a charge of the same query, the newest first."""

log = logging.getLogger("discreet.opening")


class NewVersion(Enum):
    """What happens when a ledger does not know the version of the data yet."""

    ACCEPT = "accept"
    """It becomes the version of the answers from now on."""
    REJECT = "reject"
    """The data are not opened. For servers, where only the owner moves to a new version."""
    LEAVE = "leave"
    """It is not noted. For ticks of series, which belong to no version and come every day."""


def version_in_memory(version: Version) -> DataVersion:
    """Return the version for a ledger in memory, which knows no others."""
    return DataVersion(
        name=version.text, declared=version.declared, earlier=_earlier(version.earlier)
    )


def version_in(version: Version, ledger: Ledger) -> DataVersion:
    """Return the data version for a ledger; it reads the ledger and writes nothing.

    It is keyed, so that a reader of the ledger cannot check guesses of the data.
    """
    name = version.text if version.declared is not None else ledger.keyed(version.text)
    if name is None:
        warn(
            "The role may not read the ledger's key, so data versions are named as in older "
            "releases of Discreet. Grant it SELECT on the table secret beside the ledger's "
            "entries.",
            DiscreetWarning,
            stacklevel=2,
        )
        unkeyed = version.earlier or uuid4().hex
        return DataVersion(name=unkeyed, earlier=_earlier(version.earlier))
    with ledger.view() as view:
        known = view.versions()
    noted = known[name].earlier if name in known else ""
    return DataVersion(
        name=name,
        is_noted=True,
        declared=version.declared,
        earlier=_earlier(_sealed(ledger, name, noted) or version.earlier),
        others=tuple(_others(ledger, name, known))[:MOST],
        since=known[name].since if list(known)[-1:] == [name] else None,
    )


def note_version(
    version: Version, ledger: Ledger, new_version: NewVersion = NewVersion.ACCEPT
) -> DataVersion:
    """Return the data version for a ledger, which notes it if it has charges for others only."""
    found = version_in(version, ledger)
    if not found.is_noted:
        return found
    with ledger.view() as view:
        known = view.versions()
    is_left = new_version is NewVersion.LEAVE
    if is_left or found.name in known or ledger.charged() == Charge():
        return found
    if new_version is NewVersion.REJECT:
        raise SourceError(
            "The data changed since the last query was charged",
            "The data owner must open the new version first, for example with discreet ask",
        )
    ledger.note_version(found.name, earlier=_sealed(ledger, found.name, version.earlier or ""))
    if not known:
        log.info(
            "the ledger has charges of an older release; those for the files as they are now stay "
            "valid for their contents"
        )
    return version_in(version, ledger)


def _others(ledger: Ledger, name: str, known: Mapping[str, SeenVersion]) -> Iterator[str]:
    """Yield the names of other versions, and of these in older releases, the newest first."""
    for other in reversed(list(known)):
        if other != name:
            yield other
            earlier = _sealed(ledger, other, known[other].earlier)
            if earlier:
                yield earlier


def _earlier(name: str | None) -> Earlier | None:
    return None if name is None else Earlier(data_version=name)


def _sealed(ledger: Ledger, name: str, earlier: str) -> str:
    """Return the older name of a version sealed by the ledger's key, or a sealed one opened.

    It is a digest of location, size and times, so a reader of the ledger could check guesses.
    """
    pad = ledger.keyed(f"earlier name of {name}")
    if not earlier or pad is None:
        return ""
    return f"{int(earlier, 16) ^ int(pad, 16):064x}"
