"""Write docs/deploy/schemas from the types that the command line writes and reads.

python docs/deploy/schemas/write.py
"""

import json
from pathlib import Path
from typing import Literal

from pydantic import TypeAdapter, with_config
from typing_extensions import TypedDict

from fairdash.audits.tables.policy import Policy

FOLDER = Path(__file__).parent
Number = float | None  # null where it is undefined
whole = with_config({"extra": "forbid"})


@whole
class Sample(TypedDict):
    """How many rows were drawn, of how many, in proportion to which columns."""

    n_rows: int
    n_total: int
    by: list[str]


@whole
class Source(TypedDict):
    """The file that was read; ``sample`` where its rows were drawn from more.

    ``counted_by`` are columns by which rows were counted where they lie, not read.
    """

    name: str
    digest: str
    rows: int
    date: str
    sample: Sample | None
    counted_by: list[str]


@whole
class Excluded(TypedDict):
    """Rows that could not be used, and why."""

    reason: str
    column: str
    rows: int


@whole
class Value(TypedDict):
    """A measure of a group; ``outcome`` is the class, or the top of a ranking."""

    outcome: str
    measure: str
    group: str
    value: Number
    ci_low: Number
    ci_high: Number
    n: int


@whole
class Gap(TypedDict):
    """The value of a group less that of the reference."""

    outcome: str
    measure: str
    group: str
    reference: str
    difference: Number
    ci_low: Number
    ci_high: Number
    n: int
    clear: bool


@whole
class LocalGap(TypedDict):
    """The largest gap inside a subgroup, and how large chance alone makes it."""

    outcome: str
    measure: str
    subgroup: str
    n: int
    gap: Number
    ci_low: Number
    ci_high: Number
    chance: Number
    estimable: bool
    reason: str


@whole
class Outcomes(TypedDict):
    """`fairdash audit --kind classes|numbers|ranking --out FILE.json`."""

    kind: Literal["classes", "numbers", "ranking"]
    verdict: str
    rows: int
    confidence: float
    sample: Sample | None
    by_group: list[Value]
    gaps: list[Gap]
    local: list[LocalGap] | None
    source: Source
    excluded: list[Excluded]
    remarks: list[str]


@whole
class Bounded(TypedDict):
    """A rate or gap: weighted estimate, and bounds over all possible true groups."""

    measure: str
    group: str | None
    reference: str | None
    value: Number
    ci_low: Number
    ci_high: Number
    bound_low: Number
    bound_high: Number
    low: Number
    high: Number
    n: Number


@whole
class Probabilities(TypedDict):
    """`fairdash audit --probabilities --out FILE.json`."""

    verdict: str
    rows: int
    confidence: float
    estimates: list[Bounded]
    source: Source
    excluded: list[Excluded]
    remarks: list[str]


FORMS = {
    "policy": Policy,
    "audit_outcomes": Outcomes,
    "audit_probabilities": Probabilities,
}


def schemas() -> dict[str, str]:
    """Return the JSON schema of every form, by name."""
    return {
        name: json.dumps(TypeAdapter(form).json_schema(), indent=1) + "\n"
        for name, form in FORMS.items()
    }


if __name__ == "__main__":
    for name, text in schemas().items():
        (FOLDER / f"{name}.json").write_text(text)
