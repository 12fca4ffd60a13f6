"""What every document of a run says of it: the data, the models, the dates."""

from collections.abc import Mapping
from typing import Any

from fairdash._wording import count, listing, plural, utc
from fairdash.audits import trials
from fairdash.reports._sections import DataSubject, RunSubject


def data_record(subject: DataSubject) -> dict[str, Any]:
    """Return the facts of a data set; sizes of small groups are None.

    Keys: name, table, sha256, rows (of the table), used (rows), sample, excluded
    (reason, column, rows), parts (training, validation and test rows for each seed),
    outcome, feature, groups (name and n), subgroups, weight.
    """
    dataset = subject.dataset
    record = subject.store.dataset_record(subject.dataset_id)
    sizes = subject.group_sizes
    few = subject.small_groups
    roles = dataset.roles
    excluded = dataset.excluded[["reason", "column", "rows"]]
    return {
        "name": dataset.name,
        "table": record.table_name,
        "sha256": record.table_sha256,
        "rows": int(record.n_rows),
        "used": int(dataset.n_rows),
        "sample": dataset.drawn.sentence if dataset.drawn else None,
        "excluded": [
            {"reason": str(reason), "column": str(column), "rows": int(rows)}
            for reason, column, rows in excluded.itertuples(index=False)
        ],
        "parts": list(map(int, trials.part_sizes(subject.store, subject.dataset_id))),
        "outcome": roles.positive_words(),
        "feature": roles.sensitive_feature,
        "groups": [
            {"group": str(name), "n": None if name in few else int(sizes[name])}
            for name in dataset.group_names
        ],
        "subgroups": list(subject.subgroups.columns),
        "weight": roles.sample_weight,
    }


def run_record(subject: RunSubject) -> dict[str, Any]:
    """Return the facts of a run: its data, its dates, and the two models.

    ``after`` is the model that documents are about, ``before`` the plain one that it is
    compared with, None where there is none.
    """
    run = subject.snapshot.run
    models = subject.models
    return {
        "run": run.id,
        "started": utc(run.created),
        "finished": utc(run.finished) if run.finished else None,
        "seeds": sorted({trial.seed for trial in subject.snapshot.trials}),
        "before": models[0].label if len(models) > 1 else None,
        "after": models[-1].label,
        "decided": subject.rule.words(),
        "data": data_record(subject),
    }


def data_words(record: Mapping[str, Any]) -> dict[str, str]:
    """Return the facts of a data set as a reader sees them."""
    counts = [f"{part['group']} ({_size(part['n'])})" for part in record["groups"]]
    parts = " / ".join(map(count, record["parts"]))
    words = {
        "Table": f"{record['table']}, sha256 {record['sha256']}",
        "Rows": f"{count(record['used'])} used of {count(record['rows'])}",
        "Training, validation and test rows": f"{parts} for each seed",
        "Outcome": record["outcome"],
        "Sensitive feature": f"{record['feature']}: {listing(counts)}",
        "Subgroups": " × ".join(record["subgroups"]) or "none",
    }
    if record["sample"]:
        words["Sample"] = record["sample"]
    if record["weight"]:
        words["Sampling weight"] = record["weight"]
    return words


def run_words(record: Mapping[str, Any]) -> dict[str, str]:
    """Return the facts of a run as a reader sees them."""
    excluded = [
        f"{count(part['rows'])}: {part['reason']} ({part['column']})"
        for part in record["data"]["excluded"]
    ]
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
        "Rows excluded": "; ".join(excluded) or "none",
    }


def _size(n: int | None) -> str:
    return "suppressed" if n is None else plural(n, "row")
