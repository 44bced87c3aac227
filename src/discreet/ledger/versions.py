"""Data versions: which ones a ledger has charges for, and since when it knows them.

A charge notes the version of the data that it is about. When data are opened that a ledger with
charges does not know yet, a `policy` entry notes their version, and under which name an older
release of Discreet knew the same data. Versions are names under the ledger's key, or as declared.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from discreet.errors import LedgerError
from discreet.ledger.charges import UNKNOWN

VERSION = "data_version"
"""The note of a charge or a policy that names a version."""

EARLIER = "earlier_version"
"""The note of a policy that says, sealed, how an older release named the same data."""

_NAMED = f'"{VERSION}"'


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenVersion:
    """A version that a ledger knows."""

    since: datetime
    """When the ledger noted it first."""
    earlier: str = field(default="", repr=False)
    """How an older release named the same data, sealed by the ledger's key."""


def with_versions(
    known: Mapping[str, SeenVersion], written: str, about: str
) -> Mapping[str, SeenVersion]:
    """Return the versions that are known after an entry, in the order of their first entries."""
    if _NAMED not in about:  # no note has this name: no need to parse
        return known
    try:
        noted = json.loads(about)
        name, earlier = noted.get(VERSION), str(noted.get(EARLIER, ""))
        if not isinstance(name, str) or name in known:
            return known
        seen = SeenVersion(since=datetime.fromisoformat(written), earlier=earlier)
    except (AttributeError, RecursionError, TypeError, ValueError) as cause:
        raise LedgerError(*UNKNOWN) from cause
    return {**known, name: seen}


def version_notes(name: str, earlier: str) -> dict[str, str]:
    """Return what a policy notes of a version."""
    return {VERSION: name, **({EARLIER: earlier} if earlier else {})}
