"""What a trained model leaves on disk: readable, complete or absent, never replaced."""

import io
import json
import os
import shutil
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from safetensors import numpy as safetensors

WRITING, REMOVING = ".writing-", ".removing-"  # what is not, or no longer, an artifact
ABANDONED_SECONDS = 3600.0


class Artifact:
    """The files of one trial; no format here can run code when it is read.

    So are those of a plane, from which trials are taken: a network and a history
    without scores. Its trials name it in their row, see `plane`.

    Parameters
    ----------
    folder : Path
        The folder of the trial.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def exists(self) -> bool:
        """Tell whether the trial is complete on disk."""
        return self.folder.exists()

    def written(self) -> float | None:
        """Return when it was written, in seconds since 1970, or None if it is not."""
        try:
            return self.folder.stat().st_mtime
        except FileNotFoundError:
            return None

    def row(self) -> dict[str, Any]:
        """Return what the trial is: method, params, seed, seconds."""
        row: dict[str, Any] = json.loads((self.folder / "row.json").read_text())
        return row

    def plane(self) -> str | None:
        """Return the key of the plane that the trial was taken from, if it was."""
        key: str | None = self.row().get("plane")
        return key

    def train_rows(self) -> int | None:
        """Return how many training rows were drawn to train on, or None for all."""
        n_rows: int | None = self.row().get("train_rows")
        return n_rows

    def scores(self) -> NDArray[np.float32]:
        """Return the probability of the positive outcome of every row of the data."""
        return self._array("scores")

    def history(self) -> pd.DataFrame:
        """Return the curves of training, one row per epoch."""
        return pd.read_parquet(self.folder / "history.parquet")

    def network(self) -> dict[str, NDArray[Any]]:
        """Return the arrays of the trained model."""
        arrays = safetensors.load_file(self.folder / "network.safetensors")
        return dict(arrays)

    def ratio(self) -> NDArray[np.float32] | None:
        """Return the weight r of every training row, or None for methods without."""
        return self._array("ratio") if self._has("ratio") else None

    def ratio_history(self) -> dict[str, NDArray[Any]] | None:
        """Return ``epoch`` (k,) and ``ratio`` (k, n_train), or None."""
        if not self._has("ratio_history"):
            return None
        epoch = self._array("ratio_epochs")
        return {"epoch": epoch, "ratio": self._array("ratio_history", mmap_mode="r")}

    def write(
        self,
        *,
        row: Mapping[str, Any],
        history: pd.DataFrame,
        network: Mapping[str, NDArray[Any]],
        scores: NDArray[np.float32] | None = None,
        ratio: NDArray[np.float32] | None = None,
        ratio_history: Mapping[str, NDArray[Any]] | None = None,
    ) -> None:
        """Write all files at once: beside, synced, renamed. The first writer wins."""
        files: dict[str, bytes | Path] = {
            "row.json": json.dumps(row, sort_keys=True).encode(),
            "history.parquet": history.to_parquet(index=False),
            "network.safetensors": safetensors.save(
                {name: np.ascontiguousarray(array) for name, array in network.items()}
            ),
        }
        if scores is not None:
            files["scores.npy"] = _npy(scores.astype(np.float32))
        if ratio is not None:
            files["ratio.npy"] = _npy(ratio.astype(np.float32))
        if ratio_history is not None:
            files["ratio_epochs.npy"] = _npy(ratio_history["epoch"])
            files["ratio_history.npy"] = _npy(ratio_history["ratio"].astype(np.float32))
        write_folder(self.folder, files)

    def _has(self, name: str) -> bool:
        return (self.folder / f"{name}.npy").exists()

    def _array(self, name: str, **options: Any) -> NDArray[Any]:
        path = self.folder / f"{name}.npy"
        array: NDArray[Any] = np.load(path, allow_pickle=False, **options)
        return array


def write_folder(folder: Path, files: Mapping[str, bytes | Path]) -> None:
    """Make ``folder`` with ``files`` appear at once, unless it is there already.

    A file given as a path is moved, from the same disk.
    """
    if folder.exists():
        return
    folder.parent.mkdir(parents=True, exist_ok=True)
    beside = Path(tempfile.mkdtemp(prefix=WRITING, dir=folder.parent))
    try:
        for name, content in files.items():
            if isinstance(content, Path):
                os.rename(content, beside / name)
                content = b""
            with open(beside / name, "ab") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        _sync(beside)
        os.rename(beside, folder)
        _sync(folder.parent)
    except OSError:
        if not folder.exists():  # renaming fails when another process was first
            raise
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def remove_folder(folder: Path) -> None:
    """Make ``folder`` disappear at once, then free its space."""
    if not folder.exists():
        return
    beside = Path(tempfile.mkdtemp(prefix=REMOVING, dir=folder.parent))
    os.rename(folder, beside)
    shutil.rmtree(beside)


def remove_debris(root: Path) -> None:
    """Remove what processes that died while writing or removing left beside folders."""
    for name in (WRITING, REMOVING):
        for folder in root.glob(f"*/{name}*"):
            if time.time() - folder.stat().st_mtime > ABANDONED_SECONDS:
                shutil.rmtree(folder, ignore_errors=True)


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _npy(array: NDArray[Any]) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()
