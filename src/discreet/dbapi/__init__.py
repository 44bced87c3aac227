"""Python's database interface (PEP 249) for queries with differential privacy.

`connect` takes a curator, an account, a client of a server, a catalog file or a server's address.
State a cost for every query, `connect(source, epsilon=0.1)`, or for one,
`cursor.execute(sql, epsilon=0.1)`. Errors of Discreet are raised as those of PEP 249.

| file | holds |
|---|---|
| `connection.py` | `connect`, connections and cursors |
| `exceptions.py` | the exceptions of PEP 249, and which stands for each error of Discreet |
| `type_objects.py` | types of columns, and constructors of values |
"""

from discreet.dbapi.connection import Connection, Cursor, connect
from discreet.dbapi.exceptions import (
    DatabaseError,
    DataError,
    Error,
    IntegrityError,
    InterfaceError,
    InternalError,
    NotSupportedError,
    OperationalError,
    ProgrammingError,
    Warning,  # noqa: A004 - PEP 249 calls it so
)
from discreet.dbapi.type_objects import (
    BINARY,
    DATETIME,
    NUMBER,
    ROWID,
    STRING,
    Binary,
    Date,
    DateFromTicks,
    Time,
    TimeFromTicks,
    Timestamp,
    TimestampFromTicks,
)

apilevel = "2.0"
threadsafety = 2  # threads may share the module and connections, not cursors
paramstyle = "qmark"

__all__ = [
    "BINARY",
    "DATETIME",
    "NUMBER",
    "ROWID",
    "STRING",
    "Binary",
    "Connection",
    "Cursor",
    "DataError",
    "DatabaseError",
    "Date",
    "DateFromTicks",
    "Error",
    "IntegrityError",
    "InterfaceError",
    "InternalError",
    "NotSupportedError",
    "OperationalError",
    "ProgrammingError",
    "Time",
    "TimeFromTicks",
    "Timestamp",
    "TimestampFromTicks",
    "Warning",
    "apilevel",
    "connect",
    "paramstyle",
    "threadsafety",
]
