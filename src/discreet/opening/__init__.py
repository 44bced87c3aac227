"""From files, data frames, servers or a catalog to a curator.

| file | holds |
|---|---|
| `open.py` | `discreet.open`; catalog files with their data |
| `unplugged.py` | catalog files without their data, to explain queries |
| `synthetic.py` | synthetic tables from a catalog alone, to try queries for free |
| `sources.py` | where the data are: files, data frames and servers; their versions and engines |
| `stores.py` | what is kept for a catalog: its ledger and its prepared tables |
| `contents.py` | digests of the bytes of files, and the cache of them |
| `versions.py` | the data version as a ledger names it |
| `registry.py` | which ledgers on this machine are about the same data |
| `private_draft.py` | bounds and values for a first catalog, found privately |
"""

from discreet.engines.growth import Anew, MadeAnew, Step
from discreet.opening.open import open as open_data
from discreet.opening.open import (
    open_catalog,
    open_for_ticks,
    open_to_measure,
    read_columns,
    rows_guessed_from,
)
from discreet.opening.sources import read_server_columns
from discreet.opening.stores import (
    LEDGER_SUFFIX,
    copy_of,
    forget_catalog,
    is_copy_outdated,
    is_on_server,
    ledger_place,
    open_books,
    prepare_catalog,
)
from discreet.opening.unplugged import open_unplugged

__all__ = [
    "LEDGER_SUFFIX",
    "Anew",
    "MadeAnew",
    "Step",
    "copy_of",
    "forget_catalog",
    "is_copy_outdated",
    "is_on_server",
    "ledger_place",
    "open_books",
    "open_catalog",
    "open_data",
    "open_for_ticks",
    "open_to_measure",
    "open_unplugged",
    "prepare_catalog",
    "read_columns",
    "read_server_columns",
    "rows_guessed_from",
]
