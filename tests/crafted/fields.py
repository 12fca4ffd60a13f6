"""Every field of a bundle's facts, from their schema, and what may stand there."""

import json
import typing
from collections.abc import Iterator
from dataclasses import fields as fields_of_dataclass
from dataclasses import is_dataclass
from typing import Any, NamedTuple

from pydantic import BaseModel, ValidationError

from crafted.bundles import DEEP, Facts
from fairdash.jobs.bundle.pack import Facts as _Facts
from fairdash.sweep import SweepSpec

GONE = "missing"
OTHER = "another user's id"
PATHS = {"absolute path": "/etc/passwd", "relative path": ".streamlit/secrets.toml"}
VALUES = (*PATHS, "10**400", "NaN", "wrong type", DEEP, GONE, OTHER)
UNTYPED = {"spec": SweepSpec}  # what a field of any content is read as
SOURCES = {"sample", "table", "path"}  # of data, of which there is one
Place = tuple[str | int, ...]

DATA = "runs/0/spec/data"
ROLES = "runs/0/spec/data/roles"
SPEC = "runs/0/spec"
# words that are shown, name nothing and decide nothing; * is any one step
WORDS = (
    "fairdash", "address", "runs/0/name", "runs/0/table_name", "runs/0/failed/*",
    f"{DATA}/name", f"{DATA}/table_format/sheet", f"{ROLES}/left_out/*",
    f"{ROLES}/feature_order/*", f"{ROLES}/positive_name",
)  # fmt: skip
# what decides neither rows nor models, so that a bundle without it is whole
OPTIONAL = (
    "address", "runs/0/table_name", "runs/0/subgroups", "runs/0/subgroups/columns",
    "runs/0/subgroups/columns/*", "runs/0/subgroups/cuts", "runs/0/subgroups/cuts/*",
    "runs/0/subgroups/min_size", f"{DATA}/name", f"{DATA}/table_format",
    f"{ROLES}/subgroup_columns", f"{ROLES}/subgroup_columns/*", f"{ROLES}/scores",
    f"{ROLES}/scores/*", f"{ROLES}/scores/*/threshold", f"{ROLES}/left_out",
    f"{ROLES}/left_out/*", f"{ROLES}/feature_order", f"{ROLES}/feature_order/*",
    f"{ROLES}/positive_name", f"{ROLES}/positive_is", f"{ROLES}/guessed",
    f"{SPEC}/subgroups", f"{SPEC}/subgroups/columns", f"{SPEC}/subgroups/columns/*",
    f"{SPEC}/subgroups/where", f"{SPEC}/subgroups/where/*", f"{SPEC}/di_limit",
)  # fmt: skip


class Field(NamedTuple):
    """A place in the facts, from the outside in, and which of `VALUES` goes there."""

    place: Place
    value: str

    def __str__(self) -> str:
        return f"{'/'.join(map(str, self.place))}: {self.value}"

    def is_in(self, patterns: tuple[str, ...]) -> bool:
        """Tell whether its place is one of some patterns."""
        return any(
            len(steps) == len(self.place)
            and all(a in ("*", str(b)) for a, b in zip(steps, self.place, strict=True))
            for steps in (pattern.split("/") for pattern in patterns)
        )


def places(facts: Facts) -> Iterator[Place]:
    """Yield every field of the schema of the facts, from the outside in.

    Of a list or mapping its first entry too, and the fields of that.
    """
    yield from _places(_Facts, facts, ())


def changed(facts: Facts, field: Field, others: dict[str, str]) -> Facts | None:
    """Return facts with one field changed; None where nothing would differ.

    ``others`` are ids of another user by the name of the field, by "" of all others.
    """
    damaged = json.loads(json.dumps(facts))
    at = damaged
    for step in field.place[:-1]:
        if isinstance(at, list) and isinstance(step, str):
            return None  # an empty list: its first record has no fields to change
        at = at.setdefault(step, {}) if isinstance(at, dict) else at[step]
    last = field.place[-1]
    if isinstance(at, list) and isinstance(last, str):
        return None
    is_known = isinstance(at, list) or last in at
    if field.value == GONE:
        if is_known:
            del at[last]
        return damaged if is_known else None
    for rival in SOURCES - {last} if last in SOURCES else ():
        at.pop(rival, None)
    is_container = is_known and isinstance(at[last], list | dict)
    at[last] = {
        **PATHS,
        "10**400": 10**400,
        "NaN": float("nan"),
        "wrong type": 7 if is_container else [{"x": 1}],
        DEEP: DEEP,
        OTHER: others.get(str(last), others[""]),
    }[field.value]
    return damaged


def may_be_imported(facts: Facts, field: Field, made: Facts) -> bool | None:
    """Tell whether a changed bundle is as good as it was; None where both would do."""
    if field.value == GONE:
        return field.is_in(OPTIONAL) or _means_the_same(facts, made)
    if field.value == OTHER and field.place[-1] == "id":
        return True  # runs of users are apart, whatever their ids
    return field.value in (*PATHS, OTHER) and field.is_in(WORDS)


def _means_the_same(facts: Facts, made: Facts) -> bool:
    """Tell whether only fields at their defaults are missing."""
    try:
        old, new = (_Facts.model_validate(content) for content in (facts, made))
        specs = [
            SweepSpec.model_validate(content["runs"][0]["spec"])
            for content in (facts, made)
        ]
    except ValidationError:
        return False
    without_spec = {"runs": {0: {"spec"}}}
    same = old.model_dump(exclude=without_spec) == new.model_dump(exclude=without_spec)
    return same and specs[0] == specs[1]


def _places(kind: Any, value: Any, place: Place) -> Iterator[Place]:
    if place.count("all_of") + place.count("any_of") > 1:
        return  # conditions hold conditions
    for name, annotation in _annotations(kind).items():
        inner = value.get(name) if isinstance(value, dict) else None
        annotation = UNTYPED.get(name, annotation)
        yield (*place, name)
        yield from _inside(annotation, inner, (*place, name))


def _inside(annotation: Any, value: Any, place: Place) -> Iterator[Place]:
    models = _models(annotation)
    is_mapping = typing.get_origin(annotation) is dict or not models
    if isinstance(value, dict) and value and is_mapping:
        key, value = next(iter(value.items()))
        place = (*place, key)
        yield place
    elif isinstance(value, list) and value:
        place = (*place, 0)
        value = value[0]
        yield place
    for model in models:
        yield from _places(model, value, place)


def _annotations(kind: Any) -> dict[str, Any]:
    if is_dataclass(kind):
        hints = typing.get_type_hints(kind)
        return {field.name: hints[field.name] for field in fields_of_dataclass(kind)}
    return {name: field.annotation for name, field in kind.model_fields.items()}


def _models(annotation: Any) -> list[Any]:
    """Return the models that an annotation names, in lists and mappings too."""
    inner = typing.get_args(annotation)
    if inner:
        return [model for part in inner for model in _models(part)]
    is_class = isinstance(annotation, type)
    is_known = is_class and (
        issubclass(annotation, BaseModel) or is_dataclass(annotation)
    )
    return [annotation] if is_known else []
