"""Write the tables of the README and of pages of docs from the code.

Those of docs/results are written from what `benchmarks/reproduce.py` found.

python docs/tables.py
"""

import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path

from fairdash._lazy import EXTRAS
from fairdash._wording import listing, markdown_table
from fairdash.analysis import judgement
from fairdash.audits.playground import caption_of
from fairdash.datasets import PUBLIC, checks, reading
from fairdash.methods import CATALOG
from fairdash.metrics import catalog
from fairdash.postprocessing import corrections
from fairdash.ui import pages

DOCS = Path(__file__).parent


def methods() -> Iterator[tuple[str, ...]]:
    """Yield the cells of every method, after those of the head."""
    yield "in the plane", "method", "set by", "source"
    for method in CATALOG.values():
        letters = [
            f"`{param.name}`" + (f" ({param.letter})" if param.letter else "")
            for param in method.params
            if not param.advanced
        ]
        caption = caption_of(method)
        yield (
            f"![{method.label}. {caption}](pictures/methods/{method.key}.webp)",
            f"**{method.label}** `{method.key}`: {method.summary} *{caption}.*",
            ", ".join(letters) or "–",
            method.source,
        )


def screens() -> Iterator[tuple[str, ...]]:
    """Yield name and question of every page of the app, after the head."""
    yield "page", "question"
    for page in pages.pages():
        if page.about:
            yield page.name, page.about


def files() -> Iterator[tuple[str, ...]]:
    """Yield the cells of every kind of files that is read, after those of the head."""
    yield "file", "found out", "you may say"
    for reader in reversed(reading.all_readers()):
        suffixes = ", ".join(f"`{suffix}`" for suffix in reader.suffixes)
        kind = f"{listing(reader.programs)} ({suffixes})"
        extras = [name for name, brings in EXTRAS.items() if reader.library in brings]
        if extras != ["app"]:
            kind += f", with the extra `{listing(extras)}`"
        yield kind, reader.finds, reader.takes
    yield (
        "these in gzip, Zstandard or ZIP",
        "the file, if there is only one table",
        "`sheet=`",
    )


def table_checks() -> Iterator[tuple[str, ...]]:
    """Yield the cells of what each check may find, after those of the head."""
    yield "check", "when", "remedy"
    yield (
        "missing or nested column, target not binary, one group, empty group, more "
        "than 20 groups",
        "refused",
        "change the roles",
    )
    yield "identifier, infinite values", "refused", "exclude; read as missing"
    for check in checks.checks():
        for note in check.notes:
            yield note.name, note.when, note.remedy


def public_data() -> Iterator[tuple[str, ...]]:
    """Yield the cells of every variant of a public table, after those of the head."""
    yield "name", "variant", "rows", "which rows", "1 means", "groups by"
    for name, public in PUBLIC.items():
        for variant, rows in public.variants.items():
            roles = public.roles
            yield (
                f"`{name}`",
                f"`{variant}`",
                f"{rows.n_rows:,}",
                rows.rows,
                roles.positive_words(),
                f"`{roles.sensitive_feature}`",
            )


def measures() -> Iterator[tuple[str, ...]]:
    """Yield the cells of every measure, after those of the head."""
    yield "measure", "in code", "what it is", "needs of a model", "95% interval"
    for key in catalog.MEASURE_NAMES:
        measure = catalog.measure_of(key)
        yield (
            measure.name,
            f"`{key}`",
            measure.symbol.replace("|", "\\|"),
            TAKES[str(measure.takes)],
            measure.interval,
        )


def post_processing() -> Iterator[tuple[str, ...]]:
    """Yield the cells of every post-processing method, after those of the head."""
    yield "method", "class", "what it does", "needs the outcome", "set by", "source"
    for key, correction in corrections().items():
        yield (
            f"**{correction.label}** `{key}`",
            f"`{correction.estimator.__name__}`",
            correction.summary,
            correction.outcome,
            ", ".join(f"`{dial.name}`" for dial in correction.dials),
            correction.source,
        )


def league() -> Iterator[tuple[str, ...]]:
    """Yield the cells of every method of the league table, after those of the head."""
    with (DOCS.parent / "sample_data" / "league.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["Table"] == "All six"]
    names = list(rows[0])
    names = names[names.index("Accuracy") : names.index("Certified")]
    yield "method", *(name.lower() for name in names), "certified", "seconds"
    for row in rows:
        cells = [_short(row[name]) for name in names]
        for i, name in enumerate(names):
            if f"{name} sd" in row:
                cells[i] += f"±{_short(row[f'{name} sd'])}"
        certified = f"{float(row['Certified']):.0%}"
        idle = "*" if float(row["Decides"]) < 1 else ""
        yield row["Method"] + idle, *cells, certified, f"{float(row['Seconds']):.1f}"


def _short(number: str) -> str:
    return f"{float(number):.3f}".replace("0.", ".", 1)


TAKES = {
    "decision": "decisions",
    "probability": "probabilities",
    "rank": "scores, of which only the order counts",
    "number": "predicted numbers",
}
TABLES = {
    "../README.md": (screens,),
    "methods.md": (methods,),
    "data.md": (files, table_checks, public_data),
    "audit.md": (measures, judgement.judgement_rows, judgement.exit_rows),
    "post_processing.md": (post_processing,),
    "results/league.md": (league,),
}
FOUND = DOCS.parent / "benchmarks" / "results"
RESULTS = {
    "results/road.md": "road",
    "results/noisy_groups.md": "noisy",
    "results/individual_fairness.md": "sensei",
    "results/fair_log_loss.md": "logloss",
    "results/post_processing.md": "ramp",
}
PAGES = (*TABLES, *RESULTS)


def tables_of(page: str) -> list[str]:
    """Return the tables of a page as Markdown, those of results with their origin."""
    if page in TABLES:
        return [markdown_table(table()) for table in TABLES[page]]
    results = json.loads((FOUND / f"{RESULTS[page]}.json").read_text())
    return [
        f"{markdown_table(table['rows'])}\n\n"
        f"Made by `benchmarks/reproduce.py {table['command']}`."
        for table in results.values()
    ]


def filled(page: str) -> str:
    """Return the text of a page with its tables as the code has them now."""
    text = (DOCS / page).read_text()
    begin = "<!-- table -->\n"
    end = "<!-- end of table -->"
    old = re.compile(f"(?s){begin}.*?{end}")
    tables = iter(tables_of(page))
    new = old.sub(lambda _: f"{begin}{next(tables)}\n{end}", text)
    if next(tables, None) is not None:
        raise ValueError(f"{page} has fewer places than tables.")
    return new


if __name__ == "__main__":
    for page in PAGES:
        (DOCS / page).write_text(filled(page))
