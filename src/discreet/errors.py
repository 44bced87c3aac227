"""Exceptions. Each builds its own message: what is wrong, where, and how to fix it."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from fractions import Fraction
from shlex import quote
from typing import Literal, TypeAlias

from discreet import error_text
from discreet.error_text import place_of
from discreet.notebook import OneSentence

COMMANDS, without_commands = error_text.COMMANDS, error_text.without_commands
message, sentence = error_text.message, error_text.sentence
readable, shown = error_text.readable, error_text.shown

HIDDEN = object()
"""Replaces a value that must not be shown, because it may come from the data."""


class DiscreetWarning(UserWarning):
    """A warning for the data owner when data or a ledger are opened. Nothing is rejected."""


class DiscreetError(OneSentence, Exception):
    """The base class of all errors of Discreet. Control characters of names are escaped."""

    def __init__(self, what: str, fix: str = "", *, place: str = "") -> None:
        super().__init__(message(what, fix, place=place))
        self.what, self.fix = what, fix

    def __str__(self) -> str:
        return without_commands(super().__str__())


class ParameterError(DiscreetError, ValueError):
    """A parameter has a value that the function does not allow."""

    def __init__(self, name: str, value: object, rule: str, fix: str = "") -> None:
        given = "" if value is HIDDEN else f", but {shown(value)} was given"
        super().__init__(f"{name} {rule}{given}", fix)
        self.name = name


class EntropyError(DiscreetError):
    """The operating system's random generator failed. Nothing is released without it."""

    def __init__(self) -> None:
        what = "The operating system's random generator failed, so nothing was released"
        super().__init__(what, "Check the machine's entropy source and run the query again")


class ArithmeticDriftError(DiscreetError):
    """NumPy's exp or log on this machine is less accurate than the samplers' proof assumes."""

    def __init__(self, function: str) -> None:
        super().__init__(
            f"{function} on this machine is less accurate than exact sampling needs",
            "Install NumPy from its official wheels",
        )


class StoppedError(DiscreetError):
    """A sparse-vector run has given all the positive answers that it was charged for."""

    def __init__(self, limit: int) -> None:
        positive = "its positive answer" if limit == 1 else f"its {limit} positive answers"
        super().__init__(
            f"This run has given {positive} and stopped",
            "Start a new run, which is charged separately",
        )


class SealedError(DiscreetError):
    """An object that must exist only once was about to be copied."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"{what[:1].upper()}{what[1:]} cannot be copied or stored, because a copy could be "
            "used again without a charge"
        )


class ReportError(DiscreetError, ValueError):
    """Reports or counts of local privacy that no honest client or server can have sent."""

    def __init__(self, problem: str) -> None:
        what = problem[:1].upper() + problem[1:]
        super().__init__(what, "Nothing was counted. Use the mechanism that made the reports")


class CollectionError(DiscreetError):
    """A collection of local reports that cannot be read, written or counted."""


class SolverError(DiscreetError):
    """A linear program for the best mechanism that was not solved."""

    def __init__(self, words: str) -> None:
        super().__init__(f"The linear program was not solved ({words})", "Try a smaller range")


class UnsupportedEventError(DiscreetError):
    """An accountant that has no theorem for the cost of an event."""

    def __init__(self, event: object, *, accountant: str, instead: str) -> None:
        super().__init__(
            f"The {accountant} accountant has no proved cost for {type(event).__name__}",
            instead,
        )


class BudgetError(DiscreetError):
    """The budget does not allow this charge. Nothing was charged.

    Each bound that could have allowed it is given as (requested, remaining). `analyst` is the
    analyst whose cap did not allow it, or None if it was the budget of the data set. If tables are
    declared disjoint, `tables` are those whose units have too little budget remaining. If the
    budget is per month, `months` are those that have too little remaining.
    """

    requested: dict[str, Fraction]
    remaining: dict[str, Fraction]
    analyst: str | None = None
    tables: tuple[str, ...] = ()
    months: str = ""

    def __init__(
        self, whose: str = "", instead: str = "", /, **bounds: tuple[Fraction, Fraction]
    ) -> None:
        self.requested = {name: requested for name, (requested, _) in bounds.items()}
        self.remaining = {name: remaining for name, (_, remaining) in bounds.items()}
        equal = [a - b for a, b in bounds.values() if _brief(a) == _brief(b)]
        short = f", which is {_brief(equal[0])} too little" if equal else ""
        fixes = [instead, "repeat a query that was answered before, which costs nothing"]
        if "delta" in bounds:
            fixes = ["run a query that needs no δ, such as one with declared groups", instead]
        elif any(self.remaining.values()):
            fixes = ["use a smaller epsilon", instead]
        fix = ", or ".join(filter(None, fixes))
        super().__init__(
            f"Not enough budget: this would cost {_amounts(self.requested)}, and "
            f"{_amounts(self.remaining)} remains{whose}{short}",
            f"{fix}. Nothing was spent" if fix else "Nothing was spent",
        )

    def of_analyst(self, name: str) -> "BudgetError":
        """Return the same error as one by an analyst's cap."""
        return self._with(name, self.tables, self.months)

    def for_units(self, tables: Sequence[str]) -> "BudgetError":
        """Return the same error as one for units of these tables."""
        return self._with(self.analyst, tuple(tables), self.months)

    def for_months(self, months: str) -> "BudgetError":
        """Return the same error as one for these months."""
        return self._with(self.analyst, self.tables, months)

    def _with(self, analyst: str | None, tables: tuple[str, ...], months: str) -> "BudgetError":
        bounds = {each: (self.requested[each], self.remaining[each]) for each in self.requested}
        whose = f" for units of {' and '.join(map(shown, tables))}" if tables else ""
        whose += f" for {months}" if months else ""
        instead = ""
        if analyst is not None:
            whose += f" in the cap of analyst {shown(analyst)}"
            instead = "ask the data owner to raise the cap"
        error = BudgetError(whose, instead, **bounds)
        error.analyst, error.tables, error.months = analyst, tables, months
        return error


class PerQueryLimitError(BudgetError):
    """A query would cost more than one query of this account may. Nothing was charged."""

    def __init__(self, analyst: str, epsilon: Fraction, most: Fraction) -> None:
        self.requested, self.remaining = {"epsilon": epsilon}, {"epsilon": most}
        self.analyst = analyst
        DiscreetError.__init__(
            self,
            f"This query would cost ε = {_brief(epsilon)}, and analyst {shown(analyst)} may spend "
            f"at most ε = {_brief(most)} per query",
            "Use a smaller epsilon, or ask the data owner to raise this limit. Nothing was spent",
        )


class PerDayLimitError(BudgetError):
    """A query would cost more than this account may still spend today. Nothing was charged.

    `renewed` is when the next day begins. A day begins at 00:00 UTC.
    """

    renewed: datetime | None = None

    def __init__(
        self, analyst: str, epsilon: Fraction, left: Fraction, most: Fraction, renewed: datetime
    ) -> None:
        self.requested, self.remaining = {"epsilon": epsilon}, {"epsilon": left}
        self.analyst, self.renewed = analyst, renewed
        fixes = [
            *(["use a smaller epsilon"] if left else []),
            *([f"wait until {renewed:%Y-%m-%d %H:%M} UTC"] if epsilon <= most else []),
            "ask the data owner to raise this limit",
        ]
        DiscreetError.__init__(
            self,
            f"This query would cost ε = {_brief(epsilon)}, and ε = {_brief(left)} of the "
            f"ε = {_brief(most)} per day remains today for analyst {shown(analyst)}",
            f"{', or '.join(fixes)}. Nothing was spent",
        )


SYMBOLS = {"epsilon": "ε", "delta": "δ", "rho": "ρ"}


def _amounts(bounds: Mapping[str, Fraction]) -> str:
    return " or ".join(f"{SYMBOLS[name]} = {_brief(x)}" for name, x in bounds.items())


def _brief(amount: Fraction) -> str:
    try:
        return f"{float(amount):.6g}"
    except OverflowError:
        return "more than 1e308"


class LedgerError(DiscreetError):
    """The ledger cannot be read or written. Discreet answers no query without it."""

    def __init__(self, problem: str, instead: str) -> None:
        super().__init__(f"{problem}, so Discreet will not answer queries", instead)
        self.problem, self.instead = problem, instead


class AccountError(DiscreetError):
    """An account that may not run queries: not declared, disabled, or with an invalid token."""


class SuspendedError(AccountError):
    """An account that may run nothing until the owner has checked a failure.

    Saved answers, which need no database, stay readable. `resume` is the account to resume.
    """

    def __init__(self, resume: str = "NAME", who: str = "This account is", note: str = "") -> None:
        super().__init__(
            f"{who} suspended, because a query failed after it was charged",
            f"{note}The data owner must check the failure with discreet ledger incidents, and then "
            f"run discreet analyst resume {quote(resume)}",
        )
        self._resume, self._who = resume, who

    def after_charge(self) -> "SuspendedError":
        """Return the same error for a query that was charged and has not run."""
        note = "This query was charged, and its cost stays spent. After the suspension, "
        return SuspendedError(self._resume, self._who, f"{note}repeating it costs nothing. ")


class UnansweredError(AccountError):
    """An account with too many queries that were charged and have no answer."""

    def __init__(self, account: str = "NAME") -> None:
        super().__init__(
            "Too many queries of this account were charged and have no answer",
            "Repeat them, which costs nothing. Or the data owner checks them with discreet ledger "
            f"incidents, and then runs discreet analyst resume {quote(account)}",
        )


class PinnedError(DiscreetError):
    """A query was charged, or read from another answer, while the same query was running."""

    def __init__(self) -> None:
        super().__init__("Another process answered this query at the same time", "Run it again")


class RefusedError(DiscreetError):
    """The attacked system answers no more: its budget is used up, or it rejects the query."""


class MissingExtraError(DiscreetError, ImportError):
    """An optional package is not installed."""

    def __init__(self, what: str, *, extra: str) -> None:
        super().__init__(f"{what} is not installed", f"Run: pip install 'discreet[{extra}]'")


# --------------------------------------------------------------------------- queries


class QuestionError(DiscreetError):
    """A query that is rejected because of its SQL and the catalog alone. Nothing was charged.

    `span` is the place in the query: the offset of the first character, and that after the last.
    The caller that has the text of the query sets `text`. The message then has the line and the
    column, and the line of the query with carets below it.
    """

    span: tuple[int, int] | None
    text: str | None = None

    def __init__(self, what: str, fix: str, *, span: tuple[int, int] | None = None) -> None:
        Exception.__init__(self, what, fix)  # the parts, which __str__ puts together
        self.what, self.fix, self.span = what, fix, span

    def __str__(self) -> str:
        if self.text is None or self.span is None:
            return message(self.what, self.fix)
        line, column, shown_line, caret = place_of(self.text, *self.span)
        place, excerpt = f"line {line}, column {column}", f"{shown_line}\n{caret}"
        return message(self.what, self.fix, place=place, excerpt=excerpt)


class SqlSyntaxError(QuestionError):
    """The text is not valid SQL: `SELECT COUNT( FROM visits`."""


class StatementError(QuestionError):
    """The text is not a single SELECT: `DELETE FROM visits`, or two statements."""


class UnknownNameError(QuestionError):
    """There is no such table, column or function: `SELECT COUNT(*) FROM visist`."""


class RowLevelError(QuestionError):
    """The result would contain individual rows: `SELECT * FROM visits`, or groups by the unit."""


class NotGroupedError(QuestionError):
    """A column is neither grouped nor aggregated: `SELECT age, COUNT(*) FROM visits`."""


class NestedAggregateError(QuestionError):
    """An aggregate is inside another aggregate or in WHERE: `SUM(SUM(cost))`."""


class UnboundedError(QuestionError):
    """A sum needs bounds: `SUM(visit_id)`. Declare them, or write CLAMP in the query."""


class JoinError(QuestionError):
    """A join that would combine rows of different privacy units."""


class UnknownKeysError(QuestionError):
    """Undeclared groups, with a budget that has no delta."""


class UnsupportedError(QuestionError):
    """A clause, function or aggregate that is not supported on private rows. It is not ignored."""


class NondeterministicError(QuestionError):
    """A function whose value changes with every run: `random()`, `now()`."""


class QuestionSizeError(QuestionError):
    """A query that is too long, nested too deeply, or has too many groups."""


class PlaceholderError(QuestionError):
    """A placeholder without a fitting value, or in a wrong place: `WHERE age > ?` without any."""


class TargetError(QuestionError):
    """A margin of error or a cost that is not possible for this query."""


class NothingFoundError(DiscreetError):
    """No bounds were found for a column. The cost of the search stays spent."""

    def __init__(self, column: str, epsilon: Fraction) -> None:
        super().__init__(
            f"No bounds found for {column} at ε = {readable(epsilon)}: too few values to be "
            "visible above the noise",
            "This ε stays spent. Try a larger epsilon, or declare bounds in the catalog",
        )


class SeriesError(DiscreetError):
    """A series that does not exist, has no released tick yet, or was charged as another one."""


class CatalogError(DiscreetError):
    """A catalog that cannot be used: what is wrong, in which file and line, and how to fix it."""

    def __init__(self, what: str, fix: str, *, file: str | None = None, line: int | None = None):
        place = "" if file is None else f"{file}{'' if line is None else f', line {line}'}"
        super().__init__(what, fix, place=place)


class PlatformError(DiscreetError, OSError):
    """A part of Discreet that does not run on this operating system."""

    def __init__(self, what: str) -> None:
        needs = "it relies on file locks and file permissions that this system does not have"
        what = f"{what} needs a POSIX system, such as Linux or macOS: {needs}"
        super().__init__(what, "On Windows, use WSL or a container")


class SourceError(DiscreetError):
    """Data that cannot be opened or read. The data owner sees it when the data are opened."""


Failure: TypeAlias = Literal["failed", "time", "memory", "release"]
"""How a query failed after its charge, as far as this is known without the database's message."""


class EngineError(DiscreetError):
    """The database could not run a query. Its own message goes only to the owner's log.

    `failure` is for the ledger. The error that an analyst sees has the same value every time.
    """

    def __init__(self, failure: Failure = "failed") -> None:
        super().__init__(
            "The database could not run this query",
            "Its cost stays spent, and the account is suspended until the data owner has "
            "checked the failure. To log its cause, the data owner sets the logger "
            "discreet.engine to DEBUG before the query is repeated, which costs nothing",
        )
        self.failure: Failure = failure


class LeastEpsilonError(DiscreetError):
    """A query that costs less than the least cost that the owner allows. Nothing was charged."""

    def __init__(self, epsilon: Fraction, least: Fraction) -> None:
        super().__init__(
            f"This query would cost ε = {readable(epsilon)}, and the catalog allows no query "
            f"below ε = {readable(least)}",
            f"Run it with epsilon = {readable(least)} or more",
        )
