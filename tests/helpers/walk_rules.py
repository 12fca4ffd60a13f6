"""Rules that every page keeps in every state, each a function that yields faults.

A rule compares what a page shows, a `Reading`, with what is true of the model that its
chip names, `Facts`. A fault is one sentence on what stands there.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from walk_facts import MEASURES, PLAIN, Facts
from walk_reading import Reading

from fairdash import _wording

Rule = Callable[[Reading, Facts], Iterator[str]]
_MISSING = re.compile(
    r"(?<![\w.])(nan|NaN|None(?! of )|inf|NaT|<NA>|Infinity)(?![\w.])"
)
_CHANCE = re.compile(r"[Aa] fair model can reach (\S+) points")
_UP_TO = re.compile(r"Gaps up to (\S+) points are possible")
UNSPOKEN = re.compile(r"= \S+ in \d[\d.]*% of|\d% of (?!cases)[\w ]+: \w")
ALIKE = re.compile(
    r"nearly (everyone|no one)|\baccepts (all|none)\b|decides? alike|alike for|"
    r"accepts nearly all or none in most seeds"
)
_IDLE = re.compile(
    r"say nothing|not clearly better than guessing|keeps no limit|decides alike|"
    rf"{ALIKE.pattern}"
)
_FEWEST_OF_ADVICE = 8  # words of what is wrong and what to do
_FEW_WORDS = 4  # shorter lines are labels, which may repeat
_BEYOND_CHANCE = 2.5  # standard errors
_NARROWS = re.compile(r"narrows|[Nn]o clear gap remains|[Nn]o gap here is larger")


def nothing_fails(reading: Reading, facts: Facts) -> Iterator[str]:
    """No exception and no incident; a refusal names a way out."""
    yield from reading.failures
    for words in reading.refusals:
        if len(words.split()) < _FEWEST_OF_ADVICE:
            yield f"a refusal without advice: {words!r}"


def no_number_is_missing(reading: Reading, facts: Facts) -> Iterator[str]:
    """No "nan" and no "None" in a text; no dash on a card whose number exists."""
    for sentence in reading.sentences:
        if _MISSING.search(sentence):
            yield f"a text holds no number: {sentence!r}"
    for label, text in _true_cards(reading, facts).items():
        entries = reading.cards[label].value
        if entries == _wording.UNDEFINED != text:
            yield f"card {label!r} is a dash, the number is {text}"


def no_sentence_stands_twice(reading: Reading, facts: Facts) -> Iterator[str]:
    """A page says each thing once, whether it names the model or calls it "It"."""
    chip = facts.label_of(reading.chip) or "It"
    counts = Counter(sentence.replace(chip, "It") for sentence in reading.sentences)
    for sentence, times in counts.items():
        if times > 1 and len(sentence.split()) > _FEW_WORDS:
            yield f"{times} times on the page: {sentence!r}"


def rates_are_said_as_people_speak(reading: Reading, facts: Facts) -> Iterator[str]:
    """ "54% of sex Female are hired", not "hired = 1 in 54% of sex: Female"."""
    for sentence in reading.sentences:
        if UNSPOKEN.search(sentence):
            yield f"nobody speaks so: {sentence!r}"


def axes_span_the_data(reading: Reading, facts: Facts) -> Iterator[str]:
    """No axis without data, none from a constant far beyond the data."""
    for figure in reading.figures:
        for name in _axes_of(figure):
            yield from _axis_faults(figure, name)


def headlines_name_the_chip(reading: Reading, facts: Facts) -> Iterator[str]:
    """The verdict is about the model that chip, sliders and cards show."""
    chip = facts.label_of(reading.chip)
    if chip is None or not reading.headlines:
        return
    other_names = facts.named_in(reading.headlines[0]) - {chip, PLAIN}
    other_names -= {
        label for label in other_names if f", against {label}," in reading.prose
    }
    if other_names:
        yield f"the chip is {chip}, the headline names {', '.join(sorted(other_names))}"
    if "Model" in reading.cards and reading.cards["Model"].value != chip:
        yield f"the chip is {chip}, the sliders are at {reading.cards['Model'].value}"


def cards_are_of_the_chip(reading: Reading, facts: Facts) -> Iterator[str]:
    """Numbers on cards are those of the exported predictions of that model."""
    for label, text in _true_cards(reading, facts).items():
        entries = reading.cards[label].value
        if entries not in (text, _wording.UNDEFINED):
            yield f"card {label!r} shows {entries}, the number is {text}"


def figures_are_of_the_chip(reading: Reading, facts: Facts) -> Iterator[str]:
    """Marks stand where the exported predictions of their models put them."""
    if reading.page == "Sweep":
        yield from _front_faults(reading, facts)
    chip = facts.label_of(reading.chip)
    if chip is None or not reading.figures or not _is_computed(facts):
        return
    if reading.page == "Local fairness":
        marked = {
            label: [
                sorted(x for x in trace["x"] if x is not None)
                for trace in reading.figures[0]["data"]
                if trace.get("mode") == "markers"
                and str(trace.get("name")).startswith(label)
            ]
            for label in facts.models
        }
        if reading.controls.get("Models in the figure") != "before":
            marked[chip] = marked[chip] or [[]]  # it has to be there
        for label, marks in marked.items():
            local = sorted(facts.model(label).local_gaps.dropna()) if marks else []
            if local and not any(_close(xs, local) for xs in marks):
                yield f"the gaps of {label} are {np.round(local, 4)}, marks are {marks}"


def alike_is_said_of_models_that_decide_alike(
    reading: Reading, facts: Facts
) -> Iterator[str]:
    """That nearly everyone gets one decision is a fact of those that are named.

    A sentence that names no model is about the one that the chip shows.
    """
    notes = [card.note for card in reading.cards.values()]
    chip = facts.label_of(reading.chip)
    for sentence in [*reading.sentences, *notes]:
        sentence = sentence.replace(facts.table.name, "the table")
        if not ALIKE.search(sentence):
            continue
        for label in sorted(facts.named_in(sentence) or {chip} - {None}):
            models = [facts.model(label, part) for part in ("test", "validation")]
            if not any(model.decides_alike for model in models):
                share = models[0].means()["share"]
                yield f"{sentence!r}, and {label} decides {share:.1%} as 1"


def a_model_that_decides_nothing_is_said_so(
    reading: Reading, facts: Facts
) -> Iterator[str]:
    """A verdict says whether decisions say anything, and praises none that do not."""
    chip = facts.label_of(reading.chip)
    if chip is None or reading.page not in _JUDGED or not reading.headlines:
        return
    if not _is_computed(facts):  # of rankings and numbers nothing is decided
        return
    headline = reading.headlines[0]
    model = facts.model(chip)
    parts = ("test", "validation") if reading.page == "Sweep" else ("test",)
    idle = not all(facts.model(chip, part).decides for part in parts)
    if idle != bool(_IDLE.search(headline)):
        status = model.by_seed[["share", "alike", "idle"]].to_dict("list")
        yield f"{headline!r}, by seed {chip} is {status}"
    if idle and _NARROWS.search(headline):
        yield f"{headline!r}: {chip} does not decide"


def a_sweep_in_which_nothing_decides_says_so(
    reading: Reading, facts: Facts
) -> Iterator[str]:
    """It opens on the plain model; verdict and front say what to do, once each."""
    if reading.page != "Sweep" or not reading.headlines:
        return
    parts = ("validation", "test")
    decides = any(
        all(facts.model(label, part).decides for part in parts)
        for label in facts.models
    )
    headline = reading.headlines[0]
    if decides == ("No setting decides on these rows" in headline):
        yield f"{headline!r}, and a setting {'decides' if decides else 'does not'}"
    if decides == (reading.nothing in headline and bool(reading.nothing)):
        yield f"{headline!r}, and the front says {reading.nothing!r}"


def a_narrower_gap_names_its_price(reading: Reading, facts: Facts) -> Iterator[str]:
    """A change of a gap is said with the accuracy it costs beyond chance."""
    chip = facts.label_of(reading.chip)
    if chip in (None, PLAIN) or not reading.headlines:
        return
    headline = reading.headlines[0]
    if not _NARROWS.search(headline):
        return
    change, error = facts.accuracy_change(chip)
    if change < -_BEYOND_CHANCE * error and "accuracy" not in headline:
        yield f"{headline!r}: {chip} costs {-100 * change:.1f} points of accuracy"


def a_gap_that_turned_is_said(reading: Reading, facts: Facts) -> Iterator[str]:
    """Where the other group is now worse off, the page says that the gap turned."""
    chip = facts.label_of(reading.chip)
    if reading.page != "Local fairness" or chip in (None, PLAIN):
        return
    if facts.question.measure != "selection_rate":  # of which alone facts have signs
        return
    turned = facts.turned(chip)
    prose = reading.prose.replace(facts.table.name, "the table")
    if turned and "turned" not in prose:
        yield f"by {chip} the gap turned in {', '.join(turned)}, and nothing says so"


def a_plain_model_within_the_limit_is_said(
    reading: Reading, facts: Facts
) -> Iterator[str]:
    """Nothing is recommended where the plain model keeps the limit at no loss."""
    chip = facts.label_of(reading.chip)
    if reading.page != "Sweep" or chip in (None, PLAIN):
        return
    metric, limit = _limit(reading, facts)
    if metric != "gap":
        return
    plain, model = (facts.model(x, "validation").means() for x in (PLAIN, chip))
    keeps = plain["gap"] <= limit and plain["accuracy"] >= model["accuracy"]
    decides = all(facts.model(PLAIN, part).decides for part in ("validation", "test"))
    says = re.search(r"plain model keeps|nothing to fix", reading.prose)
    if keeps and decides and not says:
        yield (
            f"the plain model keeps the limit ({_wording.gap_size(plain['gap'])}) with "
            f"accuracy {plain['accuracy']:.1%}, {chip} has {model['accuracy']:.1%}, "
            f"and the page says {reading.headlines[0]!r}"
        )


def a_limit_kept_on_test_rows_is_said_kept(
    reading: Reading, facts: Facts
) -> Iterator[str]:
    """The card names the page's limit, and agrees with the gap on the card beside."""
    chip = facts.label_of(reading.chip)
    labels = [label for label in reading.cards if label.startswith("Within")]
    if not labels or chip is None:
        return
    metric, limit = _limit(reading, facts)
    unit = "point" if round(100 * limit, 9) == 1 else "points"
    expected = f"Within the limit of {round(100 * limit, 9):g} {unit} on the {metric}"
    if labels != [expected]:
        yield f"cards {labels} do not name the limit: {expected!r}"
    card = reading.cards[labels[0]]
    if metric not in _LIMITED:
        return
    gap = facts.model(chip).means()[_LIMITED[metric]]
    verdict = {"also on test rows": True, "not on test rows": False}.get(card.note)
    if verdict is not None and verdict != (gap <= limit):
        yield (
            f"{labels[0]!r} of {chip}: {card.value}, {card.note!r}; the gap on test "
            f"rows is {_wording.gap_size(gap)}, the limit {_wording.gap_size(limit)}"
        )


def intervals_hold_their_numbers(reading: Reading, facts: Facts) -> Iterator[str]:
    """In "16 points (2 to 30)" the number lies within its interval."""
    number = r"([−+]?\d[\d,]*\.?\d*)"
    pattern = rf"{number} points?[^().]*? \({number}(?: to |–){number}\)"
    for sentence in reading.sentences:
        for value, low, high in re.findall(pattern, sentence):
            value, low, high = (_as_number(text) for text in (value, low, high))
            if not min(abs(low), low) <= value <= max(abs(high), high) + 0.5:
                yield f"{value} is not within {low} to {high}: {sentence!r}"


def numbers_of_a_headline_are_computed(reading: Reading, facts: Facts) -> Iterator[str]:
    """Each share and each size of a gap in a verdict follows from the predictions."""
    chip = facts.label_of(reading.chip)
    if chip is None or reading.page not in _SAID or not reading.headlines:
        return
    if not _is_computed(facts):
        return
    # what chance and intervals reach: see the rules of their own
    text = _UP_TO.sub("", _CHANCE.sub("", reading.headlines[0]))
    for label in sorted(facts.models, key=len, reverse=True):
        text = text.replace(label, "")
    allowed = _numbers_of(facts, chip, _limit(reading, facts)[1])
    for number in re.findall(r"(?<![\w.])(\d+\.?\d*)(?= points?\b|%| pt\b)", text):
        digits = len(number.partition(".")[2])
        error = 0.51 * 10.0**-digits
        if not any(abs(float(number) - value) <= error for value in allowed):
            yield f"{number} in {reading.headlines[0]!r} follows from no prediction"


def what_chance_reaches_is_simulated(reading: Reading, facts: Facts) -> Iterator[str]:
    """The largest gap by chance is what decisions dealt by chance show."""
    chip = facts.label_of(reading.chip)
    card = reading.cards.get("Largest by chance")
    if chip is None or card is None or not _is_plain_rate(facts):
        return
    floor = 100 * facts.model(chip).by_chance()
    number = re.match(r"[\d.]+", card.value)
    if math.isnan(floor) or number is None:
        if not math.isnan(floor) or number is not None:
            yield f"the largest gap by chance is {card.value}, simulated {floor:.1f}"
        return
    if abs(float(number[0]) - floor) > 0.5 + _SIMULATED * floor:
        yield f"the largest gap by chance is {card.value}, simulated {floor:.1f} pt"
    for reach in _CHANCE.findall(reading.prose):
        if abs(float(reach) - float(number[0])) > _ROUNDED:
            yield f"a fair model can reach {reach}, the card says {card.value}"


def what_is_possible_is_an_end_of_an_interval(
    reading: Reading, facts: Facts
) -> Iterator[str]:
    """ "Gaps up to" is the far end of Newcombe's interval, for all pairs at once."""
    chip = facts.label_of(reading.chip)
    limits = _UP_TO.findall(reading.headlines[0]) if reading.headlines else []
    if chip is None or not limits or not _is_plain_rate(facts):
        return
    n_groups = facts.model(chip).rows["group"].nunique()
    pairs = n_groups * (n_groups - 1) // 2
    near, far = (facts.model(chip).reaches(1 - 0.05 / n) for n in (1, pairs))
    near.append(facts.model(chip).reach_of_largest())
    far.append(near[-1])
    for possible in map(float, limits):
        ends = [(100 * low, 100 * high) for low, high in zip(near, far, strict=True)]
        fits = (lo - _ROUNDED <= possible <= hi + _ROUNDED for lo, hi in ends)
        if not any(fits):
            yield f"gaps up to {possible:g} points are possible, the ends are {ends}"


def _is_plain_rate(facts: Facts) -> bool:
    """Tell whether rows weigh the same and the share decided 1 is in question."""
    weighted = facts.table.roles.sample_weight is not None
    return facts.question.measure == "selection_rate" and not weighted


def _limit(reading: Reading, facts: Facts) -> tuple[str, float]:
    """Return which gap a page limits, and to how much."""
    for label, value in reading.controls.items():
        if label.startswith("Limit on the ") and isinstance(value, float):
            return label.removeprefix("Limit on the "), value
    return "gap", facts.store.run(facts.run).spec["di_limit"]


_ROUNDED = 0.51  # of points without decimals
_SIMULATED = 0.15  # of a 95th percentile, of some hundred draws
_LIMITED = {"gap": "gap", "largest local gap": "worst"}
_SAID = ("Train", "Local fairness", "Sweep")
_JUDGED = (*_SAID, "Noisy groups", "Individual fairness")  # whether the model decides
RULES: tuple[Rule, ...] = (
    nothing_fails,
    no_number_is_missing,
    no_sentence_stands_twice,
    rates_are_said_as_people_speak,
    axes_span_the_data,
    headlines_name_the_chip,
    cards_are_of_the_chip,
    figures_are_of_the_chip,
    alike_is_said_of_models_that_decide_alike,
    a_sweep_in_which_nothing_decides_says_so,
    a_narrower_gap_names_its_price,
    a_model_that_decides_nothing_is_said_so,
    a_gap_that_turned_is_said,
    a_plain_model_within_the_limit_is_said,
    a_limit_kept_on_test_rows_is_said_kept,
    intervals_hold_their_numbers,
    numbers_of_a_headline_are_computed,
    what_chance_reaches_is_simulated,
    what_is_possible_is_an_end_of_an_interval,
)


def faults(reading: Reading, facts: Facts) -> list[str]:
    """Return what a page shows against a rule, each with the name of its rule."""
    facts = facts.asked(reading.question)
    return [
        f"{rule.__name__}: {fault}" for rule in RULES for fault in rule(reading, facts)
    ]


def _true_cards(reading: Reading, facts: Facts) -> dict[str, str]:
    chip = facts.label_of(reading.chip)
    if chip is None or not _is_computed(facts):
        return {}
    means = facts.model(chip).means()
    gap, worst = (_wording.gap_size(means[name]) for name in ("gap", "worst"))
    cards = {}
    if reading.page in ("Train", "Sweep"):
        cards = {
            "Accuracy": _wording.percent(means["accuracy"]),
            "Gap": gap,
            "Largest local gap": worst,
        }
    if reading.page == "Local fairness":
        cards = {"Largest gap": worst, "Gap over all rows": gap}
    return {label: text for label, text in cards.items() if label in reading.cards}


def _is_computed(facts: Facts) -> bool:
    """Tell whether the measure in question is one that `ModelFacts` computes."""
    return facts.question.measure in MEASURES


def _front_faults(reading: Reading, facts: Facts) -> Iterator[str]:
    for setting in reading.settings:
        label = setting["label"]
        metrics = setting["metrics"]
        means = facts.model(label).means()
        true = [means["accuracy"], means["gap"], means["worst"]]
        names = "accuracy", "demographic_parity_difference", "worst_1_di"
        drawn = [np.nan if metrics[n] is None else metrics[n] for n in names]
        if not np.allclose(drawn, true, atol=1e-5, equal_nan=True):
            yield f"{label} is drawn at {drawn}, it is at {true}"


def _numbers_of(facts: Facts, chip: str, limit: float) -> list[float]:
    """Return the numbers that a verdict may name, in percent and in points."""
    numbers: list[float] = []
    models = [facts.model(label) for label in (PLAIN, chip)]
    means = [model.means() for model in models]
    for item in means:
        numbers += item.values()
    numbers += [means[1][name] - means[0][name] for name in means[0]]
    for model in models:
        numbers += model.local_gaps.tolist()
        numbers += model.signed()["gap"].tolist()
        rows = model.rows.groupby(["seed", "subgroup", "group"], observed=True)[
            "decision"
        ].mean()
        numbers += rows.groupby(["subgroup", "group"], observed=True).mean().tolist()
        pooled = model.rows.groupby(["seed", "group"])["decision"].mean()
        rates = pooled.groupby("group").mean()
        numbers += rates.tolist()
        numbers += [a - b for a in rates for b in rates]
    numbers += (models[1].local_gaps - models[0].local_gaps).tolist()
    return [100 * abs(number) for number in [*numbers, limit] if math.isfinite(number)]


def _axes_of(figure: dict[str, Any]) -> list[str]:
    names = [name for name in figure["layout"] if re.fullmatch(r"[xy]axis\d*", name)]
    return [n for n in names if figure["layout"][n].get("visible", True) is not False]


def _axis_faults(figure: dict[str, Any], name: str) -> Iterator[str]:
    axis = figure["layout"][name]
    letter = name[0]
    piece = letter + name.removeprefix(f"{letter}axis")
    data: list[float] = []
    for trace in figure["data"]:
        if trace.get(f"{letter}axis", letter) == piece:
            data += _numbers_of_trace(trace, letter)
    title = (axis.get("title") or {}).get("text", "")
    if not data:
        if axis.get("range") is None:
            yield f"axis {title or name!r} has no data and no range"
        return
    if axis.get("range") is None or axis.get("type") == "category":
        return
    low, high = sorted(axis["range"])
    if axis.get("type") == "log":
        data = [math.log10(value) for value in data if value > 0]
    span = max(max(data) - min(data), 1e-9)
    beyond = max(min(data) - low, high - max(data))
    tall = letter == "y" and not title  # rows of labels
    if beyond > 3 * span and not tall and beyond > 1.0:
        spans = f"{low:g} to {high:g}", f"{min(data):g} to {max(data):g}"
        yield f"axis {title!r} goes from {spans[0]}, its data from {spans[1]}"


def _numbers_of_trace(trace: dict[str, Any], letter: str) -> list[float]:
    values = trace.get(letter)
    if not isinstance(values, list):
        return []
    numbers = (v for v in values if isinstance(v, int | float) and math.isfinite(v))
    return [float(value) for value in numbers]


def _close(first: Any, second: Any) -> bool:
    first = np.asarray(first, float)
    second = np.asarray(second, float)
    return first.shape == second.shape and bool(np.allclose(first, second, atol=1e-6))


def _as_number(text: str) -> float:
    return float(text.replace("−", "-").replace(",", "").replace("+", ""))
