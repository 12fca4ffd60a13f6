"""Frozen dataclasses that check what they are made of, and read and write JSON.

Methods are called as those of pydantic's models, which may hold records in fields of
their own. Records need no library, since the core starts with them: pydantic 2.14 takes
.14 s of processor time to import with one model, this module .02 s and all that
`fairdash.audit` loads .57 s. Measure anew by ``python benchmarks/bench_imports.py``.
Adopt pydantic here once it takes less than .1 s.
"""

import json
import math
import types
import typing
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from functools import partial
from typing import Annotated, Any, Literal, NamedTuple, Self, dataclass_transform

MOST_PROBLEMS = 5  # sentences of one message
MOST_LETTERS = 600  # of a sentence
NAME_LETTERS = 60  # of a name in a sentence
Place = tuple[str | int, ...]
_KINDS: dict[Any, dict[str, Any]] = {}  # types of the fields of each record


class Problem(NamedTuple):
    """A mistake and the field that it is in; the entries of a list have numbers."""

    place: Place
    message: str
    value: Any


class InvalidError(ValueError):
    """Values that do not make a record."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = problems
        super().__init__(explained((p.place, p.message) for p in problems))


def explained(problems: Iterable[tuple[Place, str]]) -> str:
    """Return the first problems, with the names of their fields, and how many more."""
    sentences = []
    for place, message in problems:
        path = ".".join(cut(str(part), NAME_LETTERS) for part in place)
        sentences.append(f"{path}: {message}" if path else message)
    return first_few(sentences)


def first_few(sentences: Iterable[str], joint: str = "; ") -> str:
    """Return the first different sentences, each cut, and how many more there are."""
    distinct = list(dict.fromkeys(sentences))
    text = joint.join(cut(sentence) for sentence in distinct[:MOST_PROBLEMS])
    n_more = len(distinct) - MOST_PROBLEMS
    return f"{text}{joint}and {n_more:,} more" if n_more > 0 else text


def cut(text: str, most: int = MOST_LETTERS) -> str:
    """Return a text of at most so many letters, with … where it is cut."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


class Before(NamedTuple):
    """A change of a value before it is checked, as metadata of a type."""

    change: Callable[[Any], Any]

    def read(self, value: Any, kind: Any) -> Any:
        """Return the value as ``kind`` reads it once changed."""
        return _read(self.change(value), kind)


class Whole(NamedTuple):
    """The range of a whole number, as metadata of a type.

    With ``strict`` neither text nor a float is read as a number.
    """

    at_least: int
    at_most: int
    strict: bool = False

    def read(self, value: Any, kind: Any) -> Any:
        """Return the value as a number within the range."""
        if self.strict and (isinstance(value, bool) or not isinstance(value, int)):
            raise _wrong("Input should be a valid integer", value)
        number = _read(value, kind)
        if number < self.at_least:
            message = f"Input should be greater than or equal to {self.at_least}"
            raise _wrong(message, value)
        if number > self.at_most:
            message = f"Input should be less than or equal to {self.at_most}"
            raise _wrong(message, value)
        return number


@dataclass_transform(
    frozen_default=True, kw_only_default=True, field_specifiers=(field,)
)
@dataclass(frozen=True, kw_only=True)
class Record:
    """A frozen dataclass; a subclass declares fields and may add `_check`."""

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True, kw_only=True, eq=True)(cls)

    def __post_init__(self) -> None:
        kinds = _kinds_of(type(self))
        values = _read_all(
            (name, getattr(self, name), kind) for name, kind in kinds.items()
        )
        for name, value in zip(kinds, values, strict=True):
            object.__setattr__(self, name, value)  # the dataclass is frozen
        self._check()

    def _check(self) -> None:
        """Raise ValueError unless the fields fit together."""

    @classmethod
    def model_validate(cls, content: Any) -> Self:
        """Return a record of a mapping; InvalidError says what does not fit."""
        if isinstance(content, cls):
            return content
        if not isinstance(content, Mapping):
            raise _wrong("Input should be a valid dictionary", content)
        declared = {part.name: part for part in fields(cls)}
        problems = []
        for name, part in declared.items():
            if name not in content and _default(part) is MISSING:
                problems.append(Problem((name,), "Field required", content))
        for name, value in content.items():
            if name not in declared:
                message = "Extra inputs are not permitted"
                problems.append(Problem((name,), message, value))
        if problems:
            raise InvalidError(problems)
        try:
            return cls(**content)
        except InvalidError:
            raise
        except ValueError as error:
            raise InvalidError([Problem((), str(error), dict(content))]) from error

    @classmethod
    def model_validate_json(cls, text: str | bytes) -> Self:
        """Return a record of JSON text."""
        try:
            content = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise _wrong("Invalid JSON", text) from error
        return cls.model_validate(content)

    @classmethod
    def model_construct(cls, **values: Any) -> Self:
        """Return a record whose fields are not checked; others are at their default."""
        record = object.__new__(cls)
        defaults = {part.name: _default(part) for part in fields(cls)}
        record.__dict__.update(defaults | values)
        return record

    def model_copy(self, *, update: Mapping[str, Any]) -> Self:
        """Return a record with other values, which are not checked."""
        return self.model_construct(**{**self.__dict__, **update})

    def model_dump(
        self,
        *,
        mode: str = "python",
        include: Collection[str] | None = None,
        exclude: Collection[str] = (),
        exclude_defaults: bool = False,
        exclude_none: bool = False,
    ) -> dict[str, Any]:
        """Return the fields as plain data; with ``mode="json"`` tuples are lists."""
        options = _DumpOptions(mode, exclude_defaults, exclude_none)
        kinds = _kinds_of(type(self))
        dumped = {}
        for part in fields(self):
            name = part.name
            if name in exclude:
                continue
            if include is not None and name not in include:
                continue
            value = getattr(self, name)
            if exclude_none and value is None:
                continue
            if exclude_defaults and value == _default(part):
                continue
            dumped[name] = _plain(value, kinds[name], options)
        return dumped

    def model_dump_json(self, **options: Any) -> str:
        """Return the fields as JSON; options are those of `model_dump`."""
        dumped = self.model_dump(mode="json", **options)
        return json.dumps(dumped, ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        def write(value: Any, info: Any) -> Any:
            options = _DumpOptions(info.mode, info.exclude_defaults, info.exclude_none)
            return _plain(value, cls, options)

        return core_schema.no_info_plain_validator_function(
            cls.model_validate,
            serialization=core_schema.plain_serializer_function_ser_schema(
                write, info_arg=True
            ),
        )

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: Any, handler: Any) -> Any:
        kinds = _kinds_of(cls)
        schema: dict[str, Any] = {
            "title": cls.__name__,
            "type": "object",
            "properties": {name: _schema(kind) for name, kind in kinds.items()},
        }
        required = [part.name for part in fields(cls) if _default(part) is MISSING]
        if required:
            schema["required"] = required
        schema["additionalProperties"] = False
        return schema


class _DumpOptions(NamedTuple):
    """How a record becomes plain data; see `Record.model_dump`."""

    mode: str
    exclude_defaults: bool
    exclude_none: bool


def _schema(kind: Any) -> dict[str, Any]:
    """Return the JSON schema of a type; records inside a record are any object."""
    origin = typing.get_origin(kind)
    inner = typing.get_args(kind)
    if origin is Annotated:
        # A value that is changed before it is read may have other forms.
        return {} if isinstance(inner[1], Before) else _schema(inner[0])
    if origin is Literal:
        return {"enum": [*inner]}
    if origin in (typing.Union, types.UnionType):
        return {"anyOf": [_schema(part) for part in inner]}
    if origin is tuple:
        return {"type": "array", "items": _schema(inner[0])}
    if origin is dict:
        return {"type": "object"}
    if isinstance(kind, type) and issubclass(kind, Record):
        return {"type": "object"}
    names = {str: "string", bool: "boolean", float: "number", int: "integer"}
    return {"type": names.get(kind, "null")}


def default(record: type[Record], name: str) -> Any:
    """Return the default of a field; `dataclasses.MISSING` where it has none."""
    declared = {part.name: part for part in fields(record)}
    return _default(declared[name])


def _default(declared: Field[Any]) -> Any:
    if declared.default_factory is not MISSING:
        return declared.default_factory()
    return declared.default


def _kinds_of(record: Any) -> dict[str, Any]:
    """Return the types of a record's fields, resolved once for each class."""
    if record not in _KINDS:
        hints = typing.get_type_hints(record, include_extras=True)
        _KINDS[record] = {part.name: hints[part.name] for part in fields(record)}
    return _KINDS[record]


def _wrong(message: str, value: Any) -> InvalidError:
    return InvalidError([Problem((), message, value)])


def _read(value: Any, kind: Any) -> Any:
    """Return a value as a type reads it; InvalidError where it does not fit."""
    origin = typing.get_origin(kind)
    inner = typing.get_args(kind)
    if origin is Annotated:
        return inner[1].read(value, inner[0])
    if origin is Literal:
        if not (isinstance(value, str) and value in inner):
            raise _wrong(f"Input should be {' or '.join(map(repr, inner))}", value)
        return value
    if origin in (typing.Union, types.UnionType):
        return _first_that_fits(value, inner)
    if origin is tuple:
        if not isinstance(value, list | tuple | set | frozenset | types.GeneratorType):
            raise _wrong("Input should be a valid tuple", value)
        entries = ((i, entry, inner[0]) for i, entry in enumerate(value))
        return tuple(_read_all(entries))
    if origin is dict:
        if not isinstance(value, Mapping):
            raise _wrong("Input should be a valid dictionary", value)
        names = _read_all((name, name, inner[0]) for name in value)
        values = _read_all((name, entry, inner[1]) for name, entry in value.items())
        return dict(zip(names, values, strict=True))
    if isinstance(kind, type) and issubclass(kind, Record):
        return kind.model_validate(value)
    return _SIMPLE[kind](value)


def _read_all(entries: Iterable[tuple[str | int, Any, Any]]) -> list[Any]:
    """Read values, each with its place and type; InvalidError has all their problems.

    All are read before the first problem is raised: whoever corrects a file wants to
    see its mistakes together.
    """
    values = []
    problems = []
    for place, value, kind in entries:
        try:
            values.append(_read(value, kind))
        except InvalidError as error:
            problems += [p._replace(place=(place, *p.place)) for p in error.problems]
    if problems:
        raise InvalidError(problems)
    return values


def _first_that_fits(value: Any, kinds: tuple[Any, ...]) -> Any:
    """Return a value as the first type of a union that reads it."""
    problems: list[Problem] = []
    for kind in kinds:
        try:
            return _read(value, kind)
        except InvalidError as error:
            # That an optional field is not None helps nobody.
            if kind is not type(None):
                problems += error.problems
    raise InvalidError(problems)


def _instance(kind: type[Any], name: str, value: Any) -> Any:
    if not isinstance(value, kind):
        raise _wrong(f"Input should be {name}", value)
    return value


def _flag(value: Any) -> bool:
    if isinstance(value, str):
        value = {"true": True, "false": False}.get(value.lower(), value)
    if not isinstance(value, bool | int | float) or value not in (0, 1):
        raise _wrong("Input should be a valid boolean", value)
    return bool(value)


def _number(value: Any) -> float:
    try:
        number = float(value) if not isinstance(value, bytes) else math.nan
    except (TypeError, ValueError, OverflowError) as error:
        raise _wrong("Input should be a valid number", value) from error
    if not math.isfinite(number):
        raise _wrong("Input should be a finite number", value)
    return number


def _integer(value: Any) -> int:
    if not _number(value).is_integer():
        raise _wrong("Input should be a valid integer", value)
    return int(value)


_SIMPLE: dict[Any, Callable[[Any], Any]] = {
    str: partial(_instance, str, "a valid string"),
    type(None): partial(_instance, type(None), "None"),
    bool: _flag,
    float: _number,
    int: _integer,
}


def _plain(value: Any, kind: Any, options: _DumpOptions) -> Any:
    """Return a value of a declared type as plain data."""
    if isinstance(value, Record):
        # As pydantic does: a subclass is written with the fields of the declared type.
        declared = fields(_record_in(kind, value) or value)
        return value.model_dump(
            include={part.name for part in declared}, **options._asdict()
        )
    if isinstance(value, dict):
        return {name: _plain(entry, kind, options) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        entries = [_plain(entry, kind, options) for entry in value]
        return entries if options.mode == "json" else tuple(entries)
    return value


def _record_in(kind: Any, value: Record) -> type[Record] | None:
    """Return the record that a type declares and the value is; a union has several."""
    if isinstance(kind, type) and issubclass(kind, Record):
        return kind if isinstance(value, kind) else None
    records = (_record_in(part, value) for part in typing.get_args(kind))
    return next(filter(None, records), None)
