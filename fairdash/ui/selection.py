"""What the reader has chosen: one object, read from the address and written whole.

The address is the only place where a choice is kept, so a reload, the Back button, a
second window and a link that was sent all show the same page. A page does three things:

* `selection()` reads the address; a value that is not of its type is dropped.
* ``**bound("k", 1)`` gives a widget its value from the selection, and writes the
  selection back when the reader moves it. Widgets need no key or default beside.
* `choose(k=2, seed=None)` changes the selection elsewhere: on a click, in a callback,
  and before a page that is opened with it.

None means not chosen: the page then shows its own default, which depends on nothing but
the run and the data set. Links of the menu carry the whole selection along, and
`arrive` adds what was chosen after the menu was drawn.
"""

from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import Any

import streamlit as st
from pydantic import BaseModel

from fairdash._record import Record
from fairdash.datasets import Subgroups
from fairdash.sweep import THRESHOLDS, MethodGrid

_LATEST = "latest selection"  # of this session, as an address
_MENU = "menu drawn"  # by which page, and the address of its links
_AT = "at_"  # before a coordinate that has the name of a field
WORST_LIMIT = 0.15  # on Worst-1-DI, where none was chosen
Point = tuple[tuple[str, str], ...]
# what is chosen among the models of a run, and among the columns of a table
_OF_RUN = (
    "models", "model", "seed", "method", "point", "scores", "metric", "epoch", "person",
    "begin", "edits", "form", "n_seeds", "train_rows", "promised",
)  # fmt: skip
_OF_DATA = (
    "subgroups", "crossed", "levels", "pairs", "group",
    "reference", "table", "files", "file_columns", "sweep_form", "parts", "against",
)  # fmt: skip


@dataclass(frozen=True)
class Selection:
    """One choice of everything that a reader can choose."""

    # Ids of a run and of the data set.
    run: str | None = None
    data: str | None = None
    # Models compared, by `fairdash.audits.Setting.id`, in the order chosen.
    models: tuple[str, ...] = ()
    # The one model looked at, likewise.
    model: str | None = None
    # One seed; None for the mean over seeds.
    seed: int | None = None
    # The method of a sweep that sliders go through.
    method: str | None = None
    # Its setting: parameter and value as text, see `fairdash.sweep`.
    point: Point = ()
    # The largest demographic parity difference (DI) that is accepted.
    limit: float | None = None
    # What the map over lambda and tau shows.
    map_metric: str | None = None
    # How a model is found: by a rule, and within limits on DI and on Worst-1-DI.
    rule: str | None = None
    most_di: float | None = None
    most_worst: float | None = None
    # What a guarantee is about: subgroups "named" or "found", which of those found, and
    # the thresholds tried, see `fairdash.sweep.candidate_table`.
    inside: str | None = None
    promised: tuple[str, ...] = ()
    cut: str | None = None
    # Whether fronts are over single runs, and show models that do not decide.
    single: bool | None = None
    constants: bool | None = None
    # Rows on which fronts are chosen: "validation" or "test".
    judge: str | None = None
    # Metrics on the axes of a front.
    across: str | None = None
    up: str | None = None
    # What is compared between groups.
    measure: str | None = None
    # How groups are compared in the figure: "difference" or "ratio".
    gap: str | None = None
    # How many wrong 0s a wrong 1 is as bad as, for the cost of errors.
    costs: float | None = None
    # Rows audited: "test", or "all" by cross-validation.
    audited: str | None = None
    # Group that others are compared with.
    reference: str | None = None
    # How many of the largest gaps Worst-k-DI averages.
    k: int | None = None
    subgroups: Subgroups | None = None
    # "yes" once subgroups with gaps beyond chance are searched.
    searched: str | None = None
    # Of the weights r: after which epoch, how many rows are the top, in which group.
    epoch: int | None = None
    share: float | None = None
    group: str | None = None
    constraint: str | None = None
    # Scores that are post-processed: a model's id, a column, an uploaded file.
    scores: str | None = None
    # Columns crossed with the sensitive one into the groups that are corrected.
    crossed: tuple[str, ...] = ()
    # Width of the ramp (gamma); "accuracy", "balanced" or a share (rho); allowed gap
    # of rates (epsilon).
    gamma: float | None = None
    target_rate: str | None = None
    tolerance: float | None = None
    # "middle" for a ramp whose middle, not its start, lies at 0 when not corrected.
    rest: str | None = None
    # What is unfolded below.
    opened: tuple[str, ...] = ()
    # "test" for a choice that is reported on test rows, no longer tuned.
    rows: str | None = None
    # Where noise comes from: "assumed" or "sample".
    noise_source: str | None = None
    # Assumed share of wrong groups, "group=share".
    levels: tuple[str, ...] = ()
    # Total variation radius (gamma) and by how much a rate may be worse (alpha).
    radius: float | None = None
    slack: float | None = None
    # The fair metric, as `fairdash.audits.FairMetricSpec.text` writes it.
    metric: str | None = None
    # Where pairs of people who are alike come from.
    pairs: str | None = None
    # Most people for whom a worst counterpart is searched.
    people: int | None = None
    # Largest squared fair distance of a counterpart (epsilon).
    fair_radius: float | None = None
    # Row of the table, from 1, of the person who is looked at.
    person: int | None = None
    # What edits of a person begin with, "worst" for the worst counterpart, and the
    # values edited, "row column=value".
    begin: str | None = None
    edits: tuple[str, ...] = ()
    # The method and parameters filled in on Train.
    form: MethodGrid | None = None
    # Seeds filled in there.
    n_seeds: int | None = None
    # Training rows filled in on Train and Sweep.
    train_rows: int | None = None
    # What is filled in on Sweep, "name=value".
    sweep_form: tuple[str, ...] = ()
    # Digest of a table that has no roles yet.
    table: str | None = None
    # Digests of files that a question needs, "role=digest", and columns in them.
    files: tuple[str, ...] = ()
    file_columns: tuple[str, ...] = ()
    # The column that divides the table models are held to; the table in detail.
    parts: str | None = None
    against: str | None = None
    # Stop of the guided tour, from 1.
    tour: int | None = None
    # Which runs are listed.
    find: str | None = None
    status: str | None = None

    @classmethod
    def parse(cls, address: Mapping[str, Iterable[str]]) -> "Selection":
        """Return the selection that an address states, by name a list of texts.

        Beside a method, names that are no field are the coordinates of `point`.
        """
        known = {field.name: field.type for field in fields(cls)}
        chosen: dict[str, Any] = {}
        point = []
        for name, texts in address.items():
            values = tuple(text for text in texts if text)
            if not values:
                continue
            if name not in known:
                point.append((_without_mark(name, known), values[-1]))
            elif name != "point":
                value = _READ.get(str(known[name]), _last)(values)
                if value is not None:
                    chosen[name] = value
        if "method" in chosen:
            chosen["point"] = tuple(sorted(point))
        return cls(**chosen)

    def address(self) -> dict[str, str | list[str]]:
        """Return what `parse` reads this selection from."""
        address: dict[str, str | list[str]] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if value is None or value == () or field.name == "point":
                continue
            address[field.name] = _write(value)
        known = {field.name for field in fields(self)}
        for name, text in self.point:
            address[_AT + name if name in known else name] = text
        return address

    def guarantee(self) -> dict[str, Any]:
        """Return thresholds and subgroups as `fairdash.audits.guarantee` takes them."""
        cut = self.cut if self.cut in THRESHOLDS else "fixed"
        inside = self.promised if self.inside == "found" else None
        return {"thresholds": cut, "inside": inside}

    def of_run(self, run: str | None, data: str | None) -> "Selection":
        """Return the selection after another run or data set was picked.

        What is chosen among the models of a run goes with the run, what is chosen
        among the columns of a table with the data set.
        """
        gone = (*_OF_RUN * (run != self.run), *_OF_DATA * (data != self.data))
        usual = {field.name: field.default for field in fields(self)}
        changes: dict[str, Any] = {name: usual[name] for name in gone}
        return replace(self, **changes | {"run": run, "data": data})


def selection() -> Selection:
    """Return what the address of the page states."""
    return Selection.parse(_here())


def write(chosen: Selection) -> None:
    """Make ``chosen`` the address of the page, whole."""
    address = chosen.address()
    st.session_state[_LATEST] = _lists(address)
    if st.session_state[_LATEST] != _here():
        st.query_params.from_dict(address)


def arrive(page: str) -> None:
    """Go on with what this session chose last, where the menu it came by is older.

    Links are drawn with a whole page. What is chosen afterwards, inside a fragment, is
    not in them; it is in no address but that of the page left.
    """
    drawn_by, menu = st.session_state.get(_MENU, (page, {}))
    if drawn_by != page and menu == _here():
        write(Selection.parse(st.session_state[_LATEST]))


def menu_address(page: str) -> dict[str, str | list[str]]:
    """Return the address of the links that ``page`` draws: the whole selection."""
    address = selection().address()
    st.session_state[_LATEST] = _lists(address)
    st.session_state[_MENU] = page, _lists(address)
    return address


def choose(**changes: Any) -> Selection:
    """Change some fields, write the selection back and return it."""
    chosen = replace(selection(), **changes)
    write(chosen)
    return chosen


def bound(
    field: str,
    default: Any,
    *,
    among: Iterable[Any] | None = None,
    named: Mapping[Any, str] | None = None,
    shown: Callable[[Any], Any] = lambda value: value,
    meant: Callable[[Any], Any] = lambda value: value,
    key: str = "",
    also: Mapping[str, Any] = MappingProxyType({}),
) -> dict[str, Any]:
    """Return the keyword arguments that tie a widget to a field of the selection.

    Parameters
    ----------
    field : str
        Of `Selection`.
    default : object
        What the widget shows as long as the reader has chosen nothing.
    among : iterable, optional
        What the widget can show; another value of the address is shown as ``default``.
    named : mapping, optional
        The options of the widget instead, each with its name on screen.
    shown, meant : callable, optional
        From the field's value to the widget's and back.
    key : str, optional
        Tells it from other widgets of the same field.
    also : mapping, optional
        Other fields that change when the reader moves the widget.
    """
    name = f"selection {field} {key}".rstrip()
    options = {} if named is None else _options(named)
    among = named if among is None else among
    chosen = getattr(selection(), field)
    value = default if chosen is None or chosen == () else shown(chosen)
    if among is not None:
        allowed = list(among)
        several = isinstance(value, list)
        fits = all(v in allowed for v in value) if several else value in allowed
        value = value if fits else default
    st.session_state[name] = value

    def moved() -> None:
        choose(**{**also, field: meant(st.session_state[name])})

    return {"key": name, "on_change": moved, **options}


def bound_entry(
    field: str,
    name: str,
    default: Any,
    *,
    read: Callable[[str], Any] = str,
    written: Callable[[Any], str] = str,
    **how: Any,
) -> dict[str, Any]:
    """Return what `bound` does, for one entry of a field of several, "name=value".

    ``read`` makes a widget's value of the text, or raises ValueError or KeyError: then,
    and without an entry, ``default`` is shown. ``written`` goes back; of a number ten
    digits are kept.
    """

    def shown(texts: tuple[str, ...]) -> Any:
        text = entry(texts, name)
        try:
            return default if text is None else read(text)
        except (KeyError, ValueError):
            return default

    def meant(value: Any) -> tuple[str, ...]:
        text = f"{value:.10g}" if isinstance(value, float) else written(value)
        now = getattr(selection(), field)
        return with_entry(now, name, "" if value is None else text)

    return bound(
        field,
        default,
        shown=shown,
        meant=meant,
        **{**how, "key": f"{how.get('key', '')} {name}"},
    )


def _options(named: Mapping[Any, str]) -> dict[str, Any]:
    return {"options": list(named), "format_func": named.__getitem__}


def entry(texts: Iterable[str], name: str) -> str | None:
    """Return the value of one entry "name=value"; None if there is none."""
    return dict(text.partition("=")[::2] for text in texts).get(_escaped(name))


def with_entry(texts: Iterable[str], name: str, value: str | None) -> tuple[str, ...]:
    """Return entries with one of them set; None takes it out."""
    others = [text for text in texts if text.partition("=")[0] != _escaped(name)]
    return (*others, *([] if value is None else [f"{_escaped(name)}={value}"]))


def _escaped(name: str) -> str:
    return name.replace("%", "%25").replace("=", "%3D")


def _here() -> dict[str, list[str]]:
    return {name: st.query_params.get_all(name) for name in st.query_params}


def _lists(address: Mapping[str, str | list[str]]) -> dict[str, list[str]]:
    return {name: [v] if isinstance(v, str) else v for name, v in address.items()}


def _last(values: tuple[str, ...]) -> str:
    return values[-1]


def _without_mark(name: str, known: Container[str]) -> str:
    bare = name.removeprefix(_AT)
    return bare if bare in known else name


def _switch(values: tuple[str, ...]) -> bool | None:
    return {"1": True, "0": False}.get(values[-1])


def _number(kind: type[int] | type[float]) -> Callable[[tuple[str, ...]], Any]:
    def read(values: tuple[str, ...]) -> float | None:
        try:
            value = kind(values[-1])
        except ValueError:
            return None
        return value if abs(value) < float("inf") else None

    return read


def _model(kind: type[BaseModel | Record]) -> Callable[[tuple[str, ...]], Any]:
    def read(values: tuple[str, ...]) -> BaseModel | Record | None:
        try:
            return kind.model_validate_json(values[-1])
        except ValueError:
            return None

    return read


def _write(value: Any) -> str | list[str]:
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, BaseModel | Record):
        return value.model_dump_json(exclude_defaults=True)
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, float):
        return f"{value:.10g}"
    return str(value)


_READ: dict[str, Callable[[tuple[str, ...]], Any]] = {
    str(int | None): _number(int),
    str(float | None): _number(float),
    str(tuple[str, ...]): tuple,
    str(bool | None): _switch,
    str(Subgroups | None): _model(Subgroups),
    str(MethodGrid | None): _model(MethodGrid),
}
