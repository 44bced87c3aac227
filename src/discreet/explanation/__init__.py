"""What a question would cost and how good its answer would be, before any data is read."""

from discreet.explanation.explanation import ExplainedColumn, Explanation
from discreet.explanation.from_plan import cautions_of, explain_plan, notes_of

__all__ = ["ExplainedColumn", "Explanation", "cautions_of", "explain_plan", "notes_of"]
