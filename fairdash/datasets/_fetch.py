"""A public table as a data set or as it stands, by name and variant."""

from pathlib import Path

import pandas as pd

from fairdash._validation import check_one_of
from fairdash.datasets._dataset import Dataset, make_dataset
from fairdash.datasets._original import read_original
from fairdash.datasets._public import PUBLIC


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
    known = public.sha256 or public.content
    key = f"{known}:{variant or next(iter(public.variants))}"
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
    rows = public.variants[variant]
    table = rows.keep(read_original(public, data_home)).reset_index(drop=True)
    if len(table) != rows.n_rows:
        raise ValueError(
            f"{public.title} ({variant}) has {len(table):,} rows where {rows.n_rows:,} "
            f"were expected; delete {public.file} and try again."
        )
    return table
