"""A report of a run or a sweep: one HTML file that needs nothing else."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from fairdash._validation import check_whole
from fairdash._wording import listing
from fairdash.reports import _facts, _sections
from fairdash.reports._blocks import Block, Section
from fairdash.reports._html import to_html
from fairdash.store import Store

_TITLES: dict[str, tuple[str, Callable[[_sections.Found], Sequence[Block]]]] = {
    "summary": ("What was found", _sections.summary),
    "local": ("Where the model is unfair", _sections.local),
    "tried": ("What was tried, and how the model was chosen", _sections.tried),
    "data": ("The data, without rows", _facts.data),
    "definitions": ("What the words mean", _facts.definitions),
    "reproduce": ("How to reproduce it", _facts.reproduce),
}
SECTIONS = tuple(_TITLES)
SMALLEST_GROUP = 10


@dataclass(frozen=True, eq=False)
class Report:
    """A finished report.

    Attributes
    ----------
    title : str
    facts : tuple of str
        Data set, model, when the run was made.
    sections : tuple of Section
        In the order asked for.
    least : int
        Fewest rows of a group that are shown.
    """

    title: str
    facts: tuple[str, ...]
    sections: tuple[Section, ...]
    least: int

    def to_html(self) -> str:
        """Return the report as one HTML page that loads nothing from elsewhere."""
        note = (
            f"Groups of fewer than {self.least} rows are suppressed. No row of the "
            "data is in this file."
        )
        return to_html(self.title, self.facts, self.sections, note)


def report(
    store: Store,
    run_id: str,
    *,
    sections: Sequence[str] = SECTIONS,
    comments: Mapping[str, str] | None = None,
    model: str | None = None,
    least: int = SMALLEST_GROUP,
    title: str | None = None,
) -> Report:
    """Return the report of a run or a sweep.

    Its numbers, figures and sentences are those of the pages, from the same functions.

    Parameters
    ----------
    store : Store
    run_id : str
        Of a run with at least one finished model.
    sections : sequence of str
        Which of `SECTIONS`, in the order they stand.
    comments : mapping of str to str, optional
        What to say under the title of a section, as plain text.
    model : str, optional
        Id or beginning of the label; by default the model that a sweep opens on, else
        the first that is not the plain one.
    least : int, default=10
        Subgroups in which a group has fewer rows are suppressed.
    title : str, optional
        By default the name of the run.

    Raises
    ------
    ValueError
        When there is no such run, model or section, or no model has finished.
    """
    comments = comments or {}
    check_whole("least", least, at_least=1)
    for name in [*sections, *comments]:
        if name not in _TITLES:
            message = f"There is no section {name!r} in a report"
            raise ValueError(f"{message}; there are {listing(SECTIONS)}.")
    silent = [name for name in comments if name not in sections]
    if silent:
        raise ValueError(f"The section {silent[0]!r} has a comment, and is not shown.")
    found = _sections.Found(store, store.snapshot(run_id, curves=False), model, least)
    run, label = found.snapshot.run, found.model.label
    made = tuple(
        Section(name, words, blocks, comments.get(name, ""))
        for name, (words, make) in ((name, _TITLES[name]) for name in sections)
        if (blocks := make(found))
    )
    facts = (*found.local.facts(found.dataset.name, found.subgroups), label)
    when = _facts.date(run.finished or run.created)
    return Report(title or run.name, (*facts, when), made, least)
