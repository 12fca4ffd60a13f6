"""A public table by name and variant, downloaded once and held to what it was."""

import hashlib
import json
import logging
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
from pandas.api import types

from fairdash._validation import check_one_of
from fairdash.datasets._dataset import Dataset, make_dataset
from fairdash.datasets.public.tables import PUBLIC, PublicTable


def fetch(
    name: str, data_home: str | Path | None = None, variant: str | None = None
) -> Dataset:
    """Return a public table with its roles, downloaded once and checked.

    Parameters
    ----------
    name : {"adult", "compas", "law", "law_lequy", "german", "credit"}
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
    known = public.sha256 or public.content
    key = f"{known}:{variant or next(iter(public.variants))}"
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
    """Return a public table before any filter, downloaded when its file is not there.

    A file in the folder is never changed, and one that is not the published one is
    never left there by a download.

    Raises ValueError if the file cannot be downloaded, or is not the published one.
    """
    import pooch  # only public data needs it

    folder = Path(data_home or pooch.os_cache("fairdash"))
    path = folder / public.file
    known = _known_sha256(public, path)
    if not path.exists():
        return _download(public, path, known)
    if known and pooch.file_hash(str(path), "sha256") != known:
        published = "published file" if public.sha256 else "file downloaded at first"
        raise ValueError(
            f"{path} is not the {published}: its sha256 is not {known}; move it away "
            "to download it."
        )
    return _read(public, path, f"move {path} away to download it")


def _download(public: PublicTable, path: Path, known: str) -> pd.DataFrame:
    """Return a table; its file is put at ``path`` when it proves to be the one."""
    import pooch
    import requests

    pooch.get_logger().setLevel(logging.WARNING)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=path.parent) as beside:
            new = Path(beside) / path.name
            pooch.retrieve(public.url, None, fname=new.name, path=beside)
            found = pooch.file_hash(str(new), "sha256")
            if known and found != known:
                raise ValueError(
                    f"{public.url} is not the file that was published: its sha256 is "
                    f"not {known}; get it elsewhere and put it at {path}."
                )
            table = _read(public, new, f"get it elsewhere and put it at {path}")
            if not public.sha256:
                _record(path).write_text(f"{found}\n")
            new.replace(path)
    except (OSError, requests.RequestException) as error:
        raise ValueError(
            f"{public.title} could not be downloaded. Get `{public.url}`, name it "
            f"{public.file} and put it into {path.parent}."
        ) from error
    return table


def _read(public: PublicTable, path: Path, remedy: str) -> pd.DataFrame:
    try:
        table = public.read(path)
    except ValueError as error:
        raise ValueError(
            f"{public.title} was not read: {error} To fix it, {remedy}."
        ) from error
    if public.content and content_digest(table) != public.content:
        raise ValueError(
            f"{public.title} was not read: the values of {path.name} are not those of "
            f"the published table; {remedy}."
        )
    return table


def _known_sha256(public: PublicTable, path: Path) -> str:
    """Return the sha256 that the file must have, "" where none is known yet."""
    if public.sha256 or not _record(path).exists():
        return public.sha256
    return _record(path).read_text().strip()


def _record(path: Path) -> Path:
    return path.with_name(f"{path.name}.sha256")


def content_digest(table: pd.DataFrame) -> str:
    """Return the sha256 of all names, kinds and values of a table.

    For each column in order: its name and kind as JSON and a line end, then its values.
    Whole numbers are signed 64-bit integers, numbers IEEE doubles (one NaN, no negative
    zero), both little-endian; all else is a JSON array of texts and nulls. A file in
    another encoding, with other delimiters or line ends, has the same content.
    """
    digest = hashlib.sha256()
    for name, column in table.items():
        kind, values = _canonical(column)
        digest.update(json.dumps([str(name), kind]).encode() + b"\n")
        digest.update(values)
    return digest.hexdigest()


def _canonical(column: "pd.Series[Any]") -> tuple[str, bytes]:
    if types.is_bool_dtype(column) or not types.is_numeric_dtype(column):
        cells = column.astype(object).where(column.notna(), None).tolist()
        texts = [None if cell is None else str(cell) for cell in cells]
        return "text", json.dumps(texts).encode()
    if types.is_integer_dtype(column) and column.notna().all():
        return "whole", column.to_numpy(dtype="<i8").tobytes()
    numbers = column.to_numpy(dtype="<f8", na_value=np.nan) + 0.0  # -0.0 becomes 0.0
    numbers[np.isnan(numbers)] = np.nan
    return "number", numbers.tobytes()
