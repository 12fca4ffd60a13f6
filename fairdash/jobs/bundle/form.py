"""What stands in a bundle: a ZIP of ``run.json`` and of members with their sha256."""

from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from fairdash.datasets import Subgroups

FACTS, HISTORY = "run.json", "history.parquet"
# arrays of a trial beside those of its network
SCORES, RATIO = "scores of rows", "ratio of training rows"
EPOCH, RATIOS = "epochs of ratios", "ratios of training rows"
Arrays = dict[str, NDArray[np.generic]]

MOST_RUNS, MOST_MODELS = 100, 5_000
Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Key = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{32}$")]  # of a trial
Text = Annotated[str, StringConstraints(max_length=10_000)]


class PackedRun(BaseModel):
    """A run in a file: what was asked for, of which table, and its models."""

    model_config = ConfigDict(extra="forbid")
    id: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{12}$")]
    name: Annotated[str, StringConstraints(max_length=10_000, pattern=r"^[^\x00]*$")]
    spec: dict[str, Any]
    keys: Annotated[list[Key], Field(max_length=MOST_MODELS)]
    failed: dict[Key, Text] = {}  # of a trial that did not finish, why
    table_name: Text = ""
    subgroups: Subgroups | None = None  # as pages show the data set
    scores: dict[Digest, list[str]] = {}  # added to it: files by digest
    searches: dict[str, Any] = Field(default={}, exclude=True)  # of earlier versions


class Facts(BaseModel):
    """What a file holds; ``sha256`` of every other member."""

    model_config = ConfigDict(extra="forbid")
    format: Literal[2]
    version: int  # of results
    fairdash: Text
    runs: Annotated[list[PackedRun], Field(min_length=1, max_length=MOST_RUNS)]
    address: Text = ""
    sha256: dict[Text, Digest]
