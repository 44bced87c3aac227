"""From files, data frames, servers or a catalog to a curator.

| file | holds |
|---|---|
| `data.py` | `discreet.open` and what an owner may declare in one call |
| `catalogs.py` | catalog files, with their data or unplugged |
| `files.py`, `servers.py` | where tables are: read from files, or left on a server |
| `copies.py`, `forms.py` | prepared tables: in a file beside a catalog, or on its server |
| `ledgers.py` | where charges are kept |
| `registry.py` | which ledgers of this machine are about the same data |
"""

from discreet.opening.catalogs import (
    open_catalog,
    open_unplugged,
    read_columns,
    rows_guessed_from,
)
from discreet.opening.copies import (
    copy_of,
    forget_catalog,
    is_copy_outdated,
    is_on_server,
    prepare_catalog,
)
from discreet.opening.data import open_data
from discreet.opening.ledgers import LEDGER_SUFFIX, ledger_place, open_books

__all__ = [
    "LEDGER_SUFFIX",
    "copy_of",
    "forget_catalog",
    "is_copy_outdated",
    "is_on_server",
    "ledger_place",
    "open_books",
    "open_catalog",
    "open_data",
    "open_unplugged",
    "prepare_catalog",
    "read_columns",
    "rows_guessed_from",
]
