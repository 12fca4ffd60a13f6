"""The measures: what each one is, in numbers and in words.

A new measure is one `add(Measure(...))`: pages, reports, the shell and sweeps read this
catalog. A package offers one by an entry point of the group ``fairdash.measures``.
"""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from string import Formatter
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from fairdash._arrays import FloatArray
from fairdash._validation import check_one_of

Rows = Callable[[FloatArray, FloatArray], NDArray[np.bool_]]
Takes = Literal["decision", "probability", "rank", "number"]
COST = "error_cost"
AREA = "auc"
#: What `fairdash.metrics.clause` fills in the clause of a measure.
CLAUSE_WORDS = frozenset(
    [
        "group", "other", "decided", "missed", "outcome", "points", "decimals",
        "often", "frequent", "higher", "more",
    ]
)  # fmt: skip
_OUTCOMES = ("classes", "number", "ranking")
_BETTER = ("high", "low", "favourable", "unfavourable")
_DECIDED = "{group} is {decided} {points} {often} than {other}"
_BY_OUTCOME = "intervals of means, by outcome"


@dataclass(frozen=True)
class Measure:
    r"""A measure of outcomes y and decisions or scores, in any rows.

    Attributes
    ----------
    key, name, symbol : str
        In code, on the screen, and as the paper has it.
    clause : str
        Who differs from whom, with words of `CLAUSE_WORDS` in braces.
    about, counted : functions of (y, decisions), for a rate
        Which rows it is about, and which of these it counts.
    values : function of (y, scores), for a mean
        One number a row.
    limits : (float, float)
        Least and most that a row can have. A mean that can be negative has no ratio.
    outcome : {"classes", "number", "ranking"}
        Of which kind of outcome it is: 0 and 1, numbers, or places in a ranking, whose
        predictions are scores. Pages offer measures of classes.
    support, among : str
        The rows it is about, after their number and before the clause.
    better : {"high", "low", "favourable", "unfavourable"}
        For whom it is good news: where it is high or low, or where there is more or
        less of a decision that is favourable.
    in_points : bool
        Whether differences are in percentage points, else in decimals.
    takes : {"decision", "probability", "rank", "number"}
        What it needs of a model: decisions, probabilities of the outcome, scores of
        which only the order counts, or predicted numbers. Scores that are no
        probabilities become such for it, and a note says how. Unless given, it follows
        from ``outcome``; ``of_scores`` is another word for a probability.

    Raises
    ------
    ValueError
        For a key that is no name, a clause with a word that nothing fills, and a
        measure that says neither which rows it counts nor what each row has.
    """

    key: str
    name: str
    symbol: str
    clause: str
    about: Rows | None = None
    counted: Rows | None = None
    values: Callable[[FloatArray, FloatArray], FloatArray] | None = None
    limits: tuple[float, float] = (0.0, 1.0)
    support: str = ""
    among: str = ""
    needs_outcome: bool = True
    of_scores: bool = False
    better: str = "high"
    in_points: bool = True
    interval: str = "Newcombe intervals"
    outcome: str = "classes"
    takes: Takes | None = None

    def __post_init__(self) -> None:
        usual: dict[str, Takes] = {"number": "number", "ranking": "rank"}
        takes = self.takes
        if takes is None:
            takes = "probability" if self.of_scores else "decision"
            takes = usual.get(self.outcome, takes)
        of_scores = self.outcome == "classes" and takes in ("probability", "rank")
        object.__setattr__(self, "takes", takes)
        object.__setattr__(self, "of_scores", of_scores)
        self._check()

    def _check(self) -> None:
        if not self.key.isidentifier():
            raise ValueError(
                f"`key` must be a name such as 'true_negative_rate', got {self.key!r}."
            )
        check_one_of("outcome", self.outcome, _OUTCOMES)
        check_one_of("better", self.better, _BETTER)
        fields = Formatter().parse(self.among + self.clause)
        words = {word for _, word, _, _ in fields if word is not None}
        if not words <= CLAUSE_WORDS:
            raise ValueError(
                f"The clause of {self.key!r} names {sorted(words - CLAUSE_WORDS)}, "
                f"which nothing fills. It may name {sorted(CLAUSE_WORDS)}."
            )
        is_rate = self.about is not None and self.counted is not None
        if not is_rate and self.values is None and self.key not in (COST, AREA):
            raise ValueError(
                f"{self.key!r} must have `about` and `counted`, for a rate, or "
                "`values`, for a mean."
            )

    @property
    def names_group_first(self) -> bool:
        """Whether what is said of it begins with the name of a group."""
        return not self.among and self.clause.startswith("{group}")


_CATALOG: dict[str, Measure] = {}


def add(measure: Measure) -> Measure:
    """Add a measure to the catalog; raise ValueError for a key that is taken."""
    if measure.key in _CATALOG:
        raise ValueError(
            f"There is a measure {measure.key!r} already, "
            f"{_CATALOG[measure.key].name}. Give another `key`."
        )
    _CATALOG[measure.key] = measure
    return measure


def measure_of(key: str) -> Measure:
    """Return a measure; an error cost with weights is that measure."""
    return _CATALOG[COST if error_costs(key) else key]


def rate_of(key: str) -> tuple[Rows, Rows]:
    """Return which rows a rate is about, and which of these it counts."""
    measure = _CATALOG[key]
    assert measure.about is not None, "a rate is about some rows"
    assert measure.counted is not None, "and counts some of these"
    return measure.about, measure.counted


def error_costs(measure: str) -> tuple[float, float] | None:
    """Return what a false positive and a false negative cost; None for other measures.

    "error_cost 3:1" says that one false positive is as bad as three false negatives;
    "error_cost" alone weighs them alike. Costs are scaled to a mean of 1, so that the
    cost of equal weights is the share of wrong decisions.

    Raises ValueError where the weights are no two numbers of 0 or more.
    """
    name, _, ratio = measure.partition(" ")
    if name != COST:
        return None
    try:
        positive, negative = (float(part) for part in (ratio or "1:1").split(":"))
    except ValueError:
        positive = negative = -1.0
    all_costs = positive + negative
    if not (min(positive, negative) >= 0 and 0 < all_costs < np.inf):
        raise ValueError(
            f"{measure!r} must weigh a false positive and a false negative by numbers "
            f"of 0 or more, such as '{COST} 3:1'."
        )
    return 2 * positive / all_costs, 2 * negative / all_costs


class Words(Mapping[str, str]):
    """A word of every measure; ``more`` adds the weights of an error cost."""

    def __init__(self, attribute: str, more: str = "") -> None:
        self._attribute, self._more = attribute, more

    def __getitem__(self, key: str) -> str:
        word: str = getattr(measure_of(key), self._attribute)
        ratio = key.partition(" ")[2].replace(":", " : ")
        return word + (self._more.format(ratio=ratio) if ratio else "")

    def __iter__(self) -> Iterator[str]:
        return iter(_CATALOG)

    def __len__(self) -> int:
        return len(_CATALOG)


class Keys(Sequence[str]):
    """The keys of some measures, in the order they were added."""

    def __init__(self, where: Callable[[Measure], bool]) -> None:
        self._where = where

    def _keys(self) -> list[str]:
        return [key for key, measure in _CATALOG.items() if self._where(measure)]

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: Any) -> Any:
        return self._keys()[place]

    def __len__(self) -> int:
        return len(self._keys())


RATES = Keys(lambda measure: measure.about is not None)
MEASURES = Keys(lambda measure: measure.outcome == "classes" and measure.key != COST)
NUMBER_MEASURES = Keys(lambda measure: measure.outcome == "number")
RANKING_MEASURES = Keys(lambda measure: measure.outcome == "ranking")
SCORE_MEASURES = Keys(lambda measure: measure.of_scores)
MEASURE_NAMES = Words("name", " {ratio}")
MEASURE_SYMBOLS = Words("symbol", ", {ratio}")
INTERVAL_KINDS = Words("interval")
RECALIBRATED = (
    "Scores become probabilities by isotonic regression, each tenth of the rows by the "
    "others."
)

_STUDENT = "Student's intervals"
_MEASURES = (
    Measure(
        "selection_rate", "Selection rate", "P(ŷ = 1)", _DECIDED,
        about=lambda y, d: d >= 0, counted=lambda y, d: d == 1,
        needs_outcome=False, better="favourable",
    ),
    Measure(
        "true_positive_rate", "True positive rate", "P(ŷ = 1 | y = 1)", _DECIDED,
        about=lambda y, d: y == 1, counted=lambda y, d: d == 1,
        support="with outcome 1", among="among rows with {outcome}, ",
        better="favourable",
    ),
    Measure(
        "false_positive_rate", "False positive rate", "P(ŷ = 1 | y = 0)", _DECIDED,
        about=lambda y, d: y == 0, counted=lambda y, d: d == 1,
        support="with outcome 0", among="among rows without {outcome}, ",
        better="favourable",
    ),
    Measure(
        "false_negative_rate", "False negative rate", "P(ŷ = 0 | y = 1)",
        "{group} is {missed} {points} {often} than {other}",
        about=lambda y, d: y == 1, counted=lambda y, d: d == 0,
        support="with outcome 1", among="among rows with {outcome}, ",
        better="unfavourable",
    ),
    Measure(
        "precision", "Precision", "P(y = 1 | ŷ = 1)",
        "{outcome} is {points} {frequent} for {group} than for {other}",
        about=lambda y, d: d == 1, counted=lambda y, d: y == 1,
        support="with decision 1", among="among rows {decided}, ",
    ),
    Measure(
        "accuracy", "Accuracy", "P(ŷ = y)",
        "decisions are right {points} {often} for {group} than for {other}",
        about=lambda y, d: d >= 0, counted=lambda y, d: d == y,
    ),
    Measure(
        "calibration", "Calibration", "mean score − P(y = 1)",
        "scores are {points} {higher} against outcomes for {group} than for {other}",
        values=lambda y, score: score - y, limits=(-1.0, 1.0), takes="probability",
        better="favourable", interval=_BY_OUTCOME,
    ),
    Measure(
        "brier", "Brier score", "mean (score − y)²",
        "the Brier score is {decimals} {higher} for {group} than for {other}",
        values=lambda y, score: (score - y) ** 2, takes="probability", better="low",
        in_points=False, interval=_BY_OUTCOME,
    ),
    Measure(
        AREA, "AUC", "P(score | y = 1 above score | y = 0)",
        "the AUC is {decimals} {higher} for {group} than for {other}",
        takes="rank", in_points=False,
        interval="DeLong intervals on the logit scale",
    ),
    Measure(
        COST, "Error cost", "mean cost of wrong decisions",
        "wrong decisions cost {decimals} a row {more} for {group} than for {other}",
        better="low", in_points=False, interval=_BY_OUTCOME,
    ),
    Measure(
        "mean_prediction", "Mean prediction", "mean ŷ",
        "the mean prediction is {decimals} {higher} for {group} than for {other}",
        values=lambda y, predicted: predicted, needs_outcome=False,
        better="favourable", in_points=False, interval=_STUDENT, outcome="number",
    ),
    Measure(
        "mean_error", "Mean error", "mean ŷ − y",
        "the mean error is {decimals} {higher} for {group} than for {other}",
        values=lambda y, predicted: predicted - y, limits=(-1.0, 1.0),
        better="favourable", in_points=False, interval=_STUDENT, outcome="number",
    ),
    Measure(
        "mean_absolute_error", "Mean absolute error", "mean |ŷ − y|",
        "the mean absolute error is {decimals} {higher} for {group} than for {other}",
        values=lambda y, predicted: np.abs(predicted - y), better="low",
        in_points=False, interval=_STUDENT, outcome="number",
    ),
    Measure(
        "exposure", "Exposure", "mean 1 / log₂(1 + rank), 1 over all rows",
        "exposure is {decimals} {higher} for {group} than for {other}",
        values=lambda y, predicted: exposure(predicted), needs_outcome=False,
        in_points=False, interval=_STUDENT, outcome="ranking",
    ),
    Measure(
        "top_share", "Share in the top 10%", "P(rank in the first tenth)",
        "{group} is in the top 10% {points} {often} than {other}",
        values=lambda y, predicted: share_of_top(predicted, 0.1), needs_outcome=False,
        better="favourable", outcome="ranking",
    ),
)  # fmt: skip
for _measure in _MEASURES:
    add(_measure)


def share_of_top(scores: FloatArray, share: float) -> FloatArray:
    """Return the chance of each row to be in the first ``share`` of a ranking.

    Rows of one score at its end share the places that are left, so that the top is as
    large as it says also where scores tie.
    """
    places = max(1, round(share * len(scores)))
    cut = np.sort(scores)[-places]
    above = scores > cut
    tied = scores == cut
    remaining = (places - above.sum()) / tied.sum()
    return np.where(above, 1.0, np.where(tied, remaining, 0.0))


def exposure(scores: FloatArray, places: int | None = None) -> FloatArray:
    r"""Return what attention each row gets in the ranking by falling score.

    :math:`1 / \log_2(1 + rank)`, divided by its mean over all rows; rows of one score
    share the mean of their places. A ranking that is read at so many ``places`` has
    neighbours that share one, so that rankings of unlike length are comparable.

    References
    ----------
    A. Singh and T. Joachims (2018), Fairness of exposure in rankings. KDD.
    """
    rank = np.arange(1, len(scores) + 1)
    if places is not None:
        rank = -(-rank * places // len(scores))  # rounded up
    discount = 1 / np.log2(1 + rank)
    levels, place = np.unique(-scores, return_inverse=True)
    order = np.sort(place)
    mean = np.bincount(order, discount, len(levels)) / np.bincount(order)
    attention: FloatArray = mean[place] / discount.mean()
    return attention


for _entry in entry_points(group="fairdash.measures"):
    try:
        add(_entry.load())
    except Exception as error:  # of another package: it must not stop an audit
        warnings.warn(
            f"The measure {_entry.name!r} of {_entry.value} is excluded: {error}",
            stacklevel=1,
        )


def better_when(measure: str, *, favourable: bool = True) -> str:
    """Return for whom a measure is good news: where it is "high" or "low".

    With a favourable positive decision a group is better off with more of it, deserved
    or not: high selection, true positive and false positive rate and scores that are
    too high, low false negative rate; with an unfavourable one the other way round.
    High precision, accuracy and AUC, and a low Brier score and error cost are better in
    either case.
    """
    better = measure_of(measure).better
    if better in ("high", "low"):
        return better
    return "high" if favourable == (better == "favourable") else "low"


def best_off(measure: str, value: FloatArray, *, favourable: bool = True) -> int:
    """Return the place of the group that is best off, the first if none is known."""
    if np.isnan(value).all():
        return 0
    high = better_when(measure, favourable=favourable) == "high"
    return int(np.nanargmax(value) if high else np.nanargmin(value))


def measure_in_text(measure: str) -> str:
    """Return a measure's name inside a sentence: "false positive rate", "AUC"."""
    name = MEASURE_NAMES[measure]
    proper = name.isupper() or name.startswith("Brier")
    return name if proper else name[0].lower() + name[1:]
