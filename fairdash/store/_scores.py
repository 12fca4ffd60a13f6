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

from fairdash.brought import (
    OnnxModel,
    model_columns,
    positive_class,
    positive_scores,
)
from fairdash.datasets import (
    AddedScores,
    Dataset,
    ScoreColumn,
    ScoreKind,
    join_scores,
)
from fairdash.store._database import Database
from fairdash.store._files import Files
from fairdash.store._records import ScoresRecord
from fairdash.store._tables import ID_LENGTH, TableStore

FACTS, VALUES, MODEL = "scores.json", "scores.npy", "model.onnx"
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
        scores: ArrayLike | pd.DataFrame,
        *,
        name: str,
        kind: ScoreKind = "probability",
        threshold: float | None = None,
        key: str | None = None,
        source: str = "",
    ) -> ScoresRecord:
        """Add the scores or decisions of a model to a data set, under a name.

        They become a model of it, as a column of the table with the role does. Twice
        the same is once.

        Parameters
        ----------
        dataset_id : str
        scores : array-like of numbers, or DataFrame
            With a key its column and one other; without, one score for each row of the
            table or for each row used, in order.
        name : str
            No column of the table, and no other scores of the data set.
        kind : {"probability", "margin", "score", "decision"}
        threshold : float, optional
            Scores from it on are positive decisions, see
            `fairdash.datasets.ScoreColumn`.
        key : str, optional
            Column of the data set and of ``scores`` that tells rows apart.
        source : str
            The file they come from, to be shown.

        Raises
        ------
        ValueError
            If there is no such data set, the name is taken, numbers of rows differ, a
            row used has no score, a key stands twice, or a score is not of its kind.
        """
        dataset, name = self.dataset(dataset_id), name.strip()
        n_rows = self.dataset_record(dataset_id).n_rows
        _check_name(name, dataset)
        score = ScoreColumn(column=name, kind=kind, threshold=threshold)
        joined = join_scores(scores, dataset.frame, dataset.row_number, n_rows, key=key)
        values = score.values(joined.column.to_frame(name), dataset.row_number)
        return self._keep_scores(
            dataset_id, score, values, source, key, joined.n_unused
        )

    def log_model(
        self,
        dataset_id: str,
        content: bytes,
        *,
        name: str,
        source: str = "",
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
        dataset, name = self.dataset(dataset_id), name.strip()
        _check_name(name, dataset)
        model = OnnxModel(content, source or name)
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
        key: str | None = None,
        n_unused: int = 0,
        model: bytes | None = None,
    ) -> ScoresRecord:
        name, plain = score.column, score.model_dump(mode="json")
        content, digest = _as_bytes(values), _digest(score, values, model)
        record = ScoresRecord(
            AddedScores(**plain, file=digest, has_model=model is not None),
            source,
            key,
            len(values),
            n_unused,
            time.time(),
        )
        facts = {**asdict(record), "score": record.score.model_dump(mode="json")}
        files: dict[str, bytes | Path] = {
            FACTS: json.dumps(facts).encode(),
            VALUES: content,
        }
        if model is not None:
            files[MODEL] = model
        with self.database.writing():  # nobody takes the name meanwhile
            for other in self.own_scores(dataset_id):
                if other.score.file == digest:
                    return other
                if other.score.column == name:
                    raise ValueError(
                        f"Scores {name!r} are kept already. Remove these, or choose "
                        "another name."
                    )
            self.files.write(self._scores / dataset_id / digest, files)
        return record

    def own_scores(self, dataset_id: str) -> list[ScoresRecord]:
        """Return the scores that were added to a data set, in the order of adding."""
        found = []
        for folder in self.files.listed("scores", within=dataset_id):
            facts = json.loads(self.files.intact(folder / FACTS).read_text())
            facts["score"] = AddedScores.model_validate(facts["score"])
            found.append(ScoresRecord(**facts))
        return sorted(found, key=lambda one: one.created)

    def carry_scores(self, dataset_id: str, to: str) -> None:
        """Add the scores added to a data set to another one of the same table.

        Not those whose name is taken, or of `left_scores`; a model's file scores the
        rows anew.
        """
        one, other = self.dataset(dataset_id), self.dataset(to)
        place = pd.Index(one.row_number).get_indexer(pd.Index(other.row_number))
        kept = [record.score.column for record in self.own_scores(to)]
        kept += list(self.left_scores(dataset_id, other))
        for record in self.own_scores(dataset_id):
            score = record.score
            if score.column in kept:
                continue
            if score.has_model:
                path = self._scores_folder(one, score) / MODEL
                content = self.files.intact(path).read_bytes()
                with suppress(ValueError):  # a row has what the model does not take
                    self.log_model(to, content, name=score.column, source=record.source)
            else:
                values = self.score_values(one, score)[place]
                same = ScoreColumn(**score.model_dump(exclude={"file", "has_model"}))
                self._keep_scores(to, same, values, record.source, record.key)

    def left_scores(self, dataset_id: str, other: Dataset) -> dict[str, str]:
        """Return which added scores do not go along to other roles of a table, and why.

        Those that some rows used there have none of, and models that cannot read them.
        """
        one, left = self.dataset(dataset_id), dict[str, str]()
        if one.key == other.key:
            return left
        missing = int((~np.isin(other.row_number, one.row_number)).sum())
        there = [known.score.column for known in self.own_scores(other.key[:ID_LENGTH])]
        for record in self.own_scores(dataset_id):
            score = record.score
            if score.column in there:
                continue
            if score.has_model:
                model = self.score_model(one, score)
                try:
                    model_columns(model, other.frame, other.roles)
                    positive_class(model, other.roles.positive)
                except ValueError as error:  # it reads what is the outcome now
                    left[score.column] = str(error)
            elif missing:
                left[score.column] = (
                    f"{missing:,} of the {other.n_rows:,} rows that these roles use "
                    "have no score. Add a file that has them once the roles are kept."
                )
        return left

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
            found = self.own_scores(dataset_id)
            known = [one.score.column for one in found]
            if name not in known:
                raise ValueError(
                    f"No scores {name!r} were added to this data set; it has {known}."
                )
            mine = [one.score.file for one in found if one.score.column == name]
            folders = [self._scores / dataset_id / file for file in mine]
        with self.files.removing(folders):
            pass

    def _open(self, path: str, name: str) -> OnnxModel:
        return OnnxModel(self.files.intact(Path(path)).read_bytes(), name)


def _check_name(name: str, dataset: Dataset) -> None:
    if not name or name in dataset.frame:
        taken = f"{name!r} is a column of the table" if name else "It is empty"
        raise ValueError(f"These scores need another name. {taken}.")


def _as_bytes(values: NDArray[np.float64]) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, values, allow_pickle=False)
    return buffer.getvalue()


def _digest(
    score: ScoreColumn, values: NDArray[np.float64], model: bytes | None
) -> str:
    told = json.dumps(score.model_dump(mode="json"), sort_keys=True).encode()
    return sha256(told + _as_bytes(values) + (model or b"")).hexdigest()
