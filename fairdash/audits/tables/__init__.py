"""Audits of a table of decisions or scores, every row counted."""

from typing import TYPE_CHECKING

from fairdash._lazy import lazy

__all__ = [
    "OUTCOME_KINDS",
    "AskedTable",
    "CountedRows",
    "Judgement",
    "MembershipAudit",
    "Monitor",
    "OutcomesAudit",
    "Policy",
    "PolicyCheck",
    "Source",
    "TableAudit",
    "TableFacts",
    "TableQuestion",
    "Watch",
    "adverse_impact",
    "alternative_in_run",
    "audit_memberships",
    "audit_outcomes",
    "audit_table",
    "bias_audit",
    "check_counts_people",
    "check_policy",
    "count_rows",
    "first_policy",
    "inconsistencies",
    "memberships_of_table",
    "people_words",
    "plain",
    "plain_rows",
    "published_audit",
    "read_asked",
    "read_listed",
    "read_people",
    "record_of",
    "search_source",
    "stored_name",
    "table_answer",
]

if TYPE_CHECKING:
    from fairdash.analysis import Judgement
    from fairdash.audits.tables.adverse import (
        adverse_impact,
        check_counts_people,
    )
    from fairdash.audits.tables.alternative import alternative_in_run
    from fairdash.audits.tables.audit import (
        TableAudit,
        audit_table,
        plain,
        plain_rows,
        record_of,
    )
    from fairdash.audits.tables.counting import CountedRows, count_rows
    from fairdash.audits.tables.facts import TableFacts
    from fairdash.audits.tables.limits import PolicyCheck, check_policy
    from fairdash.audits.tables.ll144 import (
        bias_audit,
        inconsistencies,
        people_words,
        published_audit,
    )
    from fairdash.audits.tables.memberships import (
        MembershipAudit,
        audit_memberships,
        memberships_of_table,
    )
    from fairdash.audits.tables.monitor import Watch, stored_name
    from fairdash.audits.tables.outcomes import (
        OUTCOME_KINDS,
        OutcomesAudit,
        audit_outcomes,
    )
    from fairdash.audits.tables.policy import Policy, first_policy
    from fairdash.audits.tables.question import TableQuestion
    from fairdash.audits.tables.reading import (
        AskedTable,
        Source,
        read_asked,
        read_listed,
        read_people,
    )
    from fairdash.audits.tables.source_search import search_source
    from fairdash.audits.tables.table_answer import table_answer
    from fairdash.audits.tables.watched import Monitor
else:
    __getattr__, __dir__ = lazy(__name__, __file__)
