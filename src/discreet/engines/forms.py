"""Prepared tables on a server: what identifies them, and which engines can make them.

A form belongs to one state of the data and to what the catalog says of units and limits. Its tables
have names of their own, so that who opened one form never reads another in its place.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Protocol, runtime_checkable

from discreet.engines.preparing import Progress, Scans

FORM = 2
"""Changes when forms are made in another way: older ones are made again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """What is to be prepared."""

    tables: Mapping[str, str]
    """Private tables by name, as the catalog says where they are."""
    declared: str
    """What the catalog says of units and limits."""
    place: Path | None = None
    """The folder for forms of engines that write files."""

    @property
    def family(self) -> str:
        """What all forms of these tables have in common, whatever the data and the limits."""
        return _digest(sorted(self.tables.items()))

    def key(self, state: str) -> str:
        """Return what is the same only for forms of the same catalog and data in this state."""
        return _digest([FORM, state, self.declared, sorted(self.tables.items())])


@runtime_checkable
class Preparing(Protocol):
    """An engine that can make a prepared form of the tables that it holds, where they are."""

    is_prepared: bool
    """Whether it reads a form that was made before."""
    is_outdated: bool
    """Whether there is a form of these tables, but of other data or another catalog."""

    def prepare(self, form: Form, scans: Scans, progress: Progress | None = None) -> bool:
        """Make the form, or go on making it; return False if it was there."""
        ...


def _digest(told: object) -> str:
    return sha256(json.dumps(told).encode()).hexdigest()
