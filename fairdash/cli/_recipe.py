"""Options that prepare a table: which rows count, what is missing, what is negative."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import typer
from pydantic import BaseModel, ConfigDict, ValidationError

from fairdash._parsing import parsed
from fairdash._validation import check_one_of, explain_invalid
from fairdash.audits import tables
from fairdash.datasets import Condition, Remedy, choices

Rows = Annotated[
    list[str] | None,
    typer.Option(
        help="Rows that count: year=2023,2024, age>=18, note=missing. Repeat it: all "
        "must hold."
    ),
]
Negative = Annotated[
    list[str] | None,
    typer.Option(
        help="Column and values that are not positive: status=3. Rows with other "
        "values do not count."
    ),
]
Missing = Annotated[
    list[str] | None,
    typer.Option(help="Column and values that stand for missing: age=8888."),
]
OneOf = Annotated[
    list[str] | None,
    typer.Option(
        help="New column from columns of 0 and 1: race=black,hispan,white. Rows in "
        "none of them are 'none', rows in two or more 'several'."
    ),
]
SingleChoice = Annotated[
    list[str] | None,
    typer.Option(
        help="Column of a multiple choice, such as White;Asian: rows with several are "
        '"several".'
    ),
]
RecipeFile = Annotated[
    Path | None,
    typer.Option(
        exists=True,
        dir_okay=False,
        help="YAML file with rows, negative, preparation and types, as in a policy; "
        "join names a second table, and `by` what it is joined by.",
    ),
]
_TEST = re.compile(r"(?P<column>.+?)\s*(?P<sign>>=|<=|!=|=|>|<)\s*(?P<value>.*)")
_BOUNDS = {">": "above", ">=": "at_least", "<": "below", "<=": "at_most"}
_EMPTY = {("=", "missing"): True, ("!=", "missing"): False}


class _Join(BaseModel):
    """The second file that a recipe names."""

    model_config = ConfigDict(extra="forbid")

    table: str
    by: list[str]


class _Recipe(BaseModel):
    """The contents of a recipe file; `TableQuestion` checks them."""

    model_config = ConfigDict(extra="forbid")

    rows: Any = ()
    negative: Any = ()
    preparation: Any = ()
    types: Any = {}
    join: _Join | None = None


def join_of(
    file: Path | None, join: Path | None, by: list[str] | None
) -> tuple[Path | None, list[str] | None]:
    """Return the second file and its keys: of the options, else of a recipe file.

    Its path is relative to that of the recipe.
    """
    if file is None or join is not None or by:
        return join, by
    content = _parsed(file).join
    return (
        (None, None) if content is None else (file.parent / content.table, content.by)
    )


def recipe(
    rows: list[str] | None,
    negative: list[str] | None,
    missing: list[str] | None,
    file: Path | None,
    one_of: list[str] | None = None,
    single_choice: list[str] | None = None,
    frame: pd.DataFrame | None = None,
) -> dict[str, Any]:
    """Return the fields of a `TableQuestion` that prepare a table.

    What the options say is added to what the ``file`` says. The separator of a
    multiple choice is read from the ``frame``. Raises ValueError for an option that is
    no condition, and a file that holds something else.
    """
    content = {} if file is None else _read(file)
    conditions = [read_condition(text) for text in rows or ()]
    steps = [_missing_step(text) for text in missing or ()]
    steps += [_one_of_step(text) for text in one_of or ()]
    steps += [_choice_step(name, frame) for name in single_choice or ()]
    recipe = tables.TableQuestion(groups=(), **content)
    return {
        "rows": (*recipe.rows, *conditions),
        "negative": (*recipe.negative, *(negative or ())),
        "preparation": (*recipe.preparation, *steps),
        "types": recipe.types,
    }


def _read(file: Path) -> dict[str, Any]:
    content = _parsed(file)
    names = content.model_fields_set - {"join"}
    fields = {name: getattr(content, name) for name in names}
    with _named(file):
        tables.TableQuestion(groups=(), **fields)
    return fields


def _parsed(file: Path) -> _Recipe:
    with _named(file):
        return _Recipe.model_validate(parsed(file.read_bytes(), "YAML"))


@contextmanager
def _named(file: Path) -> Iterator[None]:
    try:
        yield
    except ValidationError as error:
        raise ValueError(f"{file.name}: {explain_invalid(error)}") from error
    except ValueError as error:
        raise ValueError(f"{file.name}: {error}") from error


def read_condition(text: str) -> Condition:
    """Return the condition that an option says: "age>=18", "year=2023,2024".

    Raises ValueError for another text.
    """
    test = _TEST.fullmatch(text.strip())
    if test is None or not test["value"]:
        raise ValueError(
            f"`--rows {text}` is no condition. Write a column, one of = != > >= < <= "
            "and a value: year=2023,2024, age>=18 or note=missing."
        )
    column = test["column"]
    sign = test["sign"]
    value = test["value"]
    if (sign, value) in _EMPTY:
        return Condition(column=column, missing=_EMPTY[sign, value])
    if sign in _BOUNDS:
        try:
            return _condition(column, _BOUNDS[sign], float(value))
        except ValueError as error:
            raise ValueError(
                f"`--rows {text}` compares with {value!r}, which is no number."
            ) from error
    values = [part.strip() for part in value.split(",")]
    return _condition(column, "among" if sign == "=" else "not_among", values)


def _condition(column: str, test: str, value: Any) -> Condition:
    return Condition.model_validate({"column": column, test: value})


def _missing_step(text: str) -> Remedy:
    column, sign, listed = text.partition("=")
    if not sign or not listed:
        raise ValueError(f"`--missing {text}`: write a column and values, age=8888.")
    values = [part.strip() for part in listed.split(",")]
    return Remedy(kind="missing", column=column, values=tuple(values))


def _one_of_step(text: str) -> Remedy:
    column, sign, listed = text.partition("=")
    columns = tuple(part.strip() for part in listed.split(","))
    if not sign or len(columns) < 2:
        raise ValueError(
            f"`--one-of {text}`: write a new name and columns, race=black,hispan,white."
        )
    return Remedy(kind="one_of", column=column, columns=columns)


def _choice_step(column: str, frame: pd.DataFrame | None) -> Remedy:
    if frame is None or column not in frame:
        names = [] if frame is None else list(map(str, frame))
        check_one_of("--single-choice", column, names)
    separator = choices.separator_of(frame[column]) if frame is not None else None
    if separator is None:
        raise ValueError(
            f"`--single-choice {column}`: no cell of it holds several choices with one "
            "of ; | , / between them. Leave the option out."
        )
    return Remedy(kind="single_choice", column=column, separator=separator)
