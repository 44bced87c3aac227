"""What a question would cost and how good its answer would be, before any data is read."""

from discreet.explanation.explanations import ExplainedColumn, Explanation
from discreet.explanation.plans import explain_plan, notes_of

__all__ = ["ExplainedColumn", "Explanation", "explain_plan", "notes_of"]
