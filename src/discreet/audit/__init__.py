"""Statistical lower bounds on epsilon, for any code that claims to be differentially private.

`lower_bound` audits any function on two neighbouring inputs, `audit` a `Subject`, and
`audit_outputs` outputs that already exist. A `Finding` has the lower bound and the event behind it.
"""

from discreet.audit.auditor import audit, audit_outputs, lower_bound
from discreet.audit.bounds import Count
from discreet.audit.findings import Finding, plot
from discreet.audit.subjects import Kind, Subject

__all__ = [
    "Count",
    "Finding",
    "Kind",
    "Subject",
    "audit",
    "audit_outputs",
    "lower_bound",
    "plot",
]
