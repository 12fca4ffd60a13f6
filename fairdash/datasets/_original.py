"""The file of a publisher: found in a folder or downloaded, and held to what it was.

Where the sha256 of the file is known, the file must have it. Where it is not, the table
that is read from the file must have a known content, see `content_digest`. The sha256
of a file that was downloaded is then kept beside it, and from then on the file must
have that one too.
"""

import logging
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd

from fairdash.datasets._content import content_digest
from fairdash.datasets._public_table import PublicTable


def read_original(
    public: PublicTable, data_home: str | Path | None = None
) -> pd.DataFrame:
    """Return a public table before any filter, downloaded when its file is not there.

    A file in the folder is never changed, and one that is not the published one is
    never left there by a download.

    Parameters
    ----------
    public : PublicTable
    data_home : str or Path, optional
        Folder of the original files; by default the cache folder of the user.

    Raises
    ------
    ValueError
        If the file cannot be downloaded, or is not the published one.
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
            f"{public.title} could not be downloaded. Get {public.url}, name it "
            f"{public.file} and put it into {path.parent}."
        ) from error
    return table


def _read(public: PublicTable, path: Path, remedy: str) -> pd.DataFrame:
    try:
        table = public.read(path)
    except ValueError as error:
        raise ValueError(
            f"{public.title} was not read: {error} To mend it, {remedy}."
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
