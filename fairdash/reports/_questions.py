"""The questions that a report answers: one registry, in the order they stand.

A new question is a function of a `RunSubject`, which returns blocks, and one
`add(ReportQuestion(...))` here: `blocks_of` makes blocks of an `Answer`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fairdash.reports import _facts, _sections
from fairdash.reports._blocks import Block


@dataclass(frozen=True)
class ReportQuestion:
    """A section of a report.

    Attributes
    ----------
    name : str
        By which it is chosen.
    title : str
        Its heading.
    blocks : function of `RunSubject`
        Its content; the section is left out where there is none.
    """

    name: str
    title: str
    blocks: Callable[[_sections.RunSubject], Sequence[Block]]


_QUESTIONS: dict[str, ReportQuestion] = {}


def add(question: ReportQuestion) -> ReportQuestion:
    """Add a question after the others; raise ValueError for a name that is taken."""
    if question.name in _QUESTIONS:
        raise ValueError(
            f"A report has a section {question.name!r} already, "
            f"{_QUESTIONS[question.name].title!r}. Give another `name`."
        )
    _QUESTIONS[question.name] = question
    return question


def questions() -> dict[str, ReportQuestion]:
    """Return all questions by their names."""
    return dict(_QUESTIONS)


SUMMARY = add(ReportQuestion("summary", "What was found", _sections.summary))
LOCAL = add(ReportQuestion("local", "Where the model is unfair", _sections.local))
TRIED = add(
    ReportQuestion(
        "tried", "What was tried, and how the model was chosen", _sections.tried
    )
)
AUDITED = add(
    ReportQuestion("audited", "Scores that were brought along", _facts.audited)
)
DATA = add(ReportQuestion("data", "The data, without rows", _facts.data))
DEFINITIONS = add(
    ReportQuestion("definitions", "What the words mean", _facts.definitions)
)
REPRODUCE = add(ReportQuestion("reproduce", "How to reproduce it", _facts.reproduce))
