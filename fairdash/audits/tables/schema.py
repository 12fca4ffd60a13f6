"""The form of an audit as JSON; `docs/deploy/schemas` is written from these types."""

from typing import Any

from typing_extensions import TypedDict  # that of typing has no schema before 3.12


class SourceRow(TypedDict):
    """Where rows come from: file name, SHA-256, rows of the table, time in UTC."""

    name: str
    digest: str
    rows: int
    date: str


class ExcludedRow(TypedDict):
    """Rows that do not count, under the first reason that excludes them."""

    reason: str
    column: str
    rows: int


class CountRow(TypedDict):
    """Rows of a group, and how many of them were decided positive."""

    feature: str
    group: str
    n: int
    positive: int


class EstimateRow(TypedDict):
    """A number with its interval; see `TableAudit.estimates`."""

    feature: str
    measure: str
    subgroup: str | None
    group: str | None
    reference: str | None
    value: float | None
    low: float | None
    high: float | None
    n: int
    reason: str


class FindingRow(TypedDict):
    """A difference of two groups; see `fairdash.metrics.Finding`."""

    feature: str
    measure: str
    subgroup: str | None
    group: str
    reference: str
    value: float | None
    low: float | None
    high: float | None
    n: int
    sure: bool
    reason: str


class AuditFile(TypedDict):
    """What `fairdash audit --out` writes. Undefined numbers are null."""

    version: int
    verdict: str
    rows: int
    confidence: float
    source: SourceRow
    question: dict[str, Any]
    excluded: list[ExcludedRow]
    counts: list[CountRow]
    estimates: list[EstimateRow]
    findings: list[FindingRow]
