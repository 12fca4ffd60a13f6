"""A report of a run or a sweep, made of the questions that are chosen."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fairdash._wording import listing, plural, utc
from fairdash.audits import trials
from fairdash.reports import _facts, _sections
from fairdash.reports._blocks import Section
from fairdash.reports._questions import AUDITED, DATA, questions
from fairdash.reports._run_record import run_record
from fairdash.reports._small_groups import SMALLEST_GROUP
from fairdash.reports._written import to_html, to_markdown
from fairdash.scored import USUAL, DecisionRule
from fairdash.store import Store

_NOTE = (
    f"Groups of fewer than {SMALLEST_GROUP} rows are suppressed. No row of the data is "
    "in this file."
)
# Of a model card, for the hub that shows it.
_METADATA = """---
library_name: fairdash
pipeline_tag: tabular-classification
tags: [tabular-classification, fairness]
---

"""


@dataclass(frozen=True, eq=False)
class Report:
    """A finished report, of a run as of what a rule asks for."""

    title: str
    facts: tuple[str, ...]  # data set, model, when the run was made
    sections: tuple[Section, ...]  # in the order asked for
    note: str  # what is not in it
    is_card: bool = False  # of a model, with metadata as Markdown
    record: Mapping[str, Any] = field(default_factory=dict)  # its facts, for JSON

    def to_html(self) -> str:
        """Return the report as one HTML page that loads nothing from elsewhere."""
        return to_html(self.title, self.facts, self.sections, self.note)

    def to_markdown(self) -> str:
        """Return the report as Markdown, without figures; of a run a model card."""
        text = to_markdown(self.title, self.facts, self.sections, self.note)
        return f"{_METADATA}{text}" if self.is_card else text

    def to_json(self) -> str:
        """Return the facts that the report says, as JSON.

        Of a run these are its data, dates and models, of a pack its tables, too; empty
        of scores that were brought along.
        """
        content = {"title": self.title, **self.record}
        return json.dumps(content, ensure_ascii=False, indent=1)


def report(
    store: Store,
    run_id: str,
    *,
    sections: Sequence[str] | None = None,
    model: str | None = None,
    rule: DecisionRule = USUAL,
) -> Report:
    """Return the report of a run or a sweep.

    Its numbers, figures and sentences are those of the pages, from the same functions.
    Raises ValueError when there is no such run, model or section, or no model has
    finished.

    Parameters
    ----------
    run_id : str
        Of a run with at least one finished model.
    sections : sequence of str, optional
        Names of the questions that are answered, in the order they stand; by default
        all.
    model : str, optional
        Id or beginning of the label; by default the model that a sweep opens on, else
        the first that is not the plain one.
    rule : DecisionRule, optional
        How scores of all models become decisions.
    """
    by_name = questions()
    names = list(by_name) if sections is None else sections
    for name in names:
        if name not in by_name:
            message = f"There is no section {name!r} in a report"
            raise ValueError(f"{message}; there are {listing(by_name)}.")
    snapshot = store.snapshot(run_id, curves=False)
    run = snapshot.run
    subject = _sections.RunSubject(store, run.dataset_id, snapshot, model, rule)
    label = subject.model.label
    answered = []
    for name in names:
        blocks = by_name[name].blocks(subject)
        # A question that a run cannot answer has no section.
        if blocks:
            answered.append(Section(name, by_name[name].title, blocks))
    facts = subject.local.facts(subject.dataset.name, subject.subgroups)
    when = utc(run.finished or run.created)
    facts = (*facts, label, f"decided 1: {rule.words()}", when)
    record = run_record(subject)
    return Report(run.name, facts, tuple(answered), _NOTE, is_card=True, record=record)


def score_report(store: Store, dataset_id: str) -> Report:
    """Return the report of the scores that were brought along with a data set.

    It needs no run. Raises ValueError when there is no such data set, or it has none.
    """
    subject = _sections.DataSubject(store, dataset_id)
    names = [score.words() for score in trials.own_scores(store, dataset_id)]
    dataset = subject.dataset
    if not names:
        raise ValueError(
            f"{dataset.name} has no scores to report on. Give a column of scores its "
            "role on Data, or train a model."
        )
    sections = (
        Section(AUDITED.name, AUDITED.title, _facts.audited(subject)),
        Section(DATA.name, DATA.title, _facts.data(subject)),
    )
    facts = dataset.name, plural(dataset.n_people, "row"), *names
    return Report(dataset.name, facts, sections, _NOTE)
