"""Frozen dataclasses that check what they are made of, and read and write JSON.

Fields, methods and messages are those of pydantic's models, which may hold records in
fields of their own. Records need no library, so the core works without pydantic.
"""

import json
import math
import types
import typing
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from typing import Annotated, Any, Literal, NamedTuple, Self, dataclass_transform

_LIST_LIKE = (list, tuple, set, frozenset, types.GeneratorType)
Place = tuple[str | int, ...]
_KINDS: dict[Any, dict[str, Any]] = {}  # types of the fields of each record


class Before(NamedTuple):
    """What changes a value before it is checked, as metadata of a type."""

    change: Callable[[Any], Any]


class Whole(NamedTuple):
    """The range of a whole number, as metadata of a type.

    With ``strict`` neither text nor a float is read as a number.
    """

    at_least: int
    at_most: int
    strict: bool = False


class Problem(NamedTuple):
    """What is wrong in which field; the entries of a list have numbers."""

    place: Place
    message: str
    value: Any


class InvalidError(ValueError):
    """Values that do not make a record."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = problems
        super().__init__(explained((p.place, p.message) for p in problems))

    def errors(self) -> list[dict[str, Any]]:
        """Return the problems as pydantic does."""
        return [
            {"type": "value_error", "loc": p.place, "msg": p.message, "input": p.value}
            for p in self.problems
        ]


def explained(problems: Iterable[tuple[Place, str]]) -> str:
    """Return problems as one sentence each, with the names of their fields."""
    sentences = []
    for place, message in problems:
        where = ".".join(map(str, place))
        sentences.append(f"{where}: {message}" if where else message)
    return "; ".join(dict.fromkeys(sentences))


@dataclass_transform(
    frozen_default=True, kw_only_default=True, field_specifiers=(field,)
)
@dataclass(frozen=True, kw_only=True)
class Record:
    """A frozen dataclass; a subclass declares fields and may add `_check`."""

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True, kw_only=True, eq=True)(cls)

    def __post_init__(self) -> None:
        problems = []
        for name, kind in _kinds_of(type(self)).items():
            try:
                value = _read(getattr(self, name), kind)
                object.__setattr__(self, name, value)
            except InvalidError as error:
                problems += _inside(name, error)
        if problems:
            raise InvalidError(problems)
        self._check()

    def _check(self) -> None:
        """Raise ValueError unless the fields fit together."""

    @classmethod
    def model_validate(cls, given: Any) -> Self:
        """Return a record of a mapping; InvalidError says what does not fit."""
        if isinstance(given, cls):
            return given
        if not isinstance(given, Mapping):
            raise _wrong("Input should be a valid dictionary", given)
        known = {declared.name: declared for declared in fields(cls)}
        problems = [
            Problem((name,), "Field required", given)
            for name, declared in known.items()
            if name not in given and _is_required(declared)
        ]
        problems += [
            Problem((name,), "Extra inputs are not permitted", given[name])
            for name in given
            if name not in known
        ]
        if problems:
            kinds = _kinds_of(cls)
            for name in (name for name in given if name in known):
                try:
                    _read(given[name], kinds[name])
                except InvalidError as error:
                    problems += _inside(name, error)
            raise InvalidError(problems)
        try:
            return cls(**given)
        except InvalidError:
            raise
        except ValueError as error:
            raise InvalidError([Problem((), str(error), dict(given))]) from error

    @classmethod
    def model_validate_json(cls, text: str | bytes) -> Self:
        """Return a record of JSON text."""
        try:
            given = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise _wrong("Invalid JSON", text) from error
        return cls.model_validate(given)

    @classmethod
    def model_construct(cls, **given: Any) -> Self:
        """Return a record whose fields are not checked; others are at their default."""
        known = {declared.name: _default(declared) for declared in fields(cls)}
        record = object.__new__(cls)
        record.__dict__.update({**known, **given})
        return record

    def model_copy(self, *, update: Mapping[str, Any]) -> Self:
        """Return a record with other values, which are not checked."""
        copy = object.__new__(type(self))
        copy.__dict__.update({**self.__dict__, **update})
        return copy

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
        options = (mode, exclude_defaults, exclude_none)
        dumped = {}
        for declared in fields(self):
            name, value = declared.name, getattr(self, declared.name)
            if name in exclude or (include is not None and name not in include):
                continue
            if exclude_none and value is None:
                continue
            if exclude_defaults and value == _default(declared):
                continue
            dumped[name] = _plain(value, _kinds_of(type(self))[name], options)
        return dumped

    def model_dump_json(self, **options: Any) -> str:
        """Return the fields as JSON; options are those of `model_dump`."""
        dumped = self.model_dump(mode="json", **options)
        return json.dumps(dumped, ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        from pydantic_core import (
            InitErrorDetails,
            PydanticCustomError,
            ValidationError,
            core_schema,
        )

        def read(given: Any) -> Any:
            try:
                return cls.model_validate(given)
            except InvalidError as error:
                details = [
                    InitErrorDetails(
                        type=PydanticCustomError(
                            "value_error", "{message}", {"message": p.message}
                        ),
                        loc=p.place,
                        input=p.value,
                    )
                    for p in error.problems
                ]
                raise ValidationError.from_exception_data(
                    cls.__name__, details
                ) from error

        def write(value: Any, info: Any) -> Any:
            options = (info.mode, info.exclude_defaults, info.exclude_none)
            return _plain(value, cls, options)

        return core_schema.no_info_plain_validator_function(
            read,
            serialization=core_schema.plain_serializer_function_ser_schema(
                write, info_arg=True
            ),
        )


def default(record: type[Record], name: str) -> Any:
    """Return the default of a field; `dataclasses.MISSING` where it has none."""
    return next(_default(d) for d in fields(record) if d.name == name)


def _default(declared: Field[Any]) -> Any:
    if declared.default_factory is not MISSING:
        return declared.default_factory()
    return declared.default


def _is_required(declared: Field[Any]) -> bool:
    return _default(declared) is MISSING


def _kinds_of(record: Any) -> dict[str, Any]:
    if record not in _KINDS:
        hints = typing.get_type_hints(record, include_extras=True)
        _KINDS[record] = {entry.name: hints[entry.name] for entry in fields(record)}
    return _KINDS[record]


def _wrong(message: str, value: Any) -> InvalidError:
    return InvalidError([Problem((), message, value)])


def _inside(name: str | int, error: InvalidError) -> list[Problem]:
    return [p._replace(place=(name, *p.place)) for p in error.problems]


def _read(value: Any, kind: Any) -> Any:
    """Return a value as a type asks for; InvalidError where it cannot be read so."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin is Annotated:
        return _annotated(value, *inner)
    if origin is Literal:
        if not (isinstance(value, str) and value in inner):
            names = [repr(name) for name in inner]
            listed = " or ".join(filter(None, (", ".join(names[:-1]), names[-1])))
            raise _wrong(f"Input should be {listed}", value)
        return value
    if origin in (typing.Union, types.UnionType):
        return _first_that_fits(value, inner)
    if origin is tuple:
        return _entries(value, inner[0])
    if origin is dict:
        return _items(value, *inner)
    if isinstance(kind, type) and issubclass(kind, Record):
        return _record(value, kind)
    return _SIMPLE[kind](value)


def _record(value: Any, kind: type[Record]) -> Record:
    if not isinstance(value, Mapping | kind):
        message = "Input should be a valid dictionary or instance of " + kind.__name__
        raise _wrong(message, value)
    return kind.model_validate(value)


def _annotated(value: Any, kind: Any, metadata: Before | Whole) -> Any:
    if isinstance(metadata, Before):
        return _read(metadata.change(value), kind)
    if metadata.strict and (isinstance(value, bool) or not isinstance(value, int)):
        raise _wrong("Input should be a valid integer", value)
    number = _read(value, kind)
    if number < metadata.at_least:
        message = f"Input should be greater than or equal to {metadata.at_least}"
        raise _wrong(message, value)
    if number > metadata.at_most:
        message = f"Input should be less than or equal to {metadata.at_most}"
        raise _wrong(message, value)
    return number


def _first_that_fits(value: Any, kinds: tuple[Any, ...]) -> Any:
    problems: list[Problem] = []
    for kind in kinds:
        try:
            return _read(value, kind)
        except InvalidError as error:
            if kind is not type(None):
                problems += error.problems
    raise InvalidError(problems)


def _entries(value: Any, kind: Any) -> tuple[Any, ...]:
    if not isinstance(value, _LIST_LIKE):
        raise _wrong("Input should be a valid tuple", value)
    entries, problems = [], []
    for number, entry in enumerate(value):
        try:
            entries.append(_read(entry, kind))
        except InvalidError as error:
            problems += _inside(number, error)
    if problems:
        raise InvalidError(problems)
    return tuple(entries)


def _items(value: Any, key: Any, kind: Any) -> dict[Any, Any]:
    if not isinstance(value, Mapping):
        raise _wrong("Input should be a valid dictionary", value)
    items, problems = {}, []
    for name, entry in value.items():
        try:
            items[_read(name, key)] = _read(entry, kind)
        except InvalidError as error:
            problems += _inside(name, error)
    if problems:
        raise InvalidError(problems)
    return items


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise _wrong("Input should be a valid string", value)
    return value


def _nothing(value: Any) -> None:
    if value is not None:
        raise _wrong("Input should be None", value)


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
    number = _number(value)
    if not number.is_integer():
        raise _wrong("Input should be a valid integer", value)
    return int(value)


_SIMPLE: dict[Any, Callable[[Any], Any]] = {
    str: _text,
    bool: _flag,
    float: _number,
    int: _integer,
    type(None): _nothing,
}


def _plain(value: Any, kind: Any, options: tuple[str, bool, bool]) -> Any:
    """Return a value as plain data, a record with the fields of its declared type."""
    if isinstance(value, Record):
        mode, exclude_defaults, exclude_none = options
        declared = next(_records_in(kind), type(value))
        names = {entry.name for entry in fields(declared)}
        return value.model_dump(
            mode=mode,
            include=names,
            exclude_defaults=exclude_defaults,
            exclude_none=exclude_none,
        )
    if isinstance(value, dict):
        return {name: _plain(entry, kind, options) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        entries = [_plain(entry, kind, options) for entry in value]
        return entries if options[0] == "json" else tuple(entries)
    return value


def _records_in(kind: Any) -> Iterator[type[Record]]:
    if isinstance(kind, type) and issubclass(kind, Record):
        yield kind
    for inner in typing.get_args(kind):
        yield from _records_in(inner)
