"""A model brought along: any object, or an ONNX file run in the box."""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from threading import Lock
from typing import Any, Protocol
from weakref import finalize

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash import box
from fairdash._arrays import FloatArray
from fairdash._validation import as_written, value_label, value_labels
from fairdash.brought.onnx_request import LIMITS, TASK, packed
from fairdash.datasets import Cut, Roles

LARGEST_ONNX = 100 << 20  # bytes of a file
PART = 65_536  # rows sent at once, or fewer so that their cells are not more than
PART_CELLS = 2_000_000
SECONDS = 60.0  # that reading the file, or a part of the rows, may take


@dataclass(frozen=True)
class OnnxInput:
    """An input of a model: the column of its name, and the type it must be of.

    With ``labels`` text is the label of a value, of numbers too, and "" where missing:
    so fairdash writes its models.
    """

    name: str
    dtype: str
    rank: int
    labels: bool

    def values(self, column: "pd.Series[Any]") -> NDArray[Any]:
        """Return the input's array of shape (n_rows,), with text as objects.

        Raises ValueError that says why a column does not fit.
        """
        is_text = self.dtype == "str"
        is_float = self.dtype.startswith("float")
        if self.labels and is_text:
            return value_labels(column).fillna("").to_numpy(dtype=object)
        unfit = column.isna().to_numpy()
        if is_text == pd.api.types.is_numeric_dtype(column):
            unfit = np.ones(len(column), bool)
        elif is_float:
            unfit = np.zeros(len(column), bool)  # a missing number is NaN
        elif not is_text and not unfit.any():
            unfit = (column.to_numpy().astype(self.dtype) != column).to_numpy()
        if unfit.any():
            kinds = {"s": "text", "b": "yes and no", "f": "numbers"}
            row = int(unfit.argmax())
            raise ValueError(
                f"Column {column.name!r} holds {as_written(column.iloc[row])} in row "
                f"{row + 1}, and the model's input of this name takes "
                f"{kinds.get(self.dtype[0], 'whole numbers')}. Read the column as "
                "another kind on Data, exclude these rows, or export the model for it."
            )
        if is_float:
            return column.to_numpy(dtype=self.dtype, na_value=np.nan)
        if is_text:
            dates = pd.api.types.is_datetime64_any_dtype(column)
            values = column.to_numpy(dtype=np.str_ if dates else object)
            # Objects, since NumPy's text arrays are as wide as their longest cell.
            return np.array([str(value) for value in values], object)
        return column.to_numpy(dtype=self.dtype)


class OnnxModel:
    """A model in an ONNX file, of the rows of a table.

    The file is neither read nor run in this process but in the box, see `fairdash.box`:
    one thread, at most 2 GiB of memory, and 60 s for the file and for each 65,536 rows.
    What comes back is what was asked for: one number for each row and class, or one for
    several classes together; a model that gives anything else is refused there.
    A file is run only if it holds no more than 2,000
    nodes, all of them of an allow-list of operators of ONNX and ``ai.onnx.ml``, no
    graph inside a node and no data outside the file. It needs the packages of
    ``pip install fairdash[onnx]``.

    Parameters
    ----------
    content : bytes
        The file, of 100 MiB at most.
    name : str
        What the file is called, in messages.
    owner : str
        Of whom two processes live at once; further requests wait.

    Attributes
    ----------
    inputs : tuple of OnnxInput
        Each of one column, by its name.
    n_classes : int
        Two where the file names no classes.
    classes_ : ndarray
        Labels of the classes that the file names; else there is no such attribute.

    Raises
    ------
    ValueError
        When it is no such file, it is refused, or it was stopped, or onnxruntime is
        not installed; the message says which.
    """

    def __init__(
        self, content: bytes, name: str = "The file", *, owner: str = ""
    ) -> None:
        if len(content) > LARGEST_ONNX:
            raise ValueError(
                f"{name} cannot be used: it is larger than {LARGEST_ONNX >> 20} MiB."
            )
        for library in ("onnx", "onnxruntime"):
            if find_spec(library) is None:
                raise ValueError(
                    f"{name} needs onnxruntime to be run; install it: pip "
                    "install 'fairdash[onnx]'."
                )
        self._name = name
        self._lock = Lock()
        self._child = box.Child(TASK, limits=LIMITS, owner=owner, opening=content)
        finalize(self, self._child.close)
        with self._refusals():
            facts = json.loads(self._child.begin(most_seconds=SECONDS))
        self.inputs = tuple(OnnxInput(**declared) for declared in facts["inputs"])
        self.n_classes = int(facts["n_classes"])
        if facts["classes"]:
            self.classes_ = np.array(facts["classes"])

    def columns(self, frame: pd.DataFrame) -> dict[str, str]:
        """Return which column of a table each of the model's is.

        That is the one of its name, or the only one whose name is the same once all but
        letters and digits are underscores, as exporters write names. Raises ValueError,
        naming it, when there is none.
        """
        by_plain_name: dict[str, list[str]] = {}
        for column in map(str, frame.columns):
            by_plain_name.setdefault(_plain_name(column), []).append(column)
        columns = {}
        for declared in self.inputs:
            name = declared.name
            candidates = by_plain_name.get(_plain_name(name), [])
            if name in frame:
                candidates = [name]
            if len(candidates) != 1:
                raise ValueError(
                    f"{self._name} reads a column {name!r}, and the table has "
                    f"{'several' if candidates else 'none'} of that name: its columns "
                    f"are {', '.join(map(str, frame.columns[:30]))}."
                )
            columns[name] = candidates[0]
        return columns

    def predict_proba(self, frame: pd.DataFrame) -> FloatArray:
        """Return the probability of each class of every row, (n_rows, n_classes).

        ``frame`` holds the model's columns, in any order. Raises ValueError, naming it,
        when a column is missing or of another type, and when the model was stopped.
        """
        return self._probabilities(frame, [[i] for i in range(self.n_classes)])

    def class_probability(
        self, frame: pd.DataFrame, places: Sequence[int]
    ) -> FloatArray:
        """Return the probability of some classes together, of every row.

        ``places`` are theirs among ``classes_``. Only this number of each row leaves
        the box. Raises ValueError as `predict_proba`.
        """
        return self._probabilities(frame, [[*places]])[:, 0]

    def close(self) -> None:
        """End the process; the next rows start another one."""
        self._child.close()

    def _probabilities(
        self, frame: pd.DataFrame, columns: list[list[int]]
    ) -> FloatArray:
        """Return the sums of some classes' probabilities, one for each of columns."""
        names = self.columns(frame)
        arrays = [part.values(frame[names[part.name]]) for part in self.inputs]
        p = np.empty((len(frame), len(columns)))
        step = max(1, min(PART, PART_CELLS // len(arrays)))
        with self._lock, self._refusals():
            for start in range(0, len(frame), step):
                rows = slice(start, start + step)
                part = p[rows]
                request = packed(columns, [array[rows] for array in arrays])
                answer = self._child.ask(
                    request, most_seconds=SECONDS, most_bytes=part.nbytes
                )
                if len(answer) != part.nbytes:
                    raise box.Ended("it answers with fewer numbers than rows")
                part[:] = np.frombuffer(answer, np.float64).reshape(part.shape)
        return p

    @contextmanager
    def _refusals(self) -> Iterator[None]:
        try:
            yield
        except (box.Refused, box.Ended) as error:
            self.close()
            raise ValueError(f"{self._name} cannot be used: {error}.") from None


class TableModel(Protocol):
    """A model of rows as they stand in a table: a scikit-learn pipeline, an ONNX file.

    ``predict_proba(frame)`` returns an array of shape (n_rows, n_classes), in the order
    of ``classes_`` if it has them, as scikit-learn's do. If it has
    ``feature_names_in_`` too, these are the columns that it reads; else it is given the
    features of the data set.
    """

    def predict_proba(self, frame: Any) -> Any:
        """Return the probability of each class, of every row."""
        ...


def model_columns(model: TableModel, frame: pd.DataFrame, roles: Roles) -> list[str]:
    """Return the columns that a model reads.

    Raises ValueError, naming it, when one is missing or is the outcome.
    """
    if isinstance(model, OnnxModel):
        needed = list(model.columns(frame).values())
    else:
        needed = list(map(str, getattr(model, "feature_names_in_", roles.features)))
    absent = [name for name in needed if name not in frame]
    if absent:
        raise ValueError(
            f"The model reads a column {absent[0]!r} that is not in the table, whose "
            f"columns are {', '.join(map(str, frame.columns[:30]))}. Name the table's "
            "column so, or the model's input."
        )
    if roles.target in needed:
        raise ValueError(
            f"The model reads {roles.target!r}, which is the outcome; choose another "
            "outcome, or a model that does not know it."
        )
    return needed


def positive_scores(
    model: TableModel,
    frame: pd.DataFrame,
    positive: str | tuple[str, ...] | Cut | None = None,
) -> FloatArray:
    """Return P(1) of every row of a table.

    That is the probability of the class that ``positive``, of `Roles`, names or, of
    several, their sum. Without it, or classes that have names, it is the last of two,
    as scikit-learn orders them.

    Raises ValueError when what the model returns is not one probability for each class
    and row, or none of its classes is the positive outcome.
    """
    if isinstance(model, OnnxModel):
        places = _positive_places(_labels(model), positive, model.n_classes)
        p = model.class_probability(frame, places)
    else:
        p = _positive_columns(model, frame, positive)
    # A sum of float32 probabilities may miss 1 by a rounding error; NaN is refused.
    is_probability = (p >= -1e-6) & (p <= 1 + 1e-6)
    rows = np.flatnonzero(~is_probability)
    if len(rows):
        raise ValueError(
            f"`predict_proba` must return numbers from 0 to 1; {len(rows):,} rows do "
            f"not, first row {rows[0] + 1} with {p[rows[0]]:g}."
        )
    return p.clip(0, 1)


def _positive_columns(
    model: TableModel, frame: pd.DataFrame, positive: object
) -> FloatArray:
    p = np.asarray(model.predict_proba(frame), np.float64)
    if p.ndim != 2 or len(p) != len(frame) or p.shape[1] < 2:
        raise ValueError(
            f"`predict_proba` must return a probability for each of {len(frame):,} "
            f"rows and two classes, got an array of shape {p.shape}."
        )
    places = _positive_places(_labels(model), positive, p.shape[1])
    return p[:, places].sum(1)


def _labels(model: TableModel) -> list[str]:
    """Return the labels of a model's classes, none where it does not name them."""
    classes = getattr(model, "classes_", None)
    return [] if classes is None else [value_label(label) for label in classes]


def _plain_name(name: str) -> str:
    return re.sub(r"\W", "_", name)


def _positive_places(
    labels: Sequence[str], positive: object, n_classes: int
) -> list[int]:
    """Return the indices of the positive classes; ValueError where none is."""
    names = positive if isinstance(positive, tuple) else (positive,)
    places = [i for i, label in enumerate(labels) if label in names]
    if len(labels) == n_classes and 0 < len(places) < n_classes:
        return places
    unnamed = labels in ([], ["0", "1"], ["False", "True"])
    if n_classes == 2 and (positive is None or unnamed):
        return [1]
    raise ValueError(
        f"The model's classes are {', '.join(labels) or n_classes}; none of them is "
        f"{'the positive outcome' if positive is None else positive}. Choose a "
        "positive value among them."
    )
