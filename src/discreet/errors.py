"""What can go wrong, each with the one sentence that says what, where and how to fix it."""

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Literal, TypeAlias

HIDDEN = object()
"""Stands for a value that must not be shown, because it may come from the data."""


COMMANDS = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Characters that command a terminal, turn the direction of writing, break lines or are none."""


def without_commands(text: str) -> str:
    """Return the text with characters that command a screen written as escapes."""
    return COMMANDS.sub(lambda found: _escape(found[0]), text)


def _escape(character: str) -> str:
    code = ord(character)
    return "\\r" if character == "\r" else f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


class DiscreetWarning(UserWarning):
    """Something that an owner should know when data or a ledger are opened; nothing is refused."""


class DiscreetError(Exception):
    """Anything that Discreet refuses or cannot do.

    Its sentence may hold a name from a question or a file: it cannot command a terminal.
    """

    def __str__(self) -> str:
        return without_commands(super().__str__())


class ParameterError(DiscreetError, ValueError):
    """A parameter is outside what the theorem behind the function allows."""

    def __init__(self, name: str, value: object, rule: str) -> None:
        given = "" if value is HIDDEN else f"; {shown(value)} was given"
        super().__init__(f"{name} {rule}{given}.")
        self.name = name


class EntropyError(DiscreetError):
    """The operating system's random generator failed: nothing is released without it."""

    def __init__(self) -> None:
        super().__init__(
            "the system's random generator failed, so nothing was released; "
            "check the machine's entropy source and ask again."
        )


class ArithmeticDriftError(DiscreetError):
    """NumPy's exp or log on this machine is less accurate than the samplers' proof assumes."""

    def __init__(self, function: str) -> None:
        super().__init__(
            f"{function} on this machine is less accurate than exact sampling needs; "
            "install NumPy from its official wheels."
        )


class StoppedError(DiscreetError):
    """A sparse-vector run has given all the answers it paid for."""

    def __init__(self, limit: int) -> None:
        positive = "its positive answer" if limit == 1 else f"its {limit} positive answers"
        super().__init__(
            f"this run has given {positive} and stopped; start a new one, which is charged anew."
        )


class SealedError(DiscreetError):
    """Something that must exist once only was about to be copied."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"{what} cannot be copied or stored: a copy could be asked again for free."
        )


class ReportError(DiscreetError, ValueError):
    """Reports or counts of local privacy that no honest client or server can have sent."""

    def __init__(self, problem: str) -> None:
        super().__init__(f"{problem}; nothing was counted, use the mechanism that made them.")


class CollectionError(DiscreetError):
    """A collection of local reports that cannot be read, written or given out as asked."""

    def __init__(self, problem: str, instead: str) -> None:
        super().__init__(f"{problem}; {instead}.")


class SolverError(DiscreetError):
    """A linear program for the best mechanism that was not solved."""

    def __init__(self, words: str) -> None:
        super().__init__(f"the linear program was not solved ({words}); try a smaller range.")


class UnsupportedEventError(DiscreetError):
    """No theorem prices this event under this accountant."""

    def __init__(self, event: object, *, accountant: str, instead: str) -> None:
        super().__init__(
            f"the {accountant} accountant has no proved price for {type(event).__name__}; "
            f"{instead}."
        )


class BudgetError(DiscreetError):
    """The budget does not allow this charge; nothing was charged.

    Each bound that could have allowed it is given as (requested, remaining). `analyst` is whose cap
    it was that did not allow it, None if it was the budget of the data set. Where tables are
    declared disjoint, `tables` are those whose units have too little left.
    """

    requested: dict[str, Fraction]
    remaining: dict[str, Fraction]
    analyst: str | None = None
    tables: tuple[str, ...] = ()

    def __init__(self, whose: str = "the budget", /, **bounds: tuple[Fraction, Fraction]) -> None:
        self.requested = {name: requested for name, (requested, _) in bounds.items()}
        self.remaining = {name: remaining for name, (_, remaining) in bounds.items()}
        told = [
            f"requested {name} = {_brief(requested)}, remaining {name} = {_brief(remaining)}, "
            f"difference {_brief(requested - remaining)}"
            for name, (requested, remaining) in bounds.items()
        ]
        instead = (
            "ask for a release without a delta, or set more aside in a new budget"
            if "delta" in bounds
            else "ask for less accuracy or stop here"
        )
        super().__init__(f"{whose} does not allow this: {', and '.join(told)}; {instead}.")

    def of_analyst(self, name: str) -> "BudgetError":
        """Return the same refusal as one by an analyst's cap."""
        return self._told(name, self.tables)

    def for_units(self, tables: Sequence[str]) -> "BudgetError":
        """Return the same refusal as one for units of these tables."""
        return self._told(self.analyst, tuple(tables))

    def _told(self, analyst: str | None, tables: tuple[str, ...]) -> "BudgetError":
        bounds = {each: (self.requested[each], self.remaining[each]) for each in self.requested}
        whose = "the budget" if analyst is None else f"the cap of analyst {shown(analyst)}"
        units = f" for units of {' and '.join(map(shown, tables))}" if tables else ""
        refusal = BudgetError(f"{whose}{units}", **bounds)
        refusal.analyst, refusal.tables = analyst, tables
        return refusal


def _brief(amount: Fraction) -> str:
    try:
        return f"{float(amount):.6g}"
    except OverflowError:
        return "more than 1e308"


class LedgerError(DiscreetError):
    """The ledger cannot be read or written as it must: nothing is answered without it."""

    def __init__(self, problem: str, instead: str) -> None:
        super().__init__(f"{problem}, so nothing is answered; {instead}.")
        self.problem, self.instead = problem, instead


class AccountError(DiscreetError):
    """An account that may not ask: not declared, disabled, or with a token that nobody holds."""

    def __init__(self, problem: str, instead: str) -> None:
        super().__init__(f"{problem}; {instead}.")


class SuspendedError(AccountError):
    """An account that may run nothing until the owner has looked at a failure; nothing was charged.

    What was kept, and needs no statement, stays readable.
    """

    def __init__(self, who: str = "this account is") -> None:
        super().__init__(
            f"{who} suspended because a question failed after it was charged",
            "the owner sees it with 'discreet ledger incidents' and lifts it with "
            "'discreet analyst resume'",
        )


class UnansweredError(AccountError):
    """An account with too many questions that were charged and have no answer."""

    def __init__(self) -> None:
        super().__init__(
            "too many questions of this account were charged and have no answer",
            "ask them again, which is free, or let the owner look with 'discreet ledger "
            "incidents' and lift it with 'discreet analyst resume'",
        )


class PinnedError(DiscreetError):
    """A question was paid for, or read off another answer, while it was being asked."""

    def __init__(self) -> None:
        super().__init__("the question was answered another way meanwhile; ask again.")


class RefusedError(DiscreetError):
    """What is attacked answers no more: its budget is gone, or it takes no such question."""


class MissingExtraError(DiscreetError, ImportError):
    """An optional part of Discreet is not installed."""

    def __init__(self, what: str, *, extra: str) -> None:
        super().__init__(f"{what} needs an optional part: pip install 'discreet[{extra}]'.")


def shown(value: object) -> str:
    """Return a value as an error shows it: short, on one line, fractions as people write them."""
    try:
        text = readable(value) if isinstance(value, Fraction) else repr(value)
    except (OverflowError, ValueError):
        return "a number too long to show"
    except Exception:  # noqa: BLE001 - a value of somebody else's type, whose repr may do anything
        return "a value that cannot be shown"
    text = " ".join(text.split())
    return text if len(text) <= 60 else text[:57] + "..."


MOST_SHOWN = 10**300
"""Larger numbers have no float to be shown by."""


def readable(value: Fraction) -> str:
    """Return a fraction as a decimal if a short one is exact, else as p/q or rounded."""
    if abs(value) > MOST_SHOWN:
        return f"{'less than -' if value < 0 else 'more than '}1e300"
    if Fraction(decimal := f"{float(value):.12g}") == value:
        return decimal
    return str(value) if len(str(value)) <= 20 else f"about {decimal}"


# --------------------------------------------------------------------------- questions


class QuestionError(DiscreetError):
    """A question that is refused, from its words and the catalog alone; nothing was charged.

    `span` is where in the question, as offsets of the first character and past the last; whoever
    has the question's text sets `text`, and the sentence then says line and column, with a caret.
    """

    span: tuple[int, int] | None
    text: str | None = None

    def __init__(self, what: str, fix: str, *, span: tuple[int, int] | None = None) -> None:
        super().__init__(what, fix)
        self.what, self.fix, self.span = what, fix, span

    def __str__(self) -> str:
        if self.text is None or self.span is None:
            return without_commands(f"{self.what}; {self.fix}.")
        line, column, shown_line, caret = _place(self.text, *self.span)
        sentence = without_commands(f"{self.what} (line {line}, column {column}); {self.fix}.")
        return f"{sentence}\n  {shown_line}\n  {caret}"


def _place(text: str, start: int, end: int) -> tuple[int, int, str, str]:
    """Return line and column, both from 1, the line (or the part around it), and the caret line."""
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", start)
    line = text[first : last if last >= 0 else len(text)]
    column = start - first
    width = max(1, min(end, first + len(line)) - start)
    left = max(0, column - 60)
    part = line[left : left + 120].replace("\t", " ")
    part = COMMANDS.sub("\N{REPLACEMENT CHARACTER}", part)  # one for one, so that the caret fits
    caret = " " * (column - left) + "^" * min(width, 120 - (column - left))
    return text.count("\n", 0, start) + 1, column + 1, part, caret


class SqlSyntaxError(QuestionError):
    """The text is not SQL: `SELECT COUNT( FROM visits`."""


class StatementError(QuestionError):
    """Not one SELECT: `DELETE FROM visits`, or two statements."""


class UnknownNameError(QuestionError):
    """No such table, column or function: `SELECT COUNT(*) FROM visist`."""


class RowLevelError(QuestionError):
    """The result would show rows of units: `SELECT * FROM visits`, or a unit as a group key."""


class NotGroupedError(QuestionError):
    """A column is neither grouped nor aggregated: `SELECT age, COUNT(*) FROM visits`."""


class NestedAggregateError(QuestionError):
    """An aggregate stands inside another: `SUM(SUM(cost))`."""


class UnboundedError(QuestionError):
    """What is summed has no bounds: `SUM(visit_id)`; declare them, or clamp in the question."""


class JoinError(QuestionError):
    """A join that would tie rows of different units together."""


class UnknownKeysError(QuestionError):
    """Groups that only the data know, in a budget without a delta to hide the rare ones."""


class UnsupportedError(QuestionError):
    """SQL that has no private form here: a clause, a function, an aggregate; never ignored."""


class NondeterministicError(QuestionError):
    """A function that gives something else each time: `random()`, `now()`."""


class QuestionSizeError(QuestionError):
    """A question too long, too deep or with too many keys to be answered."""


class TargetError(QuestionError):
    """An accuracy or a price that this question cannot be given."""


class NothingFoundError(DiscreetError):
    """No values of a column stand out from the noise, so that no bounds were found; it was paid."""

    def __init__(self, column: str, epsilon: Fraction) -> None:
        super().__init__(
            f"no values of {column} stand out from the noise at epsilon = {readable(epsilon)}, "
            "which stays charged; spend more on its bounds, or declare them in the catalog."
        )


class CatalogError(DiscreetError):
    """A catalog that cannot be used: what is wrong, in which file and line, and how to fix it."""

    def __init__(self, what: str, fix: str, *, file: str | None = None, line: int | None = None):
        where = "" if file is None else f" ({file}{'' if line is None else f', line {line}'})"
        end = "" if fix.endswith((".", "?")) else "."
        super().__init__(f"{what}{where}. {fix[:1].upper()}{fix[1:]}{end}")


class PlatformError(DiscreetError, OSError):
    """A part of Discreet that does not run on this operating system."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"{what} needs a POSIX system, such as Linux or macOS: it relies on file locks and "
            "file permissions that this system does not have. On Windows, use WSL or a container."
        )


class SourceError(DiscreetError):
    """Data that cannot be opened or read; for the owner, at opening."""


Failure: TypeAlias = Literal["failed", "time", "memory", "release"]
"""How a question failed after its charge, as far as an engine can say without its words."""


class EngineError(DiscreetError):
    """The engine could not run a query; its own words go to the owner's log only.

    `failure` is for the ledger; what an analyst is raised always has the same.
    """

    def __init__(self, failure: Failure = "failed") -> None:
        super().__init__(
            "the engine could not run this question; what was charged stays charged, and the "
            "account is suspended until the owner has looked."
        )
        self.failure: Failure = failure


class LeastEpsilonError(DiscreetError):
    """A question that costs less than the owner lets a question cost; nothing was charged."""

    def __init__(self, epsilon: Fraction, least: Fraction) -> None:
        super().__init__(
            f"this question would be charged epsilon = {readable(epsilon)}, less than the "
            f"least_epsilon of a question; ask for it with epsilon = {readable(least)} or more."
        )
