"""A fitted encoding: what each column becomes, as JSON can hold it."""

from typing import Annotated, Any, Literal, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from fairdash.datasets._columns import example_rows, label_codes

OTHER = "(other)"
MISSING = "(missing)"
LARGEST = float(np.finfo(np.float32).max)


class NumberEncoding(BaseModel):
    """A number as it is; ``fill`` stands in for missing ones."""

    model_config = ConfigDict(frozen=True)

    kind: Literal["number"] = "number"
    column: str
    fill: float
    indicator: bool

    def names(self) -> list[str]:
        """Return the names of the encoded columns."""
        return [self.column, *([f"{self.column}={MISSING}"] if self.indicator else [])]

    def values(self, column: "pd.Series[Any]") -> NDArray[np.float64]:
        """Return the columns before scaling."""
        x = column.to_numpy(dtype=float, na_value=np.nan)
        missing = np.isnan(x)
        filled = np.where(missing, self.fill, x)
        return np.stack([filled, missing] if self.indicator else [filled], axis=1)


class CategoryEncoding(BaseModel):
    """A category as one column per level; ``other`` collects the rare and unseen."""

    model_config = ConfigDict(frozen=True)

    kind: Literal["category"] = "category"
    column: str
    levels: tuple[str, ...]
    other: bool
    missing: bool

    def names(self) -> list[str]:
        """Return the names of the encoded columns."""
        extra = [OTHER] * self.other + [MISSING] * self.missing
        return [f"{self.column}={level}" for level in (*self.levels, *extra)]

    def values(self, column: "pd.Series[Any]") -> NDArray[np.float64]:
        """Return the columns before scaling; a level without a column gives zeros."""
        codes, labels = label_codes(column)
        position = {level: i for i, level in enumerate(self.levels)}
        width = len(self.levels) + self.other + self.missing
        elsewhere = len(self.levels) if self.other else width
        absent = width - 1 if self.missing else width
        target = np.array([*(position.get(x, elsewhere) for x in labels), absent])
        one_hot = np.zeros((len(codes), width + 1))
        one_hot[np.arange(len(codes)), target[codes]] = 1
        return one_hot[:, :width]


ColumnEncoding = Annotated[
    NumberEncoding | CategoryEncoding, Field(discriminator="kind")
]


class Encoder(BaseModel):
    """A fitted encoding; as JSON it is stored with each model.

    Attributes
    ----------
    columns : tuple of NumberEncoding or CategoryEncoding
        One per feature.
    shift, scale : tuple of float
        Of every encoded column v, which becomes (v - shift) / scale.
    dropped : tuple of str
        Encoded columns left out because they are constant on the training rows.
    missing : {"impute", "exclude"}
    """

    model_config = ConfigDict(frozen=True)

    columns: tuple[ColumnEncoding, ...]
    shift: tuple[float, ...]
    scale: tuple[float, ...]
    dropped: tuple[str, ...] = ()
    missing: Literal["impute", "exclude"] = "impute"

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the encoded columns, such as "age" or "race=Hispanic"."""
        names = [name for column in self.columns for name in column.names()]
        dropped = set(self.dropped)
        return tuple(name for name in names if name not in dropped)

    def transform(self, frame: pd.DataFrame) -> NDArray[np.float32]:
        """Encode a table.

        A level that the training rows did not have goes to the column "(other)" where
        there is one, else it gives zeros in all columns of its feature.

        Parameters
        ----------
        frame : DataFrame
            With every feature as a column; other columns are ignored.

        Returns
        -------
        ndarray of float32 of shape (n_rows, n_encoded), C-contiguous

        Raises
        ------
        ValueError
            If a feature is no column of the table, holds text where the training rows
            held numbers, or, with ``missing="exclude"``, has missing values.
        """
        self._check(frame)
        dropped = set(self.dropped)
        X = np.empty((len(frame), len(self.feature_names)), dtype=np.float32)
        read = written = 0
        for column in self.columns:
            kept = np.array([name not in dropped for name in column.names()])
            here = slice(read, read + len(kept))
            scaled = column.values(frame[column.column])[:, kept]
            scaled -= np.array(self.shift[here])[kept]
            scaled /= np.array(self.scale[here])[kept]
            # a row may lie any number of training deviations away
            np.clip(scaled, -LARGEST, LARGEST, out=scaled)
            X[:, written : written + kept.sum()] = scaled
            read, written = here.stop, written + kept.sum()
        return X

    def to_dict(self) -> dict[str, Any]:
        """Return the encoder as a dictionary that JSON can hold."""
        return self.model_dump(mode="json")

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """Return the encoder that ``to_dict`` described."""
        return cls.model_validate(values)

    def _check(self, frame: pd.DataFrame) -> None:
        absent = [c.column for c in self.columns if c.column not in frame]
        if absent:
            raise ValueError(f"The table lacks the columns {absent} the model needs.")
        for encoding in self.columns:
            column = frame[encoding.column]
            if encoding.kind == "number" and not pd.api.types.is_numeric_dtype(column):
                raise ValueError(
                    f"{encoding.column!r} held numbers when the model was trained but "
                    f"now holds text such as {column.dropna().iloc[:1].tolist()}; "
                    "clean these values."
                )
            if self.missing == "exclude" and column.isna().any():
                flags = column.isna().to_numpy()
                raise ValueError(
                    f"{encoding.column!r} is missing in {flags.sum():,} rows, first "
                    f"rows {list(example_rows(flags))}; leave these rows out."
                )
