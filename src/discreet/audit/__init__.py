"""Statistical lower bounds on what anything that claims to be private gives away.

`lower_bound` audits a function of one's own on two neighbouring inputs; `audit` a `Subject`;
`audit_outputs` what was drawn already. A `Finding` says what the runs prove, and by which event.
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
