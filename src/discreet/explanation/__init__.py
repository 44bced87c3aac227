"""What a question would cost and how good its answer would be, before any data is read."""

from typing import TYPE_CHECKING

from discreet.on_use import names_of

if TYPE_CHECKING:
    from discreet.explanation.coverage import Coverage
    from discreet.explanation.explanation import ExplainedColumn, Explanation

__all__ = ["Coverage", "ExplainedColumn", "Explanation"]

_MODULES = {
    "coverage": "Coverage",
    "explanation": "ExplainedColumn Explanation",
}
"""The modules, and the public names that each gives."""

if not TYPE_CHECKING:
    __getattr__ = names_of(__name__, _MODULES)
