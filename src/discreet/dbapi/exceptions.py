"""The exceptions of PEP 249, and which of them stands for each error of Discreet."""

from collections.abc import Iterator
from contextlib import contextmanager

from discreet.errors import (
    AccountError,
    ArithmeticDriftError,
    BudgetError,
    CatalogError,
    DiscreetError,
    EngineError,
    EntropyError,
    LeastEpsilonError,
    LedgerError,
    MissingExtraError,
    NondeterministicError,
    NothingFoundError,
    ParameterError,
    PinnedError,
    PlatformError,
    QuestionError,
    SealedError,
    SourceError,
    StatementError,
    TargetError,
    UnsupportedError,
)
from discreet.notebook import OneSentence


class Warning(Exception):  # noqa: A001, N818 - PEP 249 calls it so
    """An important warning. PEP 249 asks for this class; Discreet warns with Python's warnings."""


class Error(OneSentence, Exception):
    """The base class of all errors of this module.

    Its text is the sentence of Discreet's own error, which is its `__cause__`.
    """


class InterfaceError(Error):
    """The interface is used wrongly: a closed connection or cursor, or an extra that is missing."""


class DatabaseError(Error):
    """The base class of errors about queries, data and budgets."""


class DataError(DatabaseError):
    """An argument or the value of a parameter is not possible: `epsilon=-1`."""


class OperationalError(DatabaseError):
    """The query is fine and cannot be run now: budget, account, ledger, database or server."""


class IntegrityError(DatabaseError):
    """The integrity of the database is affected. PEP 249 asks for it; queries here only read."""


class InternalError(DatabaseError):
    """Discreet itself is in a state in which it releases nothing."""


class ProgrammingError(DatabaseError):
    """The query is wrong: syntax, unknown names, rows of single people, missing values."""


class NotSupportedError(DatabaseError):
    """The query or the call uses something that is not supported."""


KINDS: tuple[tuple[type[DiscreetError], type[Error]], ...] = (
    (MissingExtraError, InterfaceError),
    (UnsupportedError, NotSupportedError),
    (NondeterministicError, NotSupportedError),
    (StatementError, NotSupportedError),
    (TargetError, DataError),
    (QuestionError, ProgrammingError),
    (ParameterError, DataError),
    (BudgetError, OperationalError),
    (LeastEpsilonError, OperationalError),
    (NothingFoundError, OperationalError),
    (AccountError, OperationalError),
    (LedgerError, OperationalError),
    (PinnedError, OperationalError),
    (CatalogError, OperationalError),
    (SourceError, OperationalError),
    (EngineError, OperationalError),
    (PlatformError, OperationalError),
    (EntropyError, InternalError),
    (ArithmeticDriftError, InternalError),
    (SealedError, InternalError),
)
"""The first that fits stands for an error. Any other, as of a server, is an OperationalError."""


def error_for(cause: DiscreetError) -> Error:
    """Return the error of PEP 249 for an error of Discreet, with the same sentence."""
    fitting = (error for kind, error in KINDS if isinstance(cause, kind))
    return next(fitting, OperationalError)(str(cause))


@contextmanager
def translated() -> Iterator[None]:
    """Raise errors of Discreet as those of PEP 249."""
    try:
        yield
    except DiscreetError as cause:
        raise error_for(cause) from cause
