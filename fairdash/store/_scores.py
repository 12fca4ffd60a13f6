"""Scores of models that exist, added to a data set after its table."""

import io
import json
import time
from contextlib import suppress
from dataclasses import asdict
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from fairdash._wording import count, plural
from fairdash.brought import OnnxModel, model_columns, positive_scores
from fairdash.datasets import AddedScores, Dataset, ScoreColumn, ScoreKind
from fairdash.store._database import Database
from fairdash.store._files import Files
from fairdash.store._records import ScoresRecord
from fairdash.store._tables import ID_LENGTH, TableStore

FACTS = "scores.json"
VALUES = "scores.npy"
MODEL = "model.onnx"
OPENED = 4  # models whose processes may wait for rows


class ScoreStore(TableStore):
    """Scores by data set and by the hash of what they are, each in a folder."""

    def __init__(self, database: Database, files: Files) -> None:
        super().__init__(database, files)
        self._scores = files.home / "scores"
        self._models = lru_cache(OPENED)(self._open)

    def log_scores(
        self,
        dataset_id: str,
        scores: ArrayLike,
        *,
        name: str,
        kind: ScoreKind = "probability",
        threshold: float | None = None,
        source: str = "",
    ) -> ScoresRecord:
        """Add the scores or decisions of a model to a data set, under a name.

        They become a model of it, as a column of the table with the role does. Twice
        the same is once.

        Parameters
        ----------
        scores : array-like of numbers
            One for each row of the table or for each row used, in order.
        name : str
            No column of the table, and no other scores of the data set.
        kind, threshold
            See `fairdash.datasets.ScoreColumn`.
        source : str
            Where they come from, to be shown.

        Raises
        ------
        ValueError
            If there is no such data set, the name is taken, numbers of rows differ, or
            a score is not of its kind.
        """
        dataset = self.dataset(dataset_id)
        name = name.strip()
        n_rows = self.dataset_record(dataset_id).n_rows
        _check_name(name, dataset)
        column = np.asarray(scores)
        rows = dataset.row_number
        if len(column) == n_rows:
            column = column[rows]
        if len(column) != len(rows):
            raise ValueError(
                f"These are {plural(len(column), 'score')}, and the table has "
                f"{plural(n_rows, 'row')}, {count(len(rows))} of them used. There must "
                "be one for each, in the same order."
            )
        score = ScoreColumn(column=name, kind=kind, threshold=threshold)
        values = score.values(pd.DataFrame({name: column}), rows)
        return self._keep_scores(dataset_id, score, values, source)

    def log_model(
        self, dataset_id: str, content: bytes, *, name: str, source: str = ""
    ) -> ScoresRecord:
        """Add the scores that an ONNX model gives the rows of a data set, and its file.

        So changed rows can be scored too. The parameters are those of `log_scores`.

        Raises
        ------
        ValueError
            If there is no such data set, the name is taken, the file is not one that is
            run (see `fairdash.brought.OnnxModel`), or a column that it reads is not in
            the table, is of another type or is the outcome.
        """
        dataset = self.dataset(dataset_id)
        name = name.strip()
        _check_name(name, dataset)
        model = OnnxModel(content, source or name, owner=str(self.home))
        columns = model_columns(model, dataset.frame, dataset.roles)
        values = positive_scores(model, dataset.frame[columns], dataset.roles.positive)
        model.close()
        score = ScoreColumn(column=name, kind="probability")
        return self._keep_scores(dataset_id, score, values, source, model=content)

    def score_model(self, dataset: Dataset, score: ScoreColumn) -> OnnxModel:
        """Return the model that gave scores of `log_model`.

        Raises ValueError when they are a column alone, or no longer kept.
        """
        if not isinstance(score, AddedScores) or not score.has_model:
            raise ValueError(
                f"The scores {score.column!r} are a column, so no other row can be "
                "scored; bring the model's file."
            )
        path = self._scores_folder(dataset, score) / MODEL
        return self._models(str(path), score.column)

    def _keep_scores(
        self,
        dataset_id: str,
        score: ScoreColumn,
        values: NDArray[np.float64],
        source: str,
        model: bytes | None = None,
    ) -> ScoresRecord:
        name = score.column
        plain = score.model_dump(mode="json")
        content = _as_bytes(values)
        digest = _digest(score, values, model)
        record = ScoresRecord(
            AddedScores(**plain, file=digest, has_model=model is not None),
            source,
            key=None,
            n_rows=len(values),
            n_unused=0,
            created=time.time(),
        )
        facts = {**asdict(record), "score": record.score.model_dump(mode="json")}
        files: dict[str, bytes | Path] = {
            FACTS: json.dumps(facts).encode(),
            VALUES: content,
        }
        if model is not None:
            files[MODEL] = model
        # Under the write lock, so that nobody takes the name meanwhile.
        with self.database.writing():
            for added in self.own_scores(dataset_id):
                if added.score.file == digest:
                    return added
                if added.score.column == name:
                    raise ValueError(
                        f"Scores {name!r} are kept already. Remove these, or choose "
                        "another name."
                    )
            self.files.write(self._scores / dataset_id / digest, files)
        return record

    def own_scores(self, dataset_id: str) -> list[ScoresRecord]:
        """Return the scores that were added to a data set, in the order of adding."""
        records = []
        for folder in self.files.listed("scores", within=dataset_id):
            facts = json.loads(self.files.intact(folder / FACTS).read_text())
            facts["score"] = AddedScores.model_validate(facts["score"])
            records.append(ScoresRecord(**facts))
        return sorted(records, key=lambda record: record.created)

    def carry_scores(self, dataset_id: str, to: str) -> None:
        """Add the scores added to a data set to another one of the same table.

        A model's file scores the rows anew. Excluded are scores whose name is taken, a
        column that lacks a row used there, and a model that does not take the rows.
        """
        before = self.dataset(dataset_id)
        after = self.dataset(to)
        place = pd.Index(before.row_number).get_indexer(pd.Index(after.row_number))
        taken = [record.score.column for record in self.own_scores(to)]
        for record in self.own_scores(dataset_id):
            score = record.score
            if score.column in taken:
                continue
            if score.has_model:
                path = self._scores_folder(before, score) / MODEL
                content = self.files.intact(path).read_bytes()
                with suppress(ValueError):  # a row has what the model does not take
                    self.log_model(to, content, name=score.column, source=record.source)
            elif (place >= 0).all():
                values = self.score_values(before, score)[place]
                same = ScoreColumn(**score.model_dump(exclude={"file", "has_model"}))
                self._keep_scores(to, same, values, record.source)

    def score_values(self, dataset: Dataset, score: ScoreColumn) -> NDArray[np.float64]:
        """Return the scores of all rows used, of a column or of what was added.

        Raises ValueError when they are not of their kind, or no longer kept.
        """
        if not isinstance(score, AddedScores):
            return score.values(dataset.frame, dataset.row_number)
        return np.load(self.files.intact(self._scores_folder(dataset, score) / VALUES))

    def _scores_folder(self, dataset: Dataset, score: AddedScores) -> Path:
        folder = self._scores / dataset.key[:ID_LENGTH] / score.file
        if not self.files.exists(folder):
            raise ValueError(
                f"The scores {score.column!r} were deleted; add them again."
            )
        return folder

    def delete_scores(self, dataset_id: str, name: str | None = None) -> None:
        """Delete the added scores of a name, or all of a data set.

        Raises ValueError when there are none of that name.
        """
        if name is None:  # damaged ones too, of which nothing can be read
            folders = list(self.files.listed("scores", within=dataset_id))
        else:
            added = {
                record.score.column: record.score.file
                for record in self.own_scores(dataset_id)
            }
            if name not in added:
                raise ValueError(
                    f"No scores {name!r} were added to this data set; it has "
                    f"{[*added]}."
                )
            folders = [self._scores / dataset_id / added[name]]
        self.files.delete(folders)

    def _open(self, path: str, name: str) -> OnnxModel:
        content = self.files.intact(Path(path)).read_bytes()
        return OnnxModel(content, name, owner=str(self.home))


def _check_name(name: str, dataset: Dataset) -> None:
    """Raise ValueError unless a name is free; it stands beside names of columns."""
    if not name:
        raise ValueError("These scores need another name. It is empty.")
    if name in dataset.frame:
        reason = f"{name!r} is a column of the table"
        raise ValueError(f"These scores need another name. {reason}.")


def _as_bytes(values: NDArray[np.float64]) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, values, allow_pickle=False)
    return buffer.getvalue()


def _digest(
    score: ScoreColumn, values: NDArray[np.float64], model: bytes | None
) -> str:
    """Return the identity of added scores: name and kind, values, and the model."""
    facts = json.dumps(score.model_dump(mode="json"), sort_keys=True).encode()
    content = facts + _as_bytes(values)
    if model is not None:
        content += model
    return sha256(content).hexdigest()
