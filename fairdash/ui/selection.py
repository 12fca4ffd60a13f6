"""What the reader has chosen: the address of the page, and nowhere else.

A reload, the Back button, a second window and a link that was sent all show the same
page. `SharedFields` are those of every page; what one page lets a reader choose, it
declares where it is used:

    @dataclass(frozen=True)
    class WeightsFields(Fields):
        share: float | None = None
        epoch: int | None = field(default=None, metadata=OF_RUN)

``WeightsFields.here()`` reads the address, ``**bound("share", 0.01)`` ties a widget to
it, and ``choose(share=0.1, epoch=None)`` changes it. None means not chosen: the page
then shows its own default, which depends on nothing but the run and the data set.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import Field, dataclass, field, fields
from types import MappingProxyType
from typing import Any, Self

import streamlit as st
from pydantic import BaseModel

from fairdash._record import Record
from fairdash.datasets import Subgroups
from fairdash.sweep import MethodGrid
from fairdash.ui import private

_LATEST = "latest selection"  # of this session, as an address
_BEHIND = "addresses replaced"  # which the browser sends until it hears of the latest
_N_BEHIND = 50
_MENU = "menu drawn"  # by which page, and the address of its links
Address = dict[str, list[str]]
Texts = Mapping[str, Iterable[str]]


# metadata of a field that goes when another run, or another data set, is picked: it is
# chosen among the models of a run, or among the columns of a table
OF_RUN: Mapping[str, str] = MappingProxyType({"of": "run"})
OF_DATA: Mapping[str, str] = MappingProxyType({"of": "data"})


@dataclass(frozen=True)
class Fields:
    """Choices that one place offers, by their names in the address.

    A field is text, a number, a switch, a tuple of texts or a record. Two places may
    declare the same field: they share the choice.
    """

    @classmethod
    def read(cls, address: Texts) -> Self:
        """Return these fields as an address states them, by name a list of texts."""
        chosen = {}
        for each in fields(cls):
            texts = tuple(text for text in address.get(each.name, ()) if text)
            value = _value(each, texts)
            chosen[each.name] = () if value is None and _several(each) else value
        return cls(**chosen)

    @classmethod
    def here(cls) -> Self:
        """Return these fields as the address of the page states them."""
        return cls.read(_here())


@dataclass(frozen=True)
class SharedFields(Fields):
    """What every page knows, in whatever order pages are opened."""

    # Ids of a run and of the data set.
    run: str | None = None
    data: str | None = None
    # Models compared, by `fairdash.audits.Setting.id`, in the order chosen.
    models: tuple[str, ...] = field(default=(), metadata=OF_RUN)
    # The one model looked at, likewise, and one seed; None for the mean over seeds.
    model: str | None = field(default=None, metadata=OF_RUN)
    seed: int | None = field(default=None, metadata=OF_RUN)
    # What is compared between groups, and with which group.
    measure: str | None = None
    reference: str | None = field(default=None, metadata=OF_DATA)
    # How scores become decisions, as `fairdash.audits.DecisionRule` writes it.
    decided: str | None = None
    # How many wrong 0s a wrong 1 is as bad as, for the cost of errors.
    costs: float | None = None
    subgroups: Subgroups | None = field(default=None, metadata=OF_DATA)
    # Files that a question needs, "role=digest", and columns in them, "name=column".
    files: tuple[str, ...] = field(default=(), metadata=OF_DATA)
    file_columns: tuple[str, ...] = field(default=(), metadata=OF_DATA)
    # What is unfolded.
    opened: tuple[str, ...] = ()
    # Stop of the guided tour, from 1, and scene of the show mode, likewise.
    tour: int | None = None
    show: int | None = None


def address(**changes: Any) -> Address:
    """Return the address of the page with some fields changed; None takes one out."""
    return _changed(_here(), changes)


def stated(**chosen: Any) -> Address:
    """Return an address that states these fields and nothing else."""
    return _changed({}, chosen)


def with_run(now: Texts, run: str | None, data: str | None) -> Address:
    """Return an address of another run or data set, without what was of the others."""
    before = SharedFields.read(now)
    gone = {"run"} if run != before.run else set()
    gone |= {"data"} if data != before.data else set()
    declared = _declared()
    remaining: Texts = {
        name: texts
        for name, texts in now.items()
        if name not in declared or declared[name].metadata.get("of") not in gone
    }
    return _changed(remaining, {"run": run, "data": data})


def write(chosen: Texts) -> None:
    """Make ``chosen`` the address of the page, whole."""
    before = _here()
    if (latest := _replace_by(chosen)) != before:
        st.query_params.from_dict(latest)


def choose(**changes: Any) -> None:
    """Change some fields of the address."""
    write(address(**changes))


def open_at(path: str, there: Texts) -> None:
    """Go to a page at an address; every page is left by this."""
    private.drop_polls()
    _replace_by(there)
    st.switch_page(path, query_params=there)


def arrive(page: str) -> None:
    """Go on with what this session chose last, where the menu it came by is older.

    Links are drawn with a whole page. What is chosen afterwards, inside a fragment, is
    not in them; it is in no address but that of the page left.
    """
    drawn_by, menu = st.session_state.get(_MENU, (page, {}))
    if drawn_by != page:
        st.session_state[_BEHIND] = []
        if menu == _here():
            write(_elsewhere(st.session_state[_LATEST]))


def menu_address(page: str) -> Address:
    """Return the address of the links that ``page`` draws: what every page knows."""
    st.session_state[_LATEST] = here = _here()
    st.session_state[_MENU] = page, _elsewhere(here)
    return _elsewhere(here)


def bound(
    name: str,
    default: Any,
    *,
    among: Iterable[Any] | None = None,
    named: Mapping[Any, str] | None = None,
    shown: Callable[[Any], Any] = lambda value: value,
    meant: Callable[[Any], Any] = lambda value: value,
    key: str = "",
    also: Mapping[str, Any] = MappingProxyType({}),
) -> dict[str, Any]:
    """Return the keyword arguments that tie a widget to a declared field.

    It shows ``default`` as long as the reader has chosen nothing, or nothing that is
    ``among`` its options; ``named`` are these with their names on screen. ``shown`` and
    ``meant`` go from the field's value to the widget's and back, ``key`` tells it from
    other widgets of the field, and ``also`` are fields that change with it.
    """
    widget = f"selection {name} {key}".rstrip()
    options: dict[str, Any] = {}
    if named is not None:
        options = {"options": list(named), "format_func": named.__getitem__}
    among = named if among is None else among
    chosen = _value(_declared()[name], tuple(_here().get(name, ())))
    value = default if chosen is None else shown(chosen)
    if among is not None:
        allowed = list(among)
        several = isinstance(value, list)
        fits = all(v in allowed for v in value) if several else value in allowed
        value = value if fits else default
    st.session_state[widget] = value

    def moved() -> None:
        choose(**{**also, name: meant(st.session_state[widget])})

    return {"key": widget, "on_change": moved, **options}


def bound_entry(
    name: str,
    entry_name: str,
    default: Any,
    *,
    read: Callable[[str], Any] = str,
    written: Callable[[Any], str] = str,
    **how: Any,
) -> dict[str, Any]:
    """Return what `bound` does, for one entry of a field of several, "name=value".

    ``read`` makes a widget's value of the text, or raises ValueError or KeyError;
    ``written`` goes back.
    """

    def shown(texts: tuple[str, ...]) -> Any:
        text = entry(texts, entry_name)
        try:
            return default if text is None else read(text)
        except (KeyError, ValueError):
            return default

    def meant(value: Any) -> tuple[str, ...]:
        text = f"{value:.10g}" if isinstance(value, float) else written(value)
        now = _here().get(name, ())
        return with_entry(now, entry_name, "" if value is None else text)

    how["key"] = f"{how.get('key', '')} {entry_name}"
    return bound(name, default, shown=shown, meant=meant, **how)


def entry(texts: Iterable[str], name: str) -> str | None:
    """Return the value of one entry "name=value"; None if there is none."""
    return dict(text.partition("=")[::2] for text in texts).get(_escaped(name))


def with_entry(texts: Iterable[str], name: str, value: str | None) -> tuple[str, ...]:
    """Return entries with one of them set; None takes it out."""
    others = [text for text in texts if text.partition("=")[0] != _escaped(name)]
    return (*others, *([] if value is None else [f"{_escaped(name)}={value}"]))


def _escaped(name: str) -> str:
    return name.replace("%", "%25").replace("=", "%3D")


def _here() -> Address:
    # A click made before the browser heard of the latest choice states an older
    # address: it would undo that choice.
    now = {name: st.query_params.get_all(name) for name in st.query_params}
    if private.went_back():
        st.session_state[_LATEST] = now
    elif now in st.session_state.get(_BEHIND, ()):
        now = st.session_state[_LATEST]
        st.query_params.from_dict(now)
    return now


def _replace_by(chosen: Texts) -> Address:
    latest = {name: list(texts) for name, texts in chosen.items()}
    behind = [*st.session_state.get(_BEHIND, ()), _here()]
    st.session_state[_BEHIND] = [old for old in behind if old != latest][-_N_BEHIND:]
    st.session_state[_LATEST] = latest
    return latest


def _elsewhere(here: Address) -> Address:
    return {name: texts for name, texts in here.items() if name != "opened"}


def _declared() -> dict[str, "Field[Any]"]:
    return {each.name: each for cls in Fields.__subclasses__() for each in fields(cls)}


def _changed(now: Texts, changes: Mapping[str, Any]) -> Address:
    texts = {name: list(values) for name, values in now.items()}
    for name, value in changes.items():
        if value is None or value == ():
            texts.pop(name, None)
        else:
            texts[name] = _texts(value)
    return texts


def _several(each: "Field[Any]") -> bool:
    return each.type == tuple[str, ...]


def _value(each: "Field[Any]", texts: tuple[str, ...]) -> Any:
    if not texts:
        return None
    return texts if _several(each) else _READ.get(str(each.type), str)(texts[-1])


def _number(kind: type[int] | type[float]) -> Callable[[str], Any]:
    def read(text: str) -> float | None:
        try:
            value = kind(text)
        except ValueError:
            return None
        return value if abs(value) < float("inf") else None

    return read


def _record(kind: type[BaseModel | Record]) -> Callable[[str], Any]:
    def read(text: str) -> BaseModel | Record | None:
        try:
            return kind.model_validate_json(text)
        except ValueError:
            return None

    return read


def _texts(value: Any) -> list[str]:
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, BaseModel | Record):
        return [value.model_dump_json(exclude_defaults=True)]
    if isinstance(value, bool):
        return [str(int(value))]
    if isinstance(value, float):
        return [f"{value:.10g}"]
    return [str(value)]


_READ: dict[str, Callable[[str], Any]] = {
    str(int | None): _number(int),
    str(float | None): _number(float),
    str(bool | None): {"1": True, "0": False}.get,
    str(Subgroups | None): _record(Subgroups),
    str(MethodGrid | None): _record(MethodGrid),
}
