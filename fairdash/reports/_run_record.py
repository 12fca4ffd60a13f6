"""The facts of a run in every document: the data, the models, the dates."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from fairdash._validation import CROSS
from fairdash._wording import PEOPLE, ROWS, Noun, count, listing, utc, value_spans
from fairdash.datasets import split
from fairdash.reports._sections import DataSubject, RunSubject
from fairdash.sweep import BASELINE


def data_record(subject: DataSubject) -> dict[str, Any]:
    """Return the facts of a data set; sizes of small groups are None.

    Keys: name, table, sha256, rows (of the table), used (rows), sample, excluded
    (reason, column, rows, values), parts (training, validation and test rows for each
    seed), asked (which rows), prepared (what changed cells), outcome, negative (what
    counts as 0), feature, groups (name and n), subgroups, weight, count (of
    people, in whose numbers rows are then).
    """
    dataset = subject.dataset
    record = subject.store.dataset_record(subject.dataset_id)
    sizes = subject.group_sizes
    roles = dataset.roles
    groups: list[dict[str, Any]] = []
    for name in dataset.group_names:
        n = None if name in subject.small_groups else int(sizes[name])
        groups.append({"group": str(name), "n": n})
    return {
        "name": dataset.name,
        "table": record.table_name,
        "sha256": record.table_sha256,
        "rows": int(dataset.n_read),
        "used": int(dataset.n_people),
        "sample": dataset.drawn.sentence if dataset.drawn else None,
        "joined": [table.sentence for table in dataset.joined],
        "excluded": _excluded(dataset.excluded),
        "parts": [dataset.people_in(part) for part in split(dataset)],
        "asked": roles.rows_words(),
        "prepared": [step.words() for step in roles.preparation],
        "outcome": roles.positive_words(),
        "negative": roles.negative_words(),
        "feature": roles.group_column(),
        "groups": groups,
        "subgroups": list(subject.subgroups.columns),
        "weight": roles.sample_weight,
        "count": roles.count,
    }


def _excluded(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the excluded rows with Python's own types, which JSON takes."""
    return [
        {
            "reason": str(part["reason"]),
            "column": str(part["column"]),
            "rows": int(part["rows"]),
            "values": list(part["values"]),
        }
        for part in table.to_dict("records")
    ]


def run_record(subject: RunSubject) -> dict[str, Any]:
    """Return the facts of a run: its data, its dates, and the two models.

    ``after`` is the model that documents are about, ``before`` the plain one that it is
    compared with, which may be itself; None where there is none.
    """
    run = subject.snapshot.run
    models = subject.models
    # The models begin with the plain one, unless the run has none.
    before = None
    if len(models) > 1 or models[0].method == BASELINE:
        before = models[0].label
    return {
        "run": run.id,
        "started": utc(run.created),
        "finished": utc(run.finished) if run.finished else None,
        "seeds": sorted({trial.seed for trial in subject.snapshot.trials}),
        "before": before,
        "after": models[-1].label,
        "decided": subject.rule.words(),
        "data": data_record(subject),
    }


def data_words(record: Mapping[str, Any]) -> dict[str, str]:
    """Return the facts of a data set as a reader sees them."""
    noun = _noun(record)
    counts = [
        f"{part['group']} ({_size(part['n'], noun)})" for part in record["groups"]
    ]
    parts = " / ".join(map(count, record["parts"]))
    used = f"{count(record['used'])} used of {count(record['rows'])}"
    words = {
        "Table": f"{record['table']}, sha256 {record['sha256']}",
        "Prepared": "; ".join(record["prepared"]) or "as it is",
        noun.several.capitalize(): used,
        "Rows asked about": record["asked"],
        f"Training, validation and test {noun.several}": f"{parts} for each seed",
        "Outcome": record["outcome"],
        "Counted as 0": record["negative"],
        "Sensitive feature": f"{record['feature']}: {listing(counts)}",
        "Subgroups": CROSS.join(record["subgroups"]) or "none",
    }
    if record["sample"]:
        words["Sample"] = record["sample"]
    if record["joined"]:
        words["Joined"] = " ".join(record["joined"])
    if record["weight"]:
        words["Sampling weight"] = record["weight"]
    if record["count"]:
        words["People in a row"] = record["count"]
    return words


def run_words(record: Mapping[str, Any]) -> dict[str, str]:
    """Return the facts of a run as a reader sees them."""
    excluded = [
        f"{count(part['rows'])}: {part['reason']} ({_about(part)})"
        for part in record["data"]["excluded"]
    ]
    rows = _noun(record["data"]).several.capitalize()
    return {
        "Run": record["run"],
        "Started": record["started"],
        "Finished": record["finished"] or "not yet",
        "Seeds": ", ".join(map(str, record["seeds"])),
        "Model before": record["before"] or "no plain model in this run",
        "Model that a report is about": record["after"],
        "Decided 1": record["decided"],
        "Data set": record["data"]["name"],
        **data_words(record["data"]),
        f"{rows} excluded": "; ".join(excluded) or "none",
    }


def _about(part: Mapping[str, Any]) -> str:
    return f"{part['column']} {value_spans(part['values'])}".strip()


def _noun(record: Mapping[str, Any]) -> Noun:
    """Return what the numbers of a data set count."""
    return PEOPLE if record["count"] else ROWS


def _size(n: int | None, noun: Noun) -> str:
    return "suppressed" if n is None else noun.counted(n)
