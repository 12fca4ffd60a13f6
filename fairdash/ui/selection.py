"""The choices of the reader, which the address of the page holds and nothing else.

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

# Entries of the session state.
_LATEST = "latest selection"  # of this session, as an address
_BEHIND = "addresses replaced"  # which the browser sends until it hears of the latest
_MENU = "menu drawn"  # by which page, and the address of its links
# A browser that lags further behind than this many choices is not waited for.
_N_BEHIND = 50
Address = dict[str, list[str]]
Texts = Mapping[str, Iterable[str]]


# Metadata of a field that goes when another run, or another data set, is picked: it is
# chosen among the models of a run, or among the columns of a table.
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
        for declared in fields(cls):
            texts = tuple(text for text in address.get(declared.name, ()) if text)
            value = _value(declared, texts)
            if value is None and _holds_several(declared):
                value = ()
            chosen[declared.name] = value
        return cls(**chosen)

    @classmethod
    def here(cls) -> Self:
        """Return these fields as the address of the page states them."""
        return cls.read(_here())


@dataclass(frozen=True)
class SharedFields(Fields):
    """Choices that every page knows, in whatever order pages are opened."""

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
    replaced = set()
    if run != before.run:
        replaced.add("run")
    if data != before.data:
        replaced.add("data")
    remaining = dict(now)
    for name, declared in _declared().items():
        if declared.metadata.get("of") in replaced:
            remaining.pop(name, None)
    return _changed(remaining, {"run": run, "data": data})


def write(chosen: Texts) -> None:
    """Make ``chosen`` the address of the page, whole."""
    before = _here()
    latest = _replace_by(chosen)
    # Streamlit sends an assignment to the browser even where nothing changes.
    if latest != before:
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
    if drawn_by == page:
        return
    st.session_state[_BEHIND] = []
    if menu == _here():
        write(_for_other_pages(st.session_state[_LATEST]))


def menu_address(page: str) -> Address:
    """Return the address of the links that ``page`` draws: what every page knows."""
    current = _here()
    links = _for_other_pages(current)
    st.session_state[_LATEST] = current
    st.session_state[_MENU] = page, links
    return links


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
    by_value: bool = False,
) -> dict[str, Any]:
    """Return the keyword arguments that tie a widget to a declared field.

    It shows ``default`` as long as the reader has chosen nothing, or nothing that is
    ``among`` its options; ``named`` are these with their names on screen. ``shown`` and
    ``meant`` go from the field's value to the widget's and back, ``key`` tells it from
    other widgets of the field, and ``also`` are fields that change with it.
    ``by_value`` says that the widget takes an argument ``value``, as numbers, texts and
    sliders do.
    """
    widget_key = f"selection {name} {key}".rstrip()
    tied: dict[str, Any] = {"key": widget_key}
    allowed = named if among is None else among
    if named is not None:
        tied["options"] = list(named)
        tied["format_func"] = named.__getitem__
    texts = tuple(_here().get(name, ()))
    chosen = _value(_declared()[name], texts)
    value = default if chosen is None else shown(chosen)
    if allowed is not None and not _is_among(value, list(allowed)):
        value = default
    # The address decides what a widget shows, not what Streamlit remembers of it. But
    # what is written here goes to the browser, where it replaces what a quick reader
    # typed meanwhile. So it is not written where the widget has the value already.
    is_held = st.session_state.get(widget_key, value) == value
    if by_value and is_held and not private.is_written(widget_key):
        tied["value"] = value
    elif not private.is_shown(widget_key, value):
        st.session_state[widget_key] = value

    def moved() -> None:
        value = meant(st.session_state[widget_key])
        choose(**{**also, name: value})

    tied["on_change"] = moved
    return tied


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
        if value is None:
            text = ""
        elif isinstance(value, float):
            text = _number_text(value)
        else:
            text = written(value)
        return with_entry(_here().get(name, ()), entry_name, text)

    how["key"] = f"{how.get('key', '')} {entry_name}"
    return bound(name, default, shown=shown, meant=meant, **how)


def entry(texts: Iterable[str], name: str) -> str | None:
    """Return the value of one entry "name=value"; None if there is none."""
    values = {}
    for text in texts:
        escaped_name, _, value = text.partition("=")
        values[escaped_name] = value
    return values.get(_escaped(name))


def with_entry(texts: Iterable[str], name: str, value: str | None) -> tuple[str, ...]:
    """Return entries with one of them set; None takes it out."""
    escaped_name = _escaped(name)
    entries = [text for text in texts if text.partition("=")[0] != escaped_name]
    if value is not None:
        entries.append(f"{escaped_name}={value}")
    return tuple(entries)


def _escaped(name: str) -> str:
    """Return a name without "=", which ends the name of an entry."""
    return name.replace("%", "%25").replace("=", "%3D")


def _is_among(value: Any, allowed: list[Any]) -> bool:
    """Return whether a value, or every value of a list, is one of the allowed ones."""
    if isinstance(value, list):
        return all(member in allowed for member in value)
    return value in allowed


def _here() -> Address:
    """Return the address of the page as this session means it."""
    current = {name: st.query_params.get_all(name) for name in st.query_params}
    if private.went_back():
        st.session_state[_LATEST] = current
    elif current in st.session_state.get(_BEHIND, ()):
        # A click made before the browser heard of the latest choice states an older
        # address: it would undo that choice.
        current = st.session_state[_LATEST]
        st.query_params.from_dict(current)
    return current


def _replace_by(chosen: Texts) -> Address:
    """Make an address the latest of this session, and the current one an older one."""
    latest = {name: list(texts) for name, texts in chosen.items()}
    replaced = [*st.session_state.get(_BEHIND, ()), _here()]
    older = [address for address in replaced if address != latest]
    st.session_state[_BEHIND] = older[-_N_BEHIND:]
    st.session_state[_LATEST] = latest
    return latest


def _for_other_pages(current: Address) -> Address:
    # Names of what is unfolded are names of this page.
    return {name: texts for name, texts in current.items() if name != "opened"}


def _declared() -> dict[str, "Field[Any]"]:
    """Return every declared field by its name in the address."""
    declared = {}
    for place in Fields.__subclasses__():
        for place_field in fields(place):
            declared[place_field.name] = place_field
    return declared


def _changed(current: Texts, changes: Mapping[str, Any]) -> Address:
    texts = {name: list(values) for name, values in current.items()}
    for name, value in changes.items():
        if value is None or value == ():
            texts.pop(name, None)
        else:
            texts[name] = _texts(value)
    return texts


def _holds_several(declared: "Field[Any]") -> bool:
    return declared.type == tuple[str, ...]


def _value(declared: "Field[Any]", texts: tuple[str, ...]) -> Any:
    """Return the value that texts of an address state; None if they state none."""
    if not texts:
        return None
    if _holds_several(declared):
        return texts
    reader = _READ.get(str(declared.type), str)
    # A name that an address states twice counts as its last text.
    return reader(texts[-1])


def _number(kind: type[int] | type[float]) -> Callable[[str], Any]:
    def read(text: str) -> float | None:
        try:
            value = kind(text)
        except ValueError:
            return None
        # Anybody can write "nan" or "inf" into an address; no widget takes them.
        if not abs(value) < float("inf"):
            return None
        return value

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
        return [_number_text(value)]
    return [str(value)]


def _number_text(value: float) -> str:
    # Ten digits hold every step of a slider, and not the noise of its sums.
    return f"{value:.10g}"


_READ: dict[str, Callable[[str], Any]] = {
    str(int | None): _number(int),
    str(float | None): _number(float),
    str(bool | None): {"1": True, "0": False}.get,
    str(Subgroups | None): _record(Subgroups),
    str(MethodGrid | None): _record(MethodGrid),
}
