"""Take away a report or a model of a run; score a file and apply thresholds to it."""

from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd
import typer

from fairdash import postprocessing
from fairdash._validation import check_one_of
from fairdash._wording import plural
from fairdash.audits import DecisionRule, PortableModel, load, portable, tables
from fairdash.brought import OnnxModel
from fairdash.cli._options import (
    CountColumn,
    Decided,
    File,
    Groups,
    Home,
    JoinBy,
    JoinFile,
    Model,
    Run,
    Seed,
    check_out,
    echo,
    echo_table,
    opened,
    read_joined,
    refusing,
    write,
)
from fairdash.cli._parsing import CommandApp
from fairdash.cli._recipe import (
    Missing,
    Negative,
    OneOf,
    RecipeFile,
    Rows,
    SingleChoice,
)
from fairdash.cli._recipe import recipe as prepared_by
from fairdash.datasets import ExcludedRows, read_table
from fairdash.reports import PackName, Report, report
from fairdash.reports import pack as make_pack

_FORMATS = {".html": Report.to_html, ".md": Report.to_markdown, ".json": Report.to_json}


def write_report(
    what: Annotated[
        str, typer.Argument(metavar="RUN", help="Id of a run; of a pack, or a file.")
    ],
    out: Annotated[Path, typer.Option(help="File to write, .html or .md.")] = Path(
        "fairdash-report.html"
    ),
    model: Model = None,
    decided: Decided = None,
    pack: Annotated[
        PackName | None, typer.Option(help="Write an evidence pack instead.")
    ] = None,
    group: Annotated[
        list[str] | None, typer.Option(help="Pack of a file: column of the groups.")
    ] = None,
    decision: Annotated[
        str | None, typer.Option(help="Pack of a file: column=value, hired=yes.")
    ] = None,
    score: Annotated[
        str | None, typer.Option(help="Pack of a file: column of scores.")
    ] = None,
    threshold: Annotated[
        float | None, typer.Option(help="Pack of a file: scores from it on are chosen.")
    ] = None,
    count: CountColumn = None,
    rows: Rows = None,
    negative: Negative = None,
    missing: Missing = None,
    one_of: OneOf = None,
    single_choice: SingleChoice = None,
    recipe: RecipeFile = None,
    loss: Annotated[
        float, typer.Option(help="Pack of a run: accuracy an alternative may lose.")
    ] = 0.01,
    auditor: Annotated[
        str | None, typer.Option(help="Pack ll144: who audited, and when.")
    ] = None,
    data_source: Annotated[
        str | None, typer.Option(help="Pack ll144: where the data come from.")
    ] = None,
    distributed: Annotated[
        str | None, typer.Option(help="Pack ll144: date the tool was first used.")
    ] = None,
    home: Home = None,
) -> None:
    """Write a run or a sweep as one HTML file that needs nothing else to be read.

    It holds findings, figures, tables with intervals, how the model was chosen and what
    reproduces it, and no row of the data; print it from a browser. As Markdown (.md) it
    is a model card, without figures. A pack holds what a rule asks for: ll144 and
    adverse-impact of a file of decisions or scores, adverse-impact (alternatives) and
    eu-ai-act of a run; as .json it is its facts alone. The exit status is 2 when there
    is no such run or model.
    """
    with opened(home) as store:
        check_one_of("--out", out.suffix, (".html", ".md", ".json"))
        if pack is None:
            document = report(store, what, model=model, rule=DecisionRule.of(decided))
        else:
            frame = read_table(Path(what)) if Path(what).is_file() else None
            question = tables.TableQuestion(
                groups=tuple(group or ()),
                decision=decision,
                score=score,
                threshold=threshold,
                count=count,
                **prepared_by(
                    rows, negative, missing, recipe, one_of, single_choice, frame
                ),
            )
            declared = {
                "auditor": auditor,
                "data_source": data_source,
                "distributed": distributed,
            }
            document = make_pack(
                pack,
                what,
                question,
                store=store,
                frame=frame,
                present=model,
                loss=loss,
                declared={name: text for name, text in declared.items() if text},
            )
        text = _FORMATS[out.suffix](document)
    out.write_text(text)
    echo(f"{out}: {document.title}")


def export(
    run_id: Run,
    out: Annotated[
        Path, typer.Option(help="ZIP or ONNX file to write, or .csv or .parquet.")
    ],
    model: Model = None,
    seed: Seed = None,
    decided: Decided = None,
    home: Home = None,
) -> None:
    """Write a trained model as a file for `fairdash.load` and `fairdash model predict`.

    It holds a readable description, the weights and a model card, and nothing that can
    run code. To an .onnx file the model is written as ONNX, which reads the prepared
    table; to a .csv or .parquet file the model's predictions, of every row of its data,
    those of a random mixture as they are drawn.
    The exit status is 2 when there is no such model, or it cannot be written so.
    """
    with opened(home) as store:
        rule = DecisionRule.of(decided)
        if out.suffix in (".csv", ".parquet"):
            table = portable.predictions(store, run_id, model, seed, rule)
            write(table, out)
            echo(f"{out}: {len(table):,} rows")
            return
        trained = portable.exported(store, run_id, model, seed, rule)
        if out.suffix == ".onnx":
            content = trained.to_onnx()
        else:
            card = report(store, run_id, model=model, rule=rule).to_markdown()
            content = trained.to_bytes(card)
    out.write_bytes(content)
    echo(f"{out}: {trained.facts['label']}, seed {trained.facts['seed']}")


def predict(
    model: File,
    file: File,
    out: Annotated[Path, typer.Option(help="CSV or Parquet file to write.")],
    join: JoinFile = None,
    by: JoinBy = None,
) -> None:
    """Score the rows of a table with an exported model.

    Adds the column score, P(y = 1), of a random mixture the chance of a positive
    decision. Rows that do not meet the conditions on the model's training rows get no
    score, and are counted. With --join the table gets the columns of a second one. The
    exit status is 2 when a file cannot be used.
    """
    with refusing():
        check_out(out)
        trained = load(model)
    with refusing(file):
        frame = read_joined(file, join, by)
        if "score" in frame:
            raise ValueError("It already has a column 'score'; rename it.")
        scored, outside = trained_scores(trained, frame)
    write(scored, out)
    echo(f"{out}: {plural(int(scored['score'].notna().sum()), 'row')} scored")
    for line in outside:
        echo(f"No score: {line}")


def trained_scores(
    model: PortableModel | OnnxModel, frame: pd.DataFrame
) -> tuple[pd.DataFrame, list[str]]:
    """Return rows with their score, and which rows have none, by reason."""
    belongs = np.ones(len(frame), dtype=bool)
    excluded: list[ExcludedRows] = []
    if isinstance(model, PortableModel):
        belongs, excluded = model.belongs(frame)
    scores = np.full(len(frame), np.nan)
    if belongs.any():
        scores[belongs] = model.predict_proba(frame[belongs])[:, 1]
    return frame.assign(score=scores), list(map(str, excluded))


def apply_to_file(
    thresholds: File,
    file: File,
    score: Annotated[str, typer.Option(help="Column of the scores.")],
    group: Groups,
    out: Annotated[Path, typer.Option(help="CSV or Parquet file to write.")],
    seed: Annotated[int, typer.Option(help="Seed of the drawn decisions.")] = 0,
    score_type: Annotated[
        postprocessing.ScoreType | None,
        typer.Option(help="What the scores are, if not what the thresholds record."),
    ] = None,
) -> None:
    """Apply thresholds of the Post-process page to the rows of a file.

    Adds the columns h, the probability of a positive decision, and decision, drawn
    with it, and prints the rates of every group beside those the thresholds were
    learned with. The exit status is 2 when a file cannot be used, or when its scores
    may not be what the thresholds are for.
    """
    with refusing():
        check_out(out)
    with refusing(file):
        rules = postprocessing.Thresholds.from_json(thresholds.read_bytes())
        frame = read_table(file)
        for column in (score, *group):
            check_one_of("column", column, list(map(str, frame)))
        taken = [name for name in ("h", "decision") if name in frame]
        if taken:
            raise ValueError(
                f"It already has columns {taken}; rename these, since they would be "
                "added."
            )
        groups = [frame[name] for name in group]
        decided = postprocessing.apply_thresholds(
            rules, frame[score], groups, score_type=score_type, random_state=seed
        )
    write(frame.assign(h=decided["h"], decision=decided["decision"]), out)
    crossed = postprocessing.cross(*map(postprocessing.fill_missing, groups))
    h = decided["h"].groupby(crossed)
    rates = pd.DataFrame({"n": h.size(), "obtained rate": h.mean()})
    expected = [rules.expected_rates.get(group) for group in rates.index]
    rates.insert(1, "expected rate", expected)
    echo(f"{out}: {len(frame)} rows decided")
    echo_table(rates.rename_axis("group").reset_index())


model = CommandApp(
    no_args_is_help=True,
    add_completion=False,
    help="Export and apply the models of a run.",
)
model.command()(export)
model.command()(predict)
model.command("apply")(apply_to_file)
