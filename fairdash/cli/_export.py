"""Take away a report or a model of a run; score a file and apply thresholds to it."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd
import pyarrow as pa
import typer
from numpy.typing import NDArray
from pyarrow import compute, csv, parquet

from fairdash._escaping import FORMULA, as_cell
from fairdash._validation import check_one_of
from fairdash.audits import exported, load, predictions
from fairdash.cli._options import (
    File,
    Home,
    Model,
    Run,
    Seed,
    check_out,
    opened,
    refusing,
    write,
)
from fairdash.datasets import MISSING_MARKS, read_table
from fairdash.postprocessing import (
    CROSS,
    ScoreType,
    Thresholds,
    apply_thresholds,
    cross,
    fill_missing,
)
from fairdash.reports import SECTIONS, SMALLEST_GROUP, Words, report

BATCH_ROWS = 65_536
NAMES = r"^[+-]?(0[0-9xX]|[0-9]{19,}$)"  # text to `read_table`, too


def write_report(
    run_id: Run,
    out: Annotated[
        Path | None,
        typer.Option(help="File to write, .html or .md. Default: fairdash-report.html"),
    ] = None,
    section: Annotated[
        list[str] | None,
        typer.Option(help=f"Repeat it to choose and order: {', '.join(SECTIONS)}."),
    ] = None,
    comment: Annotated[
        list[str] | None,
        typer.Option(help='Under the title of a section: "summary=What we decided."'),
    ] = None,
    model: Model = None,
    title: Annotated[str | None, typer.Option(help="Default: name of the run.")] = None,
    least: Annotated[
        int, typer.Option(min=1, help="Subgroups with a smaller group are suppressed.")
    ] = SMALLEST_GROUP,
    certify: Annotated[
        list[str] | None,
        typer.Option(
            help="Limit that a setting is certified to keep on new rows; repeat it: "
            "demographic_parity_difference=0.1, worst_1_di=0.2."
        ),
    ] = None,
    certify_inside: Annotated[
        list[str] | None,
        typer.Option(
            help="Subgroup in which worst_1_di is limited, of those that a search of "
            "validation rows lists; repeat it, or say found for all beyond chance."
        ),
    ] = None,
    certify_thresholds: Annotated[
        Literal["fixed", "shared", "by_group"],
        typer.Option(help="Which are tried with every setting, beside 0.5."),
    ] = "fixed",
    home: Home = None,
) -> None:
    """Write a run or a sweep as one HTML file that needs nothing else to be read.

    It holds findings, figures, tables with intervals, how the model was chosen and what
    reproduces it, and no row of the data; print it from a browser. As Markdown (.md) it
    is a model card, with metadata for machines and without figures. The exit status is
    2 when there is no such run, model or section.
    """
    out = out or Path("fairdash-report.html")
    with opened(home) as store:
        check_one_of("--out", out.suffix, (".html", ".md"))
        made = report(
            store,
            run_id,
            sections=section or SECTIONS,
            comments=dict(_comment(text) for text in comment or ()),
            model=model,
            title=title,
            least=least,
            limits=dict(_limit_on(text) for text in certify or ()),
            thresholds=certify_thresholds,
            inside=() if certify_inside == ["found"] else certify_inside,
        )
        for one in made.sections:
            if one.name == "guaranteed":
                said = [b.text for b in one.blocks if isinstance(b, Words)]
                typer.echo(" ".join(said))
        page = (made.to_markdown() if out.suffix == ".md" else made.to_html()).encode()
    out.write_bytes(page)
    typer.echo(f"{out}: {made.title}, {len(page) / 1e6:.1f} MB")


def _comment(text: str) -> tuple[str, str]:
    section, found, words = text.partition("=")
    if not found:
        raise ValueError(f"`--comment` is SECTION=TEXT, got {text!r}.")
    return section, words


def _limit_on(text: str) -> tuple[str, float]:
    name, _, limit = text.partition("=")
    try:
        return name, float(limit)
    except ValueError:
        raise ValueError(f"`--certify` is MEASURE=LIMIT, got {text!r}.") from None


def export(
    run_id: Run,
    out: Annotated[
        Path, typer.Option(help="ZIP or ONNX file to write, or .csv or .parquet.")
    ],
    model: Model = None,
    seed: Seed = None,
    home: Home = None,
) -> None:
    """Write a trained model as a file for `fairdash.load` and `fairdash model predict`.

    It holds a readable description, the weights and a model card, and nothing that can
    run code. To an .onnx file the model is written as ONNX, which reads the prepared
    table; to a .csv or .parquet file the model's predictions, of every row of its data.
    The exit status is 2 when there is no such model, or it cannot be written so.
    """
    with opened(home) as store:
        if out.suffix in (".csv", ".parquet"):
            table = predictions(store, run_id, model, seed)
            write(table, out)
            typer.echo(f"{out}: {len(table):,} rows")
            return
        found = exported(store, run_id, model, seed)
        if out.suffix == ".onnx":
            content = found.to_onnx()
        else:
            content = found.to_bytes(report(store, run_id, model=model).to_markdown())
    out.write_bytes(content)
    typer.echo(f"{out}: {found.facts['label']}, seed {found.facts['seed']}")


def predict(
    model: File,
    file: File,
    out: Annotated[Path, typer.Option(help="CSV or Parquet file to write.")],
) -> None:
    """Score the rows of a table with an exported model.

    Adds the column score, P(y = 1), or with thresholds the probability of a positive
    decision. The exit status is 2 when a file cannot be used.
    """
    with refusing():
        check_out(out)
        portable = load(model)
    with refusing(file):
        frame = read_table(file)
        if "score" in frame:
            raise ValueError("It already has a column 'score'; rename it.")
        scored = frame.assign(score=portable.predict_proba(frame)[:, 1])
    write(scored, out)
    typer.echo(f"{out}: {len(scored):,} rows scored")


def apply_to_file(
    thresholds: File,
    file: File,
    score: Annotated[str, typer.Option(help="Column of the scores.")],
    group: Annotated[
        list[str],
        typer.Option(help="Column of the groups; repeat it to cross several."),
    ],
    out: Annotated[Path, typer.Option(help="CSV or Parquet file to write.")],
    seed: Annotated[int, typer.Option(help="Seed of the drawn decisions.")] = 0,
    score_type: Annotated[
        ScoreType | None,
        typer.Option(help="What the scores are, if not what the thresholds record."),
    ] = None,
) -> None:
    """Apply thresholds of the Post-process page to the rows of a file.

    Adds the columns h, the probability of a positive decision, and decision, drawn
    with it, and prints the rates of every group beside those the thresholds were
    learned with. Files may be larger than memory. The exit status is 2 when a file
    cannot be used, or when its scores may not be what the thresholds are for.
    """
    with refusing():
        check_out(out)
    with refusing(file):
        rules = Thresholds.from_json(thresholds.read_bytes())
        partial = out.with_name(f"{out.name}.partial")
        try:
            with _Writer(partial, out.suffix) as writer:
                rates = _apply(rules, file, score, group, writer, seed, score_type)
        except BaseException:  # nothing is left at --out
            partial.unlink(missing_ok=True)
            raise
        partial.replace(out)
    typer.echo(f"{out}: {rates['n'].sum()} rows decided")
    typer.echo(rates.to_string(index=False, float_format="{:.3f}".format))


def _apply(
    thresholds: Thresholds,
    file: Path,
    score: str,
    groups: Sequence[str],
    writer: "_Writer",
    seed: int,
    score_type: ScoreType | None,
) -> pd.DataFrame:
    """Write the rows of ``file`` with ``h`` and ``decision``; return rates by group.

    One generator draws the decisions of all batches, so they do not depend on where
    batches end. Without ``score_type`` scores are what the thresholds record, and
    refused if they may be of the other type. A rate that was not recorded is NaN.
    """
    generator = np.random.default_rng(seed)
    empty = [] if _is_parquet(file) else _words_for_none(thresholds)
    done, lowest = 0, np.inf
    obtained: dict[str, NDArray[np.float64]] = {}
    try:
        for batch in _batches(file, [score, *groups]):
            scores = batch.column(score).to_pandas().rename(score)
            named = [batch.column(g).to_pandas().rename(g) for g in groups]
            named = [column.mask(column.isin(empty)) for column in named]
            decided = apply_thresholds(
                thresholds,
                scores,
                named,
                # one batch cannot tell; all of them are looked at in the end
                score_type=score_type or thresholds.score_type,
                random_state=generator,
                first_row=done + 1,
            )
            lowest = min(lowest, float(pd.to_numeric(scores).min()))
            crossed = decided["h"].groupby(cross(*map(fill_missing, named)))
            sums = crossed.agg(["size", "sum"])
            for name, pair in zip(sums.index, sums.to_numpy(float), strict=True):
                obtained[name] = obtained.get(name, 0.0) + pair
            table = pa.Table.from_batches([batch])
            for name in decided:
                table = table.append_column(name, pa.array(decided[name]))
            writer.write(table)
            done += len(batch)
    except pa.ArrowInvalid as error:
        raise ValueError(
            "It cannot be read: a row has more or fewer cells, or another kind of "
            "value in a column, than rows before it."
        ) from error
    if not done:
        raise ValueError("The file has no rows.")
    if score_type is None:
        thresholds.check_score_type(lowest)
    present = [name for name in thresholds.rules if name in obtained]
    expected = thresholds.expected_rates
    return pd.DataFrame(
        {
            "group": present,
            "n": [int(obtained[name][0]) for name in present],
            "expected rate": [expected.get(name, np.nan) for name in present],
            "obtained rate": [
                obtained[name][1] / obtained[name][0] for name in present
            ],
        }
    )


def _is_parquet(file: Path) -> bool:
    with open(file, "rb") as source:
        return source.read(4) == b"PAR1"


def _words_for_none(thresholds: Thresholds) -> list[str]:
    """Return the texts such as NA that `read_table` takes for a missing group.

    Not those that are groups of the thresholds, as another reader may have had them.
    """
    known = {part for name in thresholds.rules for part in name.split(CROSS)}
    return [word for word in MISSING_MARKS if word not in known]


def _batches(file: Path, needed: Sequence[str]) -> Iterator[Any]:
    if _is_parquet(file):
        with parquet.ParquetFile(file) as table:
            _check_columns(table.schema_arrow.names, needed)
            yield from table.iter_batches(BATCH_ROWS)
        return
    # an empty cell is a missing group; other texts stay as they are
    empty = csv.ConvertOptions(null_values=[""], strings_can_be_null=True)
    with closing(csv.open_csv(file, convert_options=empty)) as reader:
        names = reader.schema.names
    _check_columns(names, needed)
    empty.column_types = dict.fromkeys(_written_as_text(file, names), pa.string())
    with closing(csv.open_csv(file, convert_options=empty)) as reader:
        yield from (batch for batch in reader if len(batch))


def _written_as_text(file: Path, names: Sequence[str]) -> list[str]:
    """Return the columns with cells such as 007, which numbers would not give back."""
    texts = csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()))
    found = set[str]()
    with closing(csv.open_csv(file, convert_options=texts)) as reader:
        for batch in reader:
            for name, cells in zip(names, batch.columns, strict=True):
                if name not in found and compute.any(
                    compute.match_substring_regex(cells, NAMES)
                ):
                    found.add(name)
    return [name for name in names if name in found]


def _check_columns(present: Sequence[str], needed: Sequence[str]) -> None:
    missing = [name for name in needed if name not in present]
    if missing:
        raise ValueError(f"It has no columns {missing}; it has {list(present)[:20]}.")
    taken = [name for name in ("h", "decision") if name in present]
    if taken:
        raise ValueError(
            f"It already has columns {taken}; rename these, since they would be added."
        )


class _Writer:
    """A CSV or Parquet file, opened when its first batch says its columns."""

    def __init__(self, path: Path, suffix: str) -> None:
        self._path, self._suffix = path, suffix
        self._file: Any = None

    def __enter__(self) -> "_Writer":
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def write(self, table: Any) -> None:
        if self._suffix == ".csv":
            table = _marked(table)
        if self._file is None:
            kind = csv.CSVWriter if self._suffix == ".csv" else parquet.ParquetWriter
            self._file = kind(self._path, table.schema)
        self._file.write_table(table)


def _marked(table: Any) -> Any:
    """Return a table whose texts and names start no formula, as `as_csv` has it."""
    for at, cells in enumerate(table.columns):
        if pa.types.is_string(cells.type) and compute.any(
            compute.match_substring_regex(cells, f"{FORMULA}|\r")
        ):
            marked = pa.array(
                [as_cell(text) for text in cells.to_pylist()], pa.string()
            )
            table = table.set_column(at, table.field(at), marked)
    return table.rename_columns([as_cell(name) for name in table.column_names])
