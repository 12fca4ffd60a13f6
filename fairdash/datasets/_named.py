"""Tables by name: samples with planted bias, public ones held to what they were."""

import hashlib
import json
import os
import tomllib
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryDirectory
from urllib.request import urlopen

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash import APP_FOLDER
from fairdash._validation import check_one_of
from fairdash.datasets._dataset import Dataset, make_dataset
from fairdash.datasets._public import PUBLIC, PublicTable
from fairdash.datasets._roles import Roles
from fairdash.datasets._subgroups import Subgroups
from fairdash.datasets._truth import Truth, read_truth
from fairdash.datasets.conditions import Condition
from fairdash.datasets.reading.read import read_table

FOLDER = APP_FOLDER / "sample_data"


@dataclass(frozen=True)
class Sample:
    """A synthetic table with a known right answer.

    Attributes
    ----------
    planted : str
        One sentence: where the bias is, how it came about and how large it is.
    region : tuple of Condition
        Where; all of them hold there.
    """

    title: str
    path: Path
    roles: Roles
    subgroups: Subgroups
    planted: str
    n_rows: int
    region: tuple[Condition, ...]
    later: Path | None = None

    def planted_rows(self, frame: pd.DataFrame) -> NDArray[np.bool_]:
        """Flag the rows, of all groups, over which the gap is the planted one."""
        return np.all([part.holds(frame) for part in self.region], axis=0)

    def truth(self) -> Truth:
        """Return the true gaps, of a million rows of the generator.

        ``sample_data/make_samples.py`` draws them. Groups are those of the roles: for
        readmission the recorded ones, which are wrong in 15 %.
        """
        return read_truth(self.path)


@dataclass(frozen=True)
class Published:
    """A table of counts that was published, and comes with the package.

    Attributes
    ----------
    question : str
        The question that it answers.
    source : str
        Who published it, and where.
    n_people : int
        How many people its rows stand for.
    """

    title: str
    path: Path
    roles: Roles
    subgroups: Subgroups
    question: str
    source: str
    n_people: int


def load_sample(name: str) -> Dataset:
    """Load a table that comes with the package, with its roles.

    The samples "loans", "hiring" and "readmission", and "berkeley", a table of counts.
    """
    check_one_of("name", name, (*SAMPLES, *PUBLISHED))
    sample = PUBLISHED[name] if name in PUBLISHED else SAMPLES[name]
    content = sample.path.read_bytes()
    table = read_table(content, name=sample.path.name)
    key = hashlib.sha256(content).hexdigest()
    return make_dataset(table, sample.roles, name=sample.title, key=key)


_FACTS = tomllib.loads(Path(__file__).with_name("samples.toml").read_text("utf-8"))
SAMPLES = {
    name: Sample(
        title=facts["title"],
        path=FOLDER / facts["file"],
        roles=Roles.model_validate(facts["roles"]),
        subgroups=Subgroups.model_validate(facts["subgroups"]),
        planted=facts["planted"],
        n_rows=facts["n_rows"],
        region=tuple(map(Condition.model_validate, facts["region"])),
        later=FOLDER / facts["later"] if "later" in facts else None,
    )
    for name, facts in _FACTS.items()
}

_COUNTS = tomllib.loads(Path(__file__).with_name("published.toml").read_text("utf-8"))
PUBLISHED = {
    name: Published(
        title=facts["title"],
        path=FOLDER / facts["file"],
        roles=Roles.model_validate(facts["roles"]),
        subgroups=Subgroups.model_validate(facts["subgroups"]),
        question=facts["question"],
        source=facts["source"],
        n_people=facts["n_people"],
    )
    for name, facts in _COUNTS.items()
}


def fetch(
    name: str, data_home: str | Path | None = None, variant: str | None = None
) -> Dataset:
    """Return a public table with its roles, downloaded once and checked.

    Parameters
    ----------
    name : {"adult", "compas", "law", "german", "credit"}
    data_home : str or Path, optional
        Folder of the original files; a file that is there is not downloaded. By default
        the cache folder of the user.
    variant : str, optional
        Rows that a paper uses, by default the first variant: ``PUBLIC[name].variants``
        has their words and counts, such as ``road``, ``propublica`` and ``all`` of
        compas (6,167, 6,172 and 7,214 rows).

    Raises
    ------
    ValueError
        If there is no such table or variant, the file is not the published one, or it
        cannot be downloaded; the message says which file to put where.
    """
    table = fetch_table(name, data_home, variant)
    public = PUBLIC[name]
    file = public.sha256 or public.content
    key = f"{file}:{variant or next(iter(public.variants))}"
    return make_dataset(table, public.roles, name=public.title, key=key)


def fetch_table(
    name: str, data_home: str | Path | None = None, variant: str | None = None
) -> pd.DataFrame:
    """Return a public table as the variant filters it, before roles are applied."""
    check_one_of("name", name, PUBLIC)
    public = PUBLIC[name]
    variant = variant or next(iter(public.variants))
    check_one_of("variant", variant, public.variants)
    rows = public.variants[variant]
    table = rows.keep(read_original(public, data_home)).reset_index(drop=True)
    if len(table) != rows.n_rows:
        raise ValueError(
            f"{public.title} ({variant}) has {len(table):,} rows where {rows.n_rows:,} "
            f"were expected; delete {public.file} and try again."
        )
    return table


def read_original(
    public: PublicTable, data_home: str | Path | None = None
) -> pd.DataFrame:
    """Return a public table before any filter, downloaded if its file is not there."""
    path = Path(data_home or cache_folder()) / public.file
    if path.exists():
        return _read(public, path, f"move {path} away to download it")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=path.parent) as scratch:
            new = Path(scratch) / path.name
            with urlopen(public.url, timeout=60) as answer, open(new, "wb") as file:
                copyfileobj(answer, file)
            table = _read(public, new, f"get it elsewhere and put it at {path}")
            new.replace(path)
    except (OSError, HTTPException) as error:
        raise ValueError(
            f"{public.title} could not be downloaded. Get `{public.url}`, name it "
            f"{public.file} and put it into {path.parent}."
        ) from error
    return table


def cache_folder() -> Path:
    """Return where downloaded tables are kept."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "fairdash"


def _read(public: PublicTable, path: Path, remedy: str) -> pd.DataFrame:
    with open(path, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    try:
        if public.sha256 and digest != public.sha256:
            raise ValueError(f"{path.name} is not the file that was published.")
        table = public.read(path)
        if public.content and content_digest(table) != public.content:
            raise ValueError(f"The values of {path.name} are not those published.")
    except ValueError as error:
        raise ValueError(
            f"{public.title} was not read: {error} To fix it, {remedy}."
        ) from error
    return table


def content_digest(table: pd.DataFrame) -> str:
    """Return the sha256 of all names and values of a table of whole numbers.

    For each column in order: its name as JSON and a line end, then its values as signed
    64-bit integers, little-endian. A file in another encoding, with other delimiters or
    line ends, has the same content.
    """
    digest = hashlib.sha256()
    for name, column in table.items():
        digest.update(json.dumps([str(name), "whole"]).encode() + b"\n")
        digest.update(column.to_numpy(dtype="<i8").tobytes())
    return digest.hexdigest()
