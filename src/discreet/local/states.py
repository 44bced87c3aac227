"""What a device keeps between reports, as text; it names its mechanism, and damage is refused."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from discreet.errors import ReportError
from discreet.local.base import Mechanism, fingerprint
from discreet.local.reports import Reports


def state_to_json(mechanism: Mechanism, kept: Mapping[str, object]) -> str:
    """Return what is kept as one line of JSON."""
    return json.dumps({"mechanism": fingerprint(mechanism).hex(), **kept})


def each_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return the object that JSON holds, or refuse one that says something twice.

    JSON leaves open which of the two is meant, and readers differ.
    """
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError
    return found


@contextmanager
def state_from_json(mechanism: Mechanism, state: str) -> Iterator[dict[str, object]]:
    """Give what was kept, and refuse it if it cannot be read, also while it is being read."""
    try:
        told = json.loads(state, object_pairs_hook=each_once)
        if told["mechanism"] != fingerprint(mechanism).hex():
            raise ReportError(f"this state is none of {mechanism!r}")
        yield told
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as cause:
        if isinstance(cause, ReportError):
            raise
        raise ReportError(f"this state of {mechanism!r} is damaged") from cause


def kept_report(mechanism: Mechanism, written: str) -> bytes:
    """Return a report that was kept in hexadecimal digits, or refuse it unless it is one."""
    content = bytes.fromhex(written)
    if len(Reports.from_bytes(mechanism, content)) != 1:
        raise ValueError
    return content
