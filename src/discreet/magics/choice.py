"""Who is asked: what %discreet names, or the only curator, account or client of the notebook."""

from typing import Any

from IPython.core.error import UsageError

from discreet.asked import Answers, is_answering
from discreet.errors import DiscreetError

OPEN_FIRST = 'Open data first: clinic = discreet.open("discreet.toml").'


HELD = "_discreet"
"""The variable that holds what an expression gave."""


class Choice:
    """Finds who is asked among the variables of a notebook. A name is looked up each time.

    Nothing but the notebook's variables holds data, so that they end with it.
    """

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._made: str | None = None

    @property
    def variables(self) -> dict[str, Any]:
        """The variables of the notebook."""
        found: dict[str, Any] = self._shell.user_ns
        return found

    def make(self, text: str) -> None:
        """Choose a variable, or what an expression gives."""
        if text.isidentifier():
            self._named(text)
            self._made = text
            return
        try:
            found = self._shell.ev(text)
        except DiscreetError:
            raise
        except Exception as error:  # noqa: BLE001 - somebody's expression may raise anything
            raise UsageError(f"{text} fails with {type(error).__name__}: {error}") from None
        if not is_answering(found):
            raise UsageError(_not_answering(text))
        self.variables[HELD] = found
        self._made = HELD

    def answers(self) -> Answers:
        """Return who is asked, or raise a UsageError that says how to choose."""
        if self._made is not None:
            return self._named(self._made)
        found = self.candidates()
        if not found:
            raise UsageError(f"There is nothing to ask in this notebook. {OPEN_FIRST}")
        first, *others = found
        if others:
            names = f"{', '.join([first, *others[:-1]])} and {others[-1]}"
            raise UsageError(f"{names} can be asked. Choose one: %discreet {first}")
        return found[first]

    def candidates(self) -> dict[str, Answers]:
        """Return the variables that can be asked; the first name of each, if it has several."""
        found: dict[str, Answers] = {}
        for name, value in list(self.variables.items()):
            is_known = any(value is each for each in found.values())
            if not name.startswith("_") and is_answering(value) and not is_known:
                found[name] = value
        return found

    def _named(self, name: str) -> Answers:
        if name not in self.variables:
            known = ", ".join(self.candidates())
            there = f"Available: {known}." if known else OPEN_FIRST
            raise UsageError(f"There is no variable {name} in this notebook. {there}")
        found = self.variables[name]
        if not is_answering(found):
            raise UsageError(_not_answering(name))
        return found


def _not_answering(text: str) -> str:
    return f"{text} cannot be asked. Use a result of discreet.open or discreet.connect."
