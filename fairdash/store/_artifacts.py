"""Files of a trained model: readable, complete or absent, never replaced."""

import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from safetensors import numpy as safetensors

from fairdash.store._files import Files

_SPREAD = "weight_spread.safetensors"


class Artifact:
    """The files of one trial; no format here can run code when it is read.

    What is read is what was written: a file that something changed is refused.
    ``folder`` is that of the trial.
    """

    def __init__(self, folder: Path, files: Files) -> None:
        self.folder = folder
        self._files = files

    def exists(self) -> bool:
        """Tell whether the trial is complete on disk."""
        return self._files.exists(self.folder)

    def written(self) -> float | None:
        """Return when it was written, in seconds since 1970, or None if it is not."""
        stat = self._files.stat(self.folder)
        return None if stat is None else stat.written

    def row(self) -> dict[str, Any]:
        """Return the facts of the trial: method, params, seed, seconds."""
        return json.loads(self._files.intact(self.folder / "row.json").read_text())

    def train_rows(self) -> int | None:
        """Return the number of training rows that were drawn, or None for all."""
        return self.row().get("train_rows")

    def scores(self) -> NDArray[np.float32]:
        """Return the probability of the positive outcome of every row of the data."""
        return self._array("scores")

    def history(self) -> pd.DataFrame:
        """Return the curves of training, one row per epoch."""
        return pd.read_parquet(self._files.intact(self.folder / "history.parquet"))

    def network(self) -> dict[str, NDArray[Any]]:
        """Return the arrays of the trained model."""
        arrays = safetensors.load_file(
            self._files.intact(self.folder / "network.safetensors")
        )
        return dict(arrays)

    def ratio(self) -> NDArray[np.float32] | None:
        """Return the weight r of every training row, or None for methods without."""
        if not self._has("ratio"):
            return None
        return self._array("ratio")

    def ratio_history(self) -> dict[str, NDArray[Any]] | None:
        """Return ``epoch`` (k,) and ``ratio`` (k, n_train), or None."""
        if not self._has("ratio_history"):
            return None
        # Mapped, not read: a page shows a few of the epochs.
        ratio = self._array("ratio_history", mmap_mode="r")
        return {"epoch": self._array("ratio_epochs"), "ratio": ratio}

    def weight_spread(self) -> dict[str, NDArray[Any]] | None:
        """Return the arrays of a `fairdash.metrics.weight_spread.WeightSpread`.

        None where the weights of rows were kept at every epoch, or there are none.
        """
        path = self._files.local(self.folder) / _SPREAD
        if not path.exists():
            return None
        return dict(safetensors.load_file(self._files.intact(self.folder / _SPREAD)))

    def write(
        self,
        *,
        row: Mapping[str, Any],
        history: pd.DataFrame,
        network: Mapping[str, NDArray[Any]],
        scores: NDArray[np.float32] | None = None,
        ratio: NDArray[np.float32] | None = None,
        ratio_history: Mapping[str, NDArray[Any]] | None = None,
        weight_spread: Mapping[str, NDArray[Any]] | None = None,
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
        if weight_spread is not None:
            files[_SPREAD] = safetensors.save(dict(weight_spread))
        self._files.write(self.folder, files)

    def _has(self, name: str) -> bool:
        return (self._files.local(self.folder) / f"{name}.npy").exists()

    def _array(self, name: str, **options: Any) -> NDArray[Any]:
        path = self._files.intact(self.folder / f"{name}.npy")
        return np.load(path, allow_pickle=False, **options)


def _npy(array: NDArray[Any]) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()
