"""A trained model as one file that reads a table's own columns, anywhere.

It needs no more than the core and safetensors, so whoever is handed a model need not
install the app.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile
from zlib import error as ZlibError

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors import numpy as safetensors

from fairdash import __version__, datasets
from fairdash._arrays import FloatArray
from fairdash._parsing import Bounds, parsed
from fairdash._validation import as_frame
from fairdash.brought import OnnxModel, as_onnx
from fairdash.methods import Scorer, is_mixture, scorer_of
from fairdash.metrics import Drawn

FORMAT = 1
HALF = 0.5
CARD = "model.json"
WEIGHTS = "model.safetensors"
LARGEST = 2**30  # bytes of a file in the archive
CARD_BOUNDS = Bounds(text=LARGEST, items=10_000_000)  # levels of every feature
_BROKEN = (
    AttributeError, BadZipFile, EOFError, KeyError, NotImplementedError, OverflowError,
    RuntimeError, SafetensorError, TypeError, ZlibError,
)  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class PortableModel:
    """A trained model with all that it needs to score rows of a new table.

    ``needs_groups`` says whether it looks at the group to predict. It decides 1 above
    its ``threshold``. A random mixture, ``drawn``, decides 1 with the chance that it
    scores, unless a threshold other than one half cuts that.
    """

    scorer: Scorer
    encoder: datasets.Encoder
    roles: datasets.Roles
    groups: tuple[str, ...]
    needs_groups: bool = False
    facts: Mapping[str, Any] = field(default_factory=dict)
    threshold: float = HALF
    drawn: bool = False

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.facts.get('label')})"

    def score(self, frame: pd.DataFrame) -> FloatArray:
        """Return P(y = 1) of every row before any thresholds.

        Of a random mixture it is the chance of a positive decision.

        Parameters
        ----------
        frame : DataFrame
            With the columns of the table that the model was trained on, as they stood
            in its file: they are prepared and read as kinds as then. Further columns,
            and the outcome, are not looked at.

        Raises
        ------
        ValueError
            When a feature is missing or cannot be read as its kind, or, for a model
            that looks at groups, a row's group is none that it knows.
        """
        return self.score_prepared(self.prepared(as_frame("frame", frame)))

    def score_prepared(self, table: pd.DataFrame) -> FloatArray:
        """Return what `score` does of rows that `prepared` returned."""
        missing = [name for name in self.roles.features if name not in table]
        if missing:
            raise ValueError(
                f"It has no columns {missing}, which the model needs; add them, or "
                "choose a column of scores."
            )
        codes = np.zeros(len(table), np.int64)
        if self.needs_groups:
            codes = pd.Index(self.groups).get_indexer(pd.Index(self._group(table)))
        return self.scorer.positive(self.encoder.transform(table), codes)

    def predict_proba(self, frame: pd.DataFrame) -> FloatArray:
        """Return P(0) and P(1) of every row, shape (n_rows, 2); see `score`."""
        positive = self.score(frame)
        return np.column_stack([1 - positive, positive])

    def predict(
        self, frame: pd.DataFrame, random_state: datasets.draws.RandomState = 0
    ) -> NDArray[np.int8]:
        """Return 1 where P(1) is above ``threshold``, usually one half, else 0.

        A random mixture draws: with the same ``random_state`` a row of the same
        features is decided the same, in whichever table.
        """
        table = self.prepared(frame)
        decided = self.decisions(table, self.score_prepared(table))
        if isinstance(decided, Drawn):
            content = self.content(table)
            return datasets.draws.drawn(decided.chance, content, random_state)
        return decided

    def content(self, table: pd.DataFrame) -> NDArray[np.uint64]:
        """Return a number for what each prepared row holds, see `datasets.draws`."""
        columns = [encoding.column for encoding in self.encoder.columns]
        numbers = [
            encoding.column
            for encoding in self.encoder.columns
            if isinstance(encoding, datasets.NumberEncoding)
        ]
        return datasets.draws.table_content(table[columns], numbers)

    def decisions(
        self, table: pd.DataFrame, scores: NDArray[np.floating]
    ) -> NDArray[np.int8] | Drawn:
        """Return decisions of prepared rows as `fairdash.metrics` takes them."""
        if self.drawn and self.threshold == HALF:
            return Drawn(scores, self.content(table))
        above: NDArray[np.int8] = (scores > self.threshold).astype("i1")
        return above

    def to_bytes(self, model_card: str = "") -> bytes:
        """Return a ZIP of a readable description and the weights as safetensors.

        A ``model_card`` in Markdown, for people, stands beside them as README.md.
        """
        arrays = self.scorer.arrays().items()
        weights = safetensors.save({n: np.ascontiguousarray(a) for n, a in arrays})
        card = {
            "format": FORMAT,
            "fairdash": __version__,
            "facts": dict(self.facts),
            "needs_groups": self.needs_groups,
            "groups": self.groups,
            "roles": self.roles.model_dump(mode="json", exclude_defaults=True),
            "encoder": self.encoder.model_dump(mode="json"),
            # an earlier reader of format 1 takes no other than one half
            "thresholds": None if self.threshold == HALF else self.threshold,
            "drawn": self.drawn,
            "sha256": {WEIGHTS: sha256(weights).hexdigest()},
        }
        content = BytesIO()
        with ZipFile(content, "w") as archive:
            archive.writestr(CARD, json.dumps(card, indent=1, ensure_ascii=False))
            archive.writestr(WEIGHTS, weights)
            if model_card:
                archive.writestr("README.md", model_card)
        return content.getvalue()

    def to_onnx(self) -> bytes:
        """Return an ONNX file that reads the features as `prepared` returns them.

        See `fairdash.brought.as_onnx`; raises ValueError for a model that looks at the
        group, and a kind that cannot be written.
        """
        if self.needs_groups:
            raise ValueError(
                "This model reads the group, which an ONNX file of it would not. "
                "Export it for fairdash.load."
            )
        return as_onnx(self.encoder, self.scorer, dict(self.facts))

    def prepared(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return new rows as the table was prepared, where its columns are there.

        The outcome is not among them.
        """
        present = frame.drop(columns=self.roles.target, errors="ignore")
        for step in self.roles.preparation:
            new = {"date_parts": f"{step.column} year", "one_of": step.column}
            is_present = new.get(step.kind) in present
            if set(step.reads()) <= set(present) and not is_present:
                present = datasets.remedies.prepare(
                    present, self._only(preparation=(step,))
                )
        types = {n: kind for n, kind in self.roles.types.items() if n in present}
        return datasets.remedies.prepare(present, self._only(types=types))

    def belongs(
        self, frame: pd.DataFrame
    ) -> tuple[NDArray[np.bool_], list[datasets.ExcludedRows]]:
        """Return which new rows are of the kind that the model was trained on.

        Conditions of the training rows are looked at, but those on the outcome, with
        the rows that do not meet them, by reason. Raises ValueError when a column is
        missing.
        """
        table = self.prepared(as_frame("frame", frame))
        target = self.roles.target
        rows = tuple(c for c in self.roles.rows if target not in c.columns())
        roles = self.roles.model_copy(update={"rows": rows, "keep": {}})
        return datasets.exclude_rows(table, datasets.filter_reasons(table, roles))

    def _only(self, **steps: Any) -> datasets.Roles:
        return self.roles.model_copy(update={"preparation": (), "types": {}} | steps)

    def _group(self, table: pd.DataFrame) -> "pd.Series[Any]":
        missing = [n for n in self.roles.sensitive_columns() if n not in table]
        if missing:
            raise ValueError(f"It has no column {missing[0]!r}, which tells the group.")
        labels = datasets.group_labels(table, self.roles)
        unknown = ~labels.isin(self.groups).to_numpy(bool)
        if unknown.any():
            row = int(np.argmax(unknown))
            raise ValueError(
                f"Column {labels.name!r} has {labels.iloc[row]!r} in row {row + 1}, "
                f"and the model knows only {list(self.groups)}. Exclude these rows."
            )
        return labels


def load(path: str | Path) -> PortableModel | OnnxModel:
    """Read a model that the app or `PortableModel.to_bytes` wrote.

    A file whose name ends in .onnx is an `fairdash.brought.OnnxModel`, of any maker.
    Nothing in either can run code; weights that are not those described are refused.

    Returns
    -------
    PortableModel or OnnxModel
        ``predict_proba(frame)`` takes the columns of the table as they stood in its
        file.

    Raises
    ------
    FileNotFoundError
        When there is no such file.
    ValueError
        When it is not such a file, is damaged, or of a later version.
    """
    if str(path).endswith(".onnx"):
        return OnnxModel(Path(path).read_bytes(), Path(path).name)
    try:
        with ZipFile(path) as archive:
            card = parsed(_member(archive, CARD), "JSON", CARD_BOUNDS)
            weights = _member(archive, WEIGHTS)
        if card["format"] != FORMAT:
            raise ValueError(
                f"its format is {card['format']}, written by fairdash "
                f"{card.get('fairdash')}; this version reads format {FORMAT}"
            )
        if sha256(weights).hexdigest() != card["sha256"][WEIGHTS]:
            raise ValueError(f"{WEIGHTS} is not what {CARD} describes")
        threshold = HALF if card["thresholds"] is None else card["thresholds"]
        if not isinstance(threshold, float):
            raise ValueError(
                "it decides by thresholds of its own, which this version does not "
                "read; export only the model"
            )
        scorer = scorer_of(safetensors.load(weights))
        drawn = card.get("drawn", is_mixture(scorer))  # of an earlier version too
        return PortableModel(
            scorer,
            datasets.Encoder.model_validate(card["encoder"]),
            datasets.Roles.model_validate(card["roles"]),
            tuple(card["groups"]),
            card["needs_groups"],
            card["facts"],
            threshold,
            bool(drawn),
        )
    except (ValueError, *_BROKEN) as error:
        why = str(error)
        if not isinstance(error, ValueError):
            why = "it is no model of fairdash, or is damaged; export it again"
        raise ValueError(f"{path} cannot be used: {why}.") from error


def _member(archive: ZipFile, name: str) -> bytes:
    if archive.getinfo(name).file_size > LARGEST:
        raise ValueError(f"{name} is larger than {LARGEST // 2**20:,} MiB")
    return archive.read(name)
