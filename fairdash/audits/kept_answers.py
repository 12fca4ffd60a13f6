"""First answers about a sweep: computed once it is over, and kept with its run."""

import json
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any

from fairdash._code import version_of
from fairdash.audits.sweeps import StoredSweep

# Rooms whose code decides an answer.
_ROOMS = (
    "_escaping",
    "_wording",
    "analysis",
    "audits",
    "datasets",
    "linked",
    "methods",
    "metrics",
    "plots",
    "postprocessing",
    "scored",
    "store",
    "sweep",
    "wording",
)
_NAME_LENGTH = 16


def kept_answer(
    sweep: StoredSweep,
    question: str,
    arguments: Sequence[Any],
    make: Callable[[], bytes],
) -> bytes:
    """Return an answer about a sweep, kept with its run since it was first computed.

    It is computed anew where other code computed it, something damaged it, or the data
    set has other words. Nothing is kept of a sweep that still runs, nor by a decision
    rule that somebody chose.

    Parameters
    ----------
    question : str
    arguments : sequence
        Plain data; with the sweep and the question all that the answer follows from. A
        caller asks with few of them: each answer is a file.
    make : callable
        Returns the answer.
    """
    run = sweep.run
    store = sweep.store
    if not run.over or not sweep.rule.usual:
        return make()
    roles = store.dataset_record(run.dataset_id).roles.model_dump(mode="json")
    n_models = len(sweep.result.rows)
    text = json.dumps([question, n_models, roles, *arguments], sort_keys=True)
    name = sha256(text.encode()).hexdigest()[:_NAME_LENGTH]
    version = version_of(*_ROOMS)
    content = store.answer(run.id, name, version)
    if content is None:
        content = make()
        store.keep_answer(run.id, name, version, content)
    return content
