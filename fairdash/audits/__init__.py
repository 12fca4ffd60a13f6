"""Stored models asked about changed people: individual fairness of any of them."""

from fairdash.audits.counterparts import (
    Change,
    Counterparts,
    counterpart_of,
    search_counterparts,
    worst_counterparts,
)
from fairdash.audits.individual import (
    FLIPS,
    Certified,
    audit_flips,
    audit_run,
    audit_search,
    certify,
    flip_values,
)
from fairdash.audits.models import (
    AuditedModel,
    AuditRows,
    Flips,
    Scaling,
    encoding_of,
    read_model,
    rows_of,
)

__all__ = [
    "FLIPS",
    "AuditRows",
    "AuditedModel",
    "Certified",
    "Change",
    "Counterparts",
    "Flips",
    "Scaling",
    "audit_flips",
    "audit_run",
    "audit_search",
    "certify",
    "counterpart_of",
    "encoding_of",
    "flip_values",
    "read_model",
    "rows_of",
    "search_counterparts",
    "worst_counterparts",
]
