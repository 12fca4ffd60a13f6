"""A report of a run or a sweep: what it may hold, and what was asked of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fairdash._validation import check_whole
from fairdash._wording import listing, plural, utc
from fairdash.audits import own_scores
from fairdash.reports import _facts, _sections
from fairdash.reports._blocks import Block, Section
from fairdash.reports._written import only_data, to_html, to_markdown
from fairdash.store import Store
from fairdash.sweep import Thresholds

SMALLEST_GROUP = 10
_TITLES: dict[str, tuple[str, Callable[[_sections.Found], Sequence[Block]]]] = {
    "summary": ("What was found", _sections.summary),
    "local": ("Where the model is unfair", _sections.local),
    "tried": ("What was tried, and how the model was chosen", _sections.tried),
    "guaranteed": ("What is guaranteed", _sections.guaranteed),
    "corrected": ("What thresholds by group would change", _facts.corrected),
    "audited": ("Scores that were brought along", _facts.audited),
    "data": ("The data, without rows", _facts.data),
    "definitions": ("What the words mean", _facts.definitions),
    "reproduce": ("How to reproduce it", _facts.reproduce),
}
SECTION_TITLES = {name: title for name, (title, _) in _TITLES.items()}
SECTIONS = tuple(_TITLES)


@dataclass(frozen=True, eq=False)
class Report:
    """A finished report."""

    title: str
    facts: tuple[str, ...]  # data set, model, when the run was made
    sections: tuple[Section, ...]  # in the order asked for
    least: int  # fewest rows of a group that are shown
    # The model, the data set, and the model's metrics on test rows by name.
    results: Mapping[str, Any]

    @property
    def note(self) -> str:
        """What is not in it."""
        return (
            f"Groups of fewer than {self.least} rows are suppressed. No row of the "
            "data is in this file."
        )

    def to_html(self) -> str:
        """Return the report as one HTML page that loads nothing from elsewhere."""
        return to_html(self.title, self.facts, self.sections, self.note)

    def to_markdown(self) -> str:
        """Return the report as a model card: Markdown with metadata, no figures."""
        return to_markdown(
            self.title, self.facts, self.sections, self.note, self.results
        )


def report(
    store: Store,
    run_id: str,
    *,
    sections: Sequence[str] = SECTIONS,
    comments: Mapping[str, str] | None = None,
    model: str | None = None,
    least: int = SMALLEST_GROUP,
    title: str | None = None,
    limits: Mapping[str, float] | None = None,
    thresholds: Thresholds = "fixed",
) -> Report:
    """Return the report of a run or a sweep.

    Its numbers, figures and sentences are those of the pages, from the same functions.
    Raises ValueError when there is no such run, model or section, or no model has
    finished.

    Parameters
    ----------
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
        By default the name of the run; of a datasheet, sections of data alone, that of
        the data set.
    limits : mapping of str to float, optional
        What a guarantee is asked for, as `fairdash.sweep.choose_certified` has it, of a
        sweep; without any there is no such section.
    thresholds : optional
        Which thresholds are tried, as `fairdash.audits.guarantee` has them.
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
    snapshot = store.snapshot(run_id, curves=False)
    found = _sections.Found(
        store,
        snapshot.run.dataset_id,
        least,
        snapshot,
        model,
        limits or {},
        thresholds,
    )
    run, label = found.snapshot.run, found.model.label
    made = tuple(
        Section(name, words, blocks, comments.get(name, ""))
        for name, (words, make) in ((name, _TITLES[name]) for name in sections)
        if (blocks := make(found)) or name in comments
    )
    facts = (*found.local.facts(found.dataset.name, found.subgroups), label)
    when = utc(run.finished or run.created)
    if only_data(sections):
        title, facts = title or found.dataset.name, (found.dataset.name,)
    results = {
        "model": label,
        "dataset": found.dataset.name,
        "metrics": found.metrics.iloc[-1][list(_sections.MEASURED)].rename(
            _sections.MEASURED
        ),
    }
    return Report(title or run.name, (*facts, when), made, least, results)


def score_report(
    store: Store, dataset_id: str, *, least: int = SMALLEST_GROUP
) -> Report:
    """Return the report of the scores that were brought along with a data set.

    It needs no run. Raises ValueError when there is no such data set, or it has none.
    """
    check_whole("least", least, at_least=1)
    found = _sections.FoundData(store, dataset_id, least)
    names = [score.words() for score in own_scores(store, dataset_id)]
    if not names:
        raise ValueError(
            f"{found.dataset.name} has no scores to report on. Give a column of scores "
            "its role on Data, or train a model."
        )
    sections = (
        Section("audited", SECTION_TITLES["audited"], _facts.audited(found)),
        Section("data", SECTION_TITLES["data"], _facts.data(found)),
    )
    facts = found.dataset.name, plural(found.dataset.n_rows, "row"), *names
    return Report(found.dataset.name, facts, sections, least, {})
