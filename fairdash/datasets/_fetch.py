"""Download a public table from its publisher, or find it in a folder."""

import logging
from pathlib import Path

import pandas as pd

from fairdash._validation import check_one_of
from fairdash.datasets._dataset import Dataset, make_dataset
from fairdash.datasets._public import PUBLIC, PublicTable


def fetch(
    name: str, data_home: str | Path | None = None, variant: str | None = None
) -> Dataset:
    """Return a public table with its roles, downloaded once and checked.

    Parameters
    ----------
    name : {"adult", "compas", "law", "german"}
    data_home : str or Path, optional
        Folder of the original files; a file that is there is not downloaded. By default
        the cache folder of the user.
    variant : str, optional
        Filter of a paper, by default the first: ``all`` or ``complete`` of adult
        (48,842 and 45,222 rows), ``road``, ``propublica`` or ``all`` of compas (6,167,
        6,172 and 7,214).

    Returns
    -------
    Dataset

    Raises
    ------
    ValueError
        If there is no such table or variant, the file is not the published one, or it
        cannot be downloaded; the message says which file to put where.
    """
    table = fetch_table(name, data_home, variant)
    public = PUBLIC[name]
    key = f"{public.sha256}:{variant or next(iter(public.variants))}"
    return make_dataset(table, public.roles, name=public.title, key=key)


def fetch_table(
    name: str, data_home: str | Path | None = None, variant: str | None = None
) -> pd.DataFrame:
    """Return a public table as the variant filters it, before roles are applied.

    Parameters
    ----------
    name, data_home, variant
        As of `fetch`.

    Returns
    -------
    DataFrame

    Raises
    ------
    ValueError
        As `fetch`.
    """
    check_one_of("name", name, PUBLIC)
    public = PUBLIC[name]
    variant = variant or next(iter(public.variants))
    check_one_of("variant", variant, public.variants)
    path = download(public, data_home)
    table = public.variants[variant](public.read(path)).reset_index(drop=True)
    if len(table) != public.n_rows[variant]:
        raise ValueError(
            f"{public.title} ({variant}) has {len(table):,} rows where "
            f"{public.n_rows[variant]:,} were expected; delete {path} and try again."
        )
    return table


def download(public: PublicTable, data_home: str | Path | None = None) -> Path:
    """Return the path of a publisher's file, downloaded when it is not there.

    Raises
    ------
    ValueError
        If it cannot be downloaded or is another file than the published one.
    """
    import pooch  # only public data needs it
    import requests

    folder = Path(data_home or pooch.os_cache("fairdash"))
    path = folder / public.file
    if path.exists() and pooch.file_hash(str(path), "sha256") != public.sha256:
        raise ValueError(
            f"{path} is not the published file: its sha256 is not {public.sha256}; "
            "move it away to download it."
        )
    pooch.get_logger().setLevel(logging.WARNING)
    try:
        pooch.retrieve(
            public.url, f"sha256:{public.sha256}", fname=public.file, path=folder
        )
    except (OSError, requests.RequestException) as error:
        raise ValueError(
            f"{public.title} could not be downloaded. Get {public.url}, name it "
            f"{public.file} and put it into {folder}."
        ) from error
    except ValueError as error:  # of pooch: the checksum differs
        raise ValueError(
            f"{public.url} is not the file that was published: its sha256 is not "
            f"{public.sha256}; get it elsewhere and put it at {path}."
        ) from error
    return path
