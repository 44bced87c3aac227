"""What may be stated of a query besides its SQL, by today's names and by those of version 0.1."""

from collections.abc import Callable, Collection, Mapping
from functools import wraps
from typing import ParamSpec, TypedDict, TypeVar
from warnings import warn

from discreet.catalog.catalog import RowChoice
from discreet.parameters import Real
from discreet.written import SHOWN_ONLY, Parameters

P = ParamSpec("P")
T = TypeVar("T")


RENAMED = {"find_bounds": "find_bounds_of", "bounding": "row_choice"}
"""Arguments as version 0.1 called them; the method `find_bounds` keeps its name."""


def accepting_old_names(act: Callable[P, T]) -> Callable[P, T]:
    """Accept arguments and values as version 0.1 called them, with a warning."""

    @wraps(act)
    def accepting(*given: P.args, **terms: P.kwargs) -> T:
        for old in RENAMED.keys() & terms.keys():
            if RENAMED[old] in terms:
                raise TypeError(f"{old}= and {RENAMED[old]}= are the same argument")
            warn(f"{old}= is now {RENAMED[old]}=", DeprecationWarning, stacklevel=2)
            terms[RENAMED[old]] = terms.pop(old)
        choice = terms.get("row_choice")
        if isinstance(choice, str) and choice == "prepared":
            warn('row_choice="prepared" is now "once"', DeprecationWarning, stacklevel=2)
            terms["row_choice"] = "once"
        shown = terms.get("dialect")
        if act.__name__ == "explain" and isinstance(shown, str) and shown in SHOWN_ONLY:
            warn(f"dialect={shown!r} is now sql_for={shown!r}", DeprecationWarning, stacklevel=2)
            terms["sql_for"] = terms.pop("dialect")
        return act(*given, **terms)

    return accepting


class Terms(TypedDict, total=False):
    """What may be stated of a question besides its SQL; what is left out is as in `Curator.ask`."""

    epsilon: Real | None
    delta: Real | None
    within: Real | Mapping[str, Real] | None
    confidence: Real
    find_bounds_of: Collection[str]
    row_choice: RowChoice | str | None
    groups_per_unit: int | None
    parameters: Parameters
    dialect: str | None


class ExplainTerms(Terms, total=False):
    """The same for an explanation."""

    sql_for: str | None
