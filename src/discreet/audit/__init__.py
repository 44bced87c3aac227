"""Statistical lower bounds on epsilon, for any code that claims to be differentially private.

`lower_bound` audits any function on two neighbouring inputs, `audit` a `Subject`, and
`audit_outputs` outputs that already exist. A `Finding` has the lower bound and the event behind it.
"""

from discreet.audit.auditor import Finding, audit, audit_outputs, lower_bound, plot
from discreet.audit.subjects import Subject, SubjectKind
from discreet.binomial import Count

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
