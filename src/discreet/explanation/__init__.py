"""What a question would cost and how good its answer would be, before any data is read."""

from discreet.explanation.coverage import Coverage
from discreet.explanation.explanation import ExplainedColumn, Explanation

__all__ = ["Coverage", "ExplainedColumn", "Explanation"]
