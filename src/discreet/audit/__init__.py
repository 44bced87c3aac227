"""Statistical lower bounds on epsilon, for any code that claims to be differentially private.

`lower_bound` audits any function on two neighbouring inputs, `audit` a `Subject`, and
`audit_outputs` outputs that already exist. A `Finding` has the lower bound and the event behind it.
"""

from typing import TYPE_CHECKING

from discreet.audit.auditor import Finding, audit, audit_outputs, lower_bound, plot
from discreet.audit.subjects import Subject, SubjectKind
from discreet.binomial import Count
from discreet.deprecated import deprecated_modules, deprecated_names

__all__ = [
    "Count",
    "Finding",
    "Subject",
    "SubjectKind",
    "audit",
    "audit_outputs",
    "lower_bound",
    "plot",
]

if not TYPE_CHECKING:
    __getattr__ = deprecated_names(
        __name__,
        {
            "Kind": "discreet.audit.SubjectKind",
        },
    )

deprecated_modules(
    {
        "discreet.audit.questions": {
            "twins": "discreet.audit.broken_questions.broken_questions",
            "*": "discreet.audit.broken_questions",
        },
        "discreet.audit.timing": {
            "twins": "discreet.audit.trial.broken_by_time",
            "*": "discreet.audit.trial",
        },
    }
)
