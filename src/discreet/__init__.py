"""Discreet answers SQL queries about sensitive data with differential privacy.

Everything public is loaded on first use, so `import discreet` is fast and loads no database.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from discreet.deprecated import deprecated_modules

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from discreet.account import Account
    from discreet.answer import Answer
    from discreet.catalog import AUTO
    from discreet.client import connect
    from discreet.curator import Curator
    from discreet.errors import (
        AccountError,
        ArithmeticDriftError,
        BudgetError,
        CatalogError,
        CollectionError,
        DiscreetError,
        EngineError,
        EntropyError,
        JoinError,
        LeastEpsilonError,
        LedgerError,
        MissingExtraError,
        NestedAggregateError,
        NondeterministicError,
        NotGroupedError,
        NothingFoundError,
        ParameterError,
        PerDayLimitError,
        PerQueryLimitError,
        PinnedError,
        PlaceholderError,
        PlatformError,
        QuestionError,
        QuestionSizeError,
        RefusedError,
        ReportError,
        RowLevelError,
        SealedError,
        SeriesError,
        SolverError,
        SourceError,
        SqlSyntaxError,
        StatementError,
        StoppedError,
        SuspendedError,
        TargetError,
        UnansweredError,
        UnboundedError,
        UnknownKeysError,
        UnknownNameError,
        UnsupportedError,
        UnsupportedEventError,
    )
    from discreet.explanation import Coverage, Explanation
    from discreet.explanation.thresholds import GroupThresholdWarning
    from discreet.opening.open import open  # noqa: A004 - called discreet.open

__all__ = [
    "AUTO",
    "Account",
    "AccountError",
    "Answer",
    "ArithmeticDriftError",
    "BudgetError",
    "CatalogError",
    "CollectionError",
    "Coverage",
    "Curator",
    "DiscreetError",
    "EngineError",
    "EntropyError",
    "Explanation",
    "GroupThresholdWarning",
    "JoinError",
    "LeastEpsilonError",
    "LedgerError",
    "MissingExtraError",
    "NestedAggregateError",
    "NondeterministicError",
    "NotGroupedError",
    "NothingFoundError",
    "ParameterError",
    "PerDayLimitError",
    "PerQueryLimitError",
    "PinnedError",
    "PlaceholderError",
    "PlatformError",
    "QuestionError",
    "QuestionSizeError",
    "RefusedError",
    "ReportError",
    "RowLevelError",
    "SealedError",
    "SeriesError",
    "SolverError",
    "SourceError",
    "SqlSyntaxError",
    "StatementError",
    "StoppedError",
    "SuspendedError",
    "TargetError",
    "UnansweredError",
    "UnboundedError",
    "UnknownKeysError",
    "UnknownNameError",
    "UnsupportedError",
    "UnsupportedEventError",
    "connect",
    "open",
]
__version__ = "0.2.0.dev0"

_MODULES = {
    "AUTO": "discreet.catalog",
    "Account": "discreet.account",
    "Answer": "discreet.answer",
    "Curator": "discreet.curator",
    "Coverage": "discreet.explanation",
    "Explanation": "discreet.explanation",
    "GroupThresholdWarning": "discreet.explanation.thresholds",
    "connect": "discreet.client",
    "open": "discreet.opening.open",
}
"""The module of each public name that is not an error."""

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Load a public name when it is first used."""
        if name not in __all__:
            raise AttributeError(f"module 'discreet' has no attribute {name!r}")
        errors = import_module("discreet.errors")
        try:
            found = getattr(import_module(_MODULES.get(name, "discreet.errors")), name)
        except ModuleNotFoundError as cause:
            if cause.name == "fcntl":
                raise errors.PlatformError(f"discreet.{name}") from None
            if cause.name == "httpx":
                raise errors.MissingExtraError("The client", extra="client") from None
            raise
        globals()[name] = found
        return found


def load_ipython_extension(shell: "InteractiveShell") -> None:
    """Add the magics `%%ask`, `%%explain`, `%budget` and `%discreet`: `%load_ext discreet`."""
    import_module("discreet.magics").load(shell)


def unload_ipython_extension(shell: "InteractiveShell") -> None:
    """Take the magics away again: `%unload_ext discreet`."""
    import_module("discreet.magics").unload(shell)


def __dir__() -> list[str]:
    return list(__all__)


deprecated_modules({"discreet.bounding": {"*": "discreet.opening.private_draft"}})
