"""Stored models asked about changed people: individual fairness of any of them."""

from fairdash.audits._audit import (
    FLIPS,
    audit_flips,
    audit_search,
    flip_values,
)
from fairdash.audits._certify import Certified, certify
from fairdash.audits._counterparts import (
    Change,
    Counterparts,
    counterpart_of,
    search_counterparts,
    worst_counterparts,
)
from fairdash.audits._model import (
    AuditedModel,
    Scaling,
    encoding_of,
    read_model,
    rows_of,
)
from fairdash.audits._rows import AuditRows, Flips
from fairdash.audits._run import audit_run

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
