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

from fairdash.datasets import Subgroups
from fairdash.sweep import MethodGrid

_LATEST = "latest selection"  # of this session, as an address
_MENU = "menu drawn"  # by which page, and the address of its links
_AT = "at_"  # before a coordinate that has the name of a field
Point = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Selection:
    """One choice of everything that a reader can choose.

    Attributes
    ----------
    run, data : str or None
        Ids of a run and of the data set.
    models : tuple of str
        Models compared, by `fairdash.results.Setting.id`, in the order chosen.
    model : str or None
        The one model looked at, likewise.
    seed : int or None
        One seed; None for the mean over seeds.
    method : str or None
        The method of a sweep that sliders go through.
    point : tuple of (str, str)
        Its setting: parameter and value as text, see `fairdash.sweep`.
    limit : float or None
        The largest demographic parity difference (DI) that is accepted.
    map_metric : str or None
        What the map over lambda and tau shows.
    rule, most_di, most_worst : str, float or None
        How a model is found: by a rule, and within limits on DI and on Worst-1-DI.
    single, constants : bool or None
        Whether fronts are over single runs, and show models that do not decide.
    judge : str or None
        Rows on which fronts are chosen: "validation" or "test".
    across, up : str or None
        Metrics on the axes of a front.
    measure : str or None
        What is compared between groups.
    k : int or None
        How many of the largest gaps Worst-k-DI averages.
    subgroups : Subgroups or None
    searched : str or None
        "yes" once subgroups with gaps beyond chance are searched.
    upright : bool or None
        Whether subgroups stand along the horizontal axis.
    epoch, share, group : int, float, str or None
        Of the weights r: after which epoch, how many rows are the top, in which group.
    constraint : str or None
    scores : str or None
        Scores that are post-processed: a model's id, a column, an uploaded file.
    crossed : tuple of str
        Columns crossed with the sensitive one into the groups that are corrected.
    gamma, tolerance : float or None
        Width of the ramp (gamma) and allowed gap of rates (epsilon).
    target_rate : str or None
        "accuracy", "balanced" or a share (rho).
    rest : str or None
        "middle" for a ramp whose middle, not its start, lies at 0 when not corrected.
    score_error, risk : float or None
        What the bound of the excess risk assumes: the scores' error, and delta.
    rows : str or None
        "test" for a choice that is reported on test rows, no longer tuned.
    noise_source : str or None
        Where noise comes from: "simulated", "assumed", "column" or "sample".
    noise : float or None
        Share of groups that are replaced at random.
    levels : tuple of str
        Assumed share of wrong groups, "group=share".
    noisy : str or None
        Column of noisy groups.
    radius, slack : float or None
        Total variation radius (gamma) and by how much a rate may be worse (alpha).
    metric : str or None
        The fair metric, as `fairdash.audits.FairMetricSpec.text` writes it.
    pairs, pair : str, int or None
        Where pairs of people who are alike come from; which one is labelled, from 0.
    labels : tuple of str
        Labels given to pairs, "seed pair=1" for comparable.
    people : int or None
        Most people for whom a worst counterpart is searched.
    fair_radius : float or None
        Largest squared fair distance of a counterpart (epsilon).
    person : int or None
        Row of the table, from 1, of the person who is looked at.
    begin, edits : str or None, tuple of str
        What edits of a person begin with, "worst" for the worst counterpart, and the
        values edited, "row column=value".
    form : MethodGrid or None
        The method and parameters filled in on Train.
    n_seeds : int or None
        Seeds filled in there.
    train_rows : int or None
        Training rows filled in on Train and Sweep.
    sweep_form : tuple of str
        What is filled in on Sweep, "name=value".
    table : str or None
        Digest of a table that has no roles yet.
    files, file_columns : tuple of str
        Digests of files that a question needs, "role=digest", and columns in them.
    parts, against : str or None
        The column that divides the table models are held to; the table in detail.
    find, status : str or None
        Which runs are listed.
    """

    run: str | None = None
    data: str | None = None
    models: tuple[str, ...] = ()
    model: str | None = None
    seed: int | None = None
    method: str | None = None
    point: Point = ()
    limit: float | None = None
    map_metric: str | None = None
    rule: str | None = None
    most_di: float | None = None
    most_worst: float | None = None
    single: bool | None = None
    constants: bool | None = None
    judge: str | None = None
    across: str | None = None
    up: str | None = None
    measure: str | None = None
    k: int | None = None
    subgroups: Subgroups | None = None
    searched: str | None = None
    upright: bool | None = None
    epoch: int | None = None
    share: float | None = None
    group: str | None = None
    constraint: str | None = None
    scores: str | None = None
    crossed: tuple[str, ...] = ()
    gamma: float | None = None
    target_rate: str | None = None
    tolerance: float | None = None
    rest: str | None = None
    score_error: float | None = None
    risk: float | None = None
    rows: str | None = None
    noise_source: str | None = None
    noise: float | None = None
    levels: tuple[str, ...] = ()
    noisy: str | None = None
    radius: float | None = None
    slack: float | None = None
    metric: str | None = None
    pairs: str | None = None
    pair: int | None = None
    labels: tuple[str, ...] = ()
    people: int | None = None
    fair_radius: float | None = None
    person: int | None = None
    begin: str | None = None
    edits: tuple[str, ...] = ()
    form: MethodGrid | None = None
    n_seeds: int | None = None
    train_rows: int | None = None
    sweep_form: tuple[str, ...] = ()
    table: str | None = None
    files: tuple[str, ...] = ()
    file_columns: tuple[str, ...] = ()
    parts: str | None = None
    against: str | None = None
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

    def of_run(self, run: str | None, data: str | None) -> "Selection":
        """Return the selection after another run or data set was picked.

        What is chosen among the models of a run goes with the run, what is chosen
        among the columns of a table with the data set.
        """
        moved = replace(self, run=run, data=data)
        if run != self.run:
            moved = replace(
                moved, models=(), model=None, seed=None, method=None, point=()
            )
            moved = replace(moved, scores=None, metric=None, epoch=None)
            moved = replace(moved, person=None, begin=None, edits=())
            moved = replace(moved, form=None, n_seeds=None, train_rows=None)
        if data != self.data:
            moved = replace(moved, subgroups=None, crossed=(), levels=(), noisy=None)
            moved = replace(moved, pairs=None, pair=None, labels=(), group=None)
            moved = replace(moved, table=None, files=(), file_columns=())
            moved = replace(moved, sweep_form=(), parts=None, against=None)
        return moved


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
    shown, meant : callable, optional
        From the field's value to the widget's and back.
    key : str, optional
        Tells it from other widgets of the same field.
    also : mapping, optional
        Other fields that change when the reader moves the widget.
    """
    name = f"selection {field} {key}".rstrip()
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

    return {"key": name, "on_change": moved}


def bound_entry(
    field: str,
    name: str,
    default: Any,
    *,
    read: Callable[[str], Any] = str,
    written: Callable[[Any], str] = str,
    key: str = "",
    among: Iterable[Any] | None = None,
) -> dict[str, Any]:
    """Return what `bound` does, for one entry of a field of several, "name=value".

    Parameters
    ----------
    field, name : str
        Field of `Selection`, and name of the entry.
    default : object
        What the widget shows without an entry, and for one that cannot be read.
    read : callable, optional
        From text to the widget's value; raises ValueError or KeyError.
    written : callable, optional
        Back; of a number ten digits are kept.
    key, among
        As in `bound`.
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
        among=among,
        shown=shown,
        meant=meant,
        key=f"{key} {name}",
    )


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


def _model(kind: type[BaseModel]) -> Callable[[tuple[str, ...]], Any]:
    def read(values: tuple[str, ...]) -> BaseModel | None:
        try:
            return kind.model_validate_json(values[-1])
        except ValueError:
            return None

    return read


def _write(value: Any) -> str | list[str]:
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, BaseModel):
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
