"""A small bundle of a run, and how one is put together again with a change."""

import io
import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
from toys import people

from fairdash.datasets import Cut, Remedy, Roles, ScoreColumn, Subgroups
from fairdash.jobs import pack_runs, queue, run_open
from fairdash.jobs._work import keep_data
from fairdash.store import Store
from fairdash.sweep import SweepSpec, expand

FACTS = "run.json"
HISTORY = "history.parquet"
DEEP = "50,000 levels"  # stands in facts for lists in one another
# every field that decides rows, and most of the others
ROLES = Roles(
    target="skill",
    positive=Cut(sign=">=", value=0),
    sensitive_feature="origin",
    groups={"here": ("here",), "elsewhere": ()},
    features=("age", "branch"),
    subgroup_columns=("branch",),
    scores=(ScoreColumn(column="vendor", kind="probability", threshold=0.6),),
    sample_weight="weight",
    keep={"hired": ("yes", "no")},
    min_level_rows=5,
    max_levels=40,
    preparation=(Remedy(kind="recode", column="branch", changes={"works": "plant"}),),
    types={"age": "number"},
    left_out={"hired": "known later"},
    feature_order=("age", "branch", "hired"),
    positive_name="skilled",
    positive_is="favourable",
    guessed=True,
)
SUBGROUPS = Subgroups(columns=("age",), cuts={"age": (30, 40)}, min_size=20)
Members = dict[str, bytes]
Facts = dict[str, Any]
Make = Callable[[Members, Facts], bytes]


def packed_run(store: Store, file: Path) -> None:
    """Train a model on a table with all that a bundle can hold, and pack it."""
    rng = np.random.default_rng(0)
    frame = people(200)
    frame["vendor"] = rng.random(200).round(2)
    frame["weight"] = rng.integers(1, 4, 200)
    table = store.add_table(frame.to_csv(index=False).encode(), "people.csv")
    grid = {"fairness_weight": [0.5, 1], "n_epochs": 1}
    spec = {
        "data": {"table": table, "roles": ROLES, "name": "People"},
        "methods": [{"method": "road", "params": grid}],
        "subgroups": {"columns": ["branch"], "where": {"branch": ["plant"]}},
        "scaling": "minmax",
        "di_limit": 0.1,
        "train_rows": 60,
    }
    spec = SweepSpec.model_validate(spec)
    dataset = store.dataset(keep_data(store, spec))
    first = expand(spec.fitted_to(dataset), dataset.key)[0].key
    run = queue(store, spec, name="Sweep", failed={first: "ValueError: no"})
    run_open(store)
    store.add_dataset(table, ROLES, "People", SUBGROUPS)
    pack_runs(store, [run], file, address="tau=0.6")


def opened(file: Path) -> tuple[Members, Facts]:
    """Return the members of a bundle by name, and its facts apart from them."""
    with ZipFile(file) as bundle:
        members = {name: bundle.read(name) for name in bundle.namelist()}
    return members, json.loads(members.pop(FACTS))


def written(members: Members, facts: Facts | bytes) -> bytes:
    """Return a bundle of members and facts as they are."""
    if not isinstance(facts, bytes):
        deep = "[" * 50_000 + "]" * 50_000
        facts = json.dumps(facts).replace(f'"{DEEP}"', deep).encode()
    file = io.BytesIO()
    with ZipFile(file, "w", ZIP_DEFLATED, compresslevel=1) as bundle:
        for name, content in (members | {FACTS: facts}).items():
            bundle.writestr(name, content)
    return file.getvalue()


def member(kind: str, members: Members, facts: Facts) -> str:
    """Return the name of a member: "model", "table", or one with this in its name."""
    (run,) = facts["runs"]
    if kind == "table":
        return f"{run['spec']['data']['table']}.parquet"
    if kind == "model":
        return next(key for key in run["keys"] if key in members)
    return next(name for name in members if kind in name)


def replaced(kind: str, content: Callable[[bytes], bytes]) -> Make:
    """Return what makes a bundle with a member changed, and its digest right again."""

    def make(members: Members, facts: Facts) -> bytes:
        name = member(kind, members, facts)
        members = members | {name: content(members[name])}
        digests = {item: sha256(part).hexdigest() for item, part in members.items()}
        return written(members, facts | {"sha256": digests})

    return make


def told(change: Callable[[Facts], object]) -> Make:
    """Return what makes a bundle whose facts are changed in place."""

    def make(members: Members, facts: Facts) -> bytes:
        facts = json.loads(json.dumps(facts))
        change(facts)
        return written(members, facts)

    return make
