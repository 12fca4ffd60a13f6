"""All documents about one table: each fact they share has one value."""

import json
import math
from io import StringIO

import numpy as np
import pandas as pd
import pytest
from cases import sampled
from reading import ReportPage
from scipy.stats import fisher_exact

from fairdash.audits import tables
from fairdash.audits.tables.limits import check_policy
from fairdash.audits.tables.policy import Policy
from fairdash.metrics.group.cells import Cells
from fairdash.reports import adverse_pack, ll144_pack, show

SOURCE = tables.Source("people.csv", "ab" * 32, 900, "2026-03-01T12:00:00Z")
COLUMNS = ("race", "sex")


def table_of(seed):
    """Return a random table, and what is asked of it.

    It has 2 to 5 groups, some rare, a third value of the decision, missing groups and,
    by turns, weights, units, outcomes, a named reference and one or two columns.
    """
    rng = np.random.default_rng(seed)
    n = int(rng.integers(80, 900))
    names = np.array(["White", "Black", "Pacific", "Asian", "Other"])
    shares = rng.dirichlet(np.full(int(rng.integers(2, 6)), 0.8)) + 0.004
    names = names[: len(shares)]
    race = rng.choice(names, n, p=shares / shares.sum()).astype(object)
    race[: len(names)] = names  # each is there
    rate = dict(zip(names, rng.uniform(0.05, 0.95, len(names)), strict=True))
    hired = rng.random(n) < np.array([rate[name] for name in race])
    decision = np.where(hired, "yes", "no").astype(object)
    decision[rng.random(n) < rng.choice([0, 0.1])] = "later"
    decision[:2] = ["yes", "no"]
    race[rng.random(n) < rng.choice([0, 0.08])] = None
    frame = pd.DataFrame(
        {
            "race": race,
            "sex": rng.choice(["f", "m", None], n, p=[0.5, 0.46, 0.04]),
            "hired": decision,
            "good": rng.choice(["yes", "no"], n),
            "weight": rng.uniform(0.5, 3, n).round(2),
            "person": rng.integers(0, n // 2, n),
        }
    )
    kind = seed % 4
    arguments = {"groups": COLUMNS[: 1 + seed % 2], "decision": "hired=yes"}
    if kind == 1:
        arguments["weight"] = "weight"
    if kind == 2:
        arguments["unit"] = "person"
    if seed % 3 == 0:
        arguments["outcome"] = "good=yes"
    if seed % 5 == 0 and len(arguments["groups"]) == 1:
        arguments["reference"] = "White"
    if kind in (1, 2):
        arguments["favourable"] = bool(rng.integers(2))
    return frame, arguments


def flat(part, path=()):
    """Return every number and text of JSON by its path."""
    if isinstance(part, dict):
        pairs = part.items()
    elif isinstance(part, list | tuple):
        pairs = enumerate(part)
    else:
        return {path: part}
    return {
        k: v for name, below in pairs for k, v in flat(below, (*path, name)).items()
    }


def assert_same(one, other, what=""):
    left = flat(one)
    right = flat(other)
    assert left.keys() == right.keys(), what
    for path, value in left.items():
        if isinstance(value, float) and not isinstance(right[path], str | None):
            assert value == pytest.approx(right[path], abs=1e-12), (what, path)
        else:
            assert value == right[path], (what, path)


def number(value):
    return math.nan if value is None else value


@pytest.mark.parametrize("seed", sampled(range(24), 5))
def test_no_two_documents_about_a_table_contradict_each_other(seed):
    frame, arguments = table_of(seed)
    question = tables.TableQuestion(**arguments)
    audited = tables.audit_table(frame, question, SOURCE)
    audit = json.loads(json.dumps(audited.to_dict(), allow_nan=False))
    limits = [
        {"measure": "selection_rate", "of": "gap", "at_most": 0.1},
        {"measure": "selection_rate", "of": "ratio", "at_least": 0.8},
    ]
    checked = check_policy(frame, Policy(**arguments, limits=limits), SOURCE)
    check = json.loads(json.dumps(checked.to_dict(), allow_nan=False))
    facts = audit["facts"]
    assert_facts_are_those_of_the_rows(facts, frame, question)
    assert_same(facts, check["facts"], "check")
    assert_estimates_are_the_facts(audit, facts)
    assert_estimates_are_the_facts(check, facts)
    assert_verdicts_have_the_sense_of_the_facts(audited, check, facts)
    assert_the_page_shows_the_facts(show(audited).page, facts)
    if question.weight or question.unit or not question.favourable:
        for pack in (adverse_pack, ll144_pack):
            with pytest.raises(ValueError, match=r"This pack (counts|is about)"):
                pack(frame, question, SOURCE)
        return
    adverse = json.loads(adverse_pack(frame, question, SOURCE).to_json())
    assert_same(facts, {key: adverse[key] for key in facts}, "adverse impact")
    assert_tests_are_the_facts(adverse["tables"], facts)
    law = json.loads(ll144_pack(frame, question, SOURCE).to_json())
    assert_the_law_counts_the_same_people(law, facts, frame)


def assert_facts_are_those_of_the_rows(facts, frame, question):
    """Counts by pandas, and whom the reference of the facts says it is."""
    used = frame.dropna(subset=list(question.groups))
    assert facts["rows"] == len(used)
    assert sum(part["rows"] for part in facts["excluded"]) == len(frame) - len(used)
    assert facts["source"]["digest"] == SOURCE.digest
    values = {
        part["value"]: (part["rows"], part["positive"])
        for part in facts["values"]
        if part["option"] == "decision"
    }
    sizes = used["hired"].value_counts()
    assert values == {v: (int(n), v == "yes") for v, n in sizes.items()}
    part = facts["parts"][0]
    counts = (used["hired"] == "yes").groupby(used["race"]).agg(["size", "sum"])
    assert {g["group"]: (g["n"], g["positive"]) for g in part["groups"]} == {
        name: (row["size"], row["sum"]) for name, row in counts.iterrows()
    }
    for part in facts["parts"]:
        reference = part["reference"]
        n_groups = len(part["groups"])
        rates = {g["group"]: g["rate"] for g in part["groups"]}
        sign = 1 if question.favourable else -1
        difference = sign * rates[reference["group"]]
        better = {name for name, rate in rates.items() if sign * rate > difference}
        assert {name for name, *_ in reference["ahead"]} == better
        assert all(name in reference["why"] for name in better)
        assert reference["named"] == (question.reference is not None)
        degrees = n_groups - 1, n_groups * (n_groups - 1) // 2
        assert part["pairs"] == degrees[not reference["named"]]


def assert_estimates_are_the_facts(document, facts):
    names = {"difference": "gap_in_selection_rate", "ratio": "ratio_of_selection_rate"}
    estimates = pd.DataFrame(document["estimates"])
    estimates["measure"] = estimates["measure"].str.replace(" ", "_")
    for part in facts["parts"]:
        of_feature = estimates[estimates["feature"] == part["feature"]].set_index(
            "group"
        )
        rates = of_feature[of_feature["measure"] == "selection_rate"]
        for group in part["groups"]:
            row = rates.loc[group["group"]]
            assert row["pairs"] == 1
            assert row["value"] == pytest.approx(group["rate"], abs=1e-12)
            assert row["low"] == pytest.approx(group["low"], abs=1e-12)
        for pair in part["comparisons"]:
            for kind, measure in names.items():
                of_measure = of_feature[of_feature["measure"].str.contains(measure)]
                row = of_measure.loc[pair["group"]]
                assert row["reference"] == pair["reference"]
                assert row["pairs"] == part["pairs"]
                for end, key in (("value", kind), ("low", f"{kind}_low")):
                    assert number(row[end]) == pytest.approx(
                        number(pair[key]), abs=1e-12, nan_ok=True
                    )
                wide = pair[f"{kind}_low"], pair[f"{kind}_alone_low"]
                assert None in wide or wide[0] <= wide[1] + 1e-12
    assert document["excluded"] == facts["excluded"]
    assert document["source"] == facts["source"]
    assert document["rows"] == facts["rows"]


def assert_verdicts_have_the_sense_of_the_facts(audited, check, facts):
    """No finding turns a sign, and a limit that is surely broken is no pass."""
    pairs = {
        (part["feature"], pair["group"], pair["reference"]): pair
        for part in facts["parts"]
        for pair in part["comparisons"]
    }
    for feature, finding in audited.findings:
        if finding.measure == "selection_rate" and finding.subgroup is None:
            pair = pairs[feature, finding.group, finding.reference]
            assert finding.value == pytest.approx(pair["difference"], abs=1e-12)
            sure = pair["difference_low"] > 0 or pair["difference_high"] < 0
            if finding.reason.startswith("within chance among"):
                assert sure  # by itself, of several columns
                assert not finding.sure
                continue
            assert finding.sure == (sure and not pair["too_few"])
    (_, ratios) = check["limits"]
    for judged in ratios["judged"]:
        if judged["reason"].startswith("compared with "):  # another than all others
            assert judged["status"] != "pass"
            continue
        pair = next(
            pair
            for (feature, group, _), pair in pairs.items()
            if (feature, group) == (judged["feature"], judged["group"])
        )
        if judged["value"] is not None:
            assert judged["value"] == pytest.approx(pair["ratio"], abs=1e-12)
        if number(pair["ratio_high"]) < 0.8:
            assert judged["status"] != "pass"


def assert_the_page_shows_the_facts(page, facts):
    counts = (
        ReportPage(page).table("Rows and positive decisions by group").reset_index()
    )
    rows = iter(counts.to_dict("records"))
    for part in facts["parts"]:
        pairs = {pair["group"]: pair for pair in part["comparisons"]}
        for group in part["groups"]:
            row = next(rows)
            assert row["Group"] == group["group"]
            assert int(row["Rows"]) == group["n"]
            assert int(row["Rows decided positive"]) == group["positive"]
            if group["group"] in pairs:
                assert row["Compared with"] == part["reference"]["group"]


def assert_tests_are_the_facts(shown, facts):
    for part in facts["parts"]:
        groups = {group["group"]: group for group in part["groups"]}
        table = {row["group"]: row for row in shown[part["feature"]]}
        assert table.keys() == {pair["group"] for pair in part["comparisons"]}
        for pair in part["comparisons"]:
            row = table[pair["group"]]
            group_row = groups[pair["group"]]
            reference_row = groups[pair["reference"]]
            assert row["reference"] == part["reference"]["group"]
            assert (row["n"], row["selected"]) == (
                group_row["n"],
                group_row["positive"],
            )
            assert row["ratio"] == pair["ratio"]
            assert row["low"] == pair["ratio_low"]
            assert row["alone_low"] == pair["ratio_alone_low"]
            ratio = number(pair["ratio"])
            assert row["below_four_fifths"] == (ratio < 0.8)
            cells = [
                [g["positive"], g["n"] - g["positive"]]
                for g in (group_row, reference_row)
            ]
            assert row["p_fisher"] == pytest.approx(fisher_exact(cells)[1])
            if row["deviations"] is not None:
                beyond = abs(row["deviations"]) > 2
                assert beyond == (row["p_two_deviations"] < 0.0455002639)
                assert beyond or not row["two_deviations"]
                assert row["p_at_once"] >= row["p_two_deviations"]
                assert row["two_deviations"] == (row["p_at_once"] < 0.0455002639)


def assert_the_law_counts_the_same_people(law, facts, frame):
    """Where nobody is unknown elsewhere the law's tables are of the audit's rows."""
    assert law["source"] == facts["source"]
    assert law["rows"] == len(frame)
    by_name = {part["feature"]: part for part in facts["parts"]}
    assert law["tables"].keys() == by_name.keys()
    for part in law["parts"]:
        audit = by_name[part["feature"]]
        assert part["rows"] - part["only_here"] == facts["rows"]
        assert part["rows"] + part["unknown"]["n"] == law["rows"]
        if part["only_here"]:
            continue
        assert_same(audit, {key: part[key] for key in audit}, "Local Law 144")
        pairs = {
            (pair["group"], pair["reference"]): pair for pair in audit["comparisons"]
        }
        rates = {row["category"]: row for row in law["tables"][part["feature"]]}
        for group in audit["groups"]:
            row = rates[group["group"]]
            assert row["rate"] == pytest.approx(group["rate"], abs=1e-12)
            pair = pairs.get((group["group"], part["largest"]))
            if row["ratio"] is None or pair is None:
                continue
            assert row["ratio"] == pytest.approx(number(pair["ratio"]), abs=1e-12)
            if audit["reference"]["named"]:
                continue
            for kind in ("low", "high", "alone_low", "alone_high"):
                end = row[kind], pair[f"ratio_{kind}"]
                assert number(end[0]) == pytest.approx(
                    number(end[1]), abs=1e-9, nan_ok=True
                )


def test_a_third_value_of_a_decision_is_named_where_rows_are_counted():
    frame = pd.DataFrame(
        {
            "sex": ["f", "m"] * 60,
            "hired": ["yes", "no", "no", "later", "yes", "yes"] * 20,
        }
    )
    question = tables.TableQuestion(groups=("sex",), decision="hired=yes")
    words = (
        "Of hired only yes counts as positive; later (20 rows) and no (40 rows) count "
        "as not positive"
    )
    assert words in tables.count_rows(frame, question).words
    for pack in (adverse_pack, ll144_pack):
        assert words in pack(frame, question, SOURCE).to_markdown()
    plain = frame.replace({"hired": {"later": "no"}})
    assert tables.count_rows(plain, question).words == "0 rows excluded"


def test_the_small_group_that_is_selected_most_is_named_beside_the_reference():
    """Of Pacific all 4 are selected; they are too few to compare others with."""
    race = np.repeat(["White", "Black", "Pacific"], [332, 244, 4])
    picked = np.r_[np.arange(332) < 151, np.arange(244) < 77, np.ones(4, bool)]
    frame = pd.DataFrame({"race": race, "hired": np.where(picked, "yes", "no")})
    question = tables.TableQuestion(groups=("race",), decision="hired=yes")
    text = adverse_pack(frame, question, SOURCE).to_markdown()
    assert (
        "Compared with White (151 of 332 selected): the highest rate of the groups with"
        " enough rows. Pacific (4 of 4 selected) has a higher rate, but has too few "
        "rows." in text
    )
    assert (
        "Black: 77 of 244 selected (31.6%), against 151 of 332 of White (45.5%)."
        in text
    )
    assert "That is 20 fewer people than at the rate of both together." in text


def test_a_group_far_above_the_reference_is_beyond_two_deviations():
    frame = pd.DataFrame(
        {
            "sex": np.repeat(["f", "m"], [100, 100]),
            "hired": np.where(
                np.r_[np.arange(100) < 60, np.arange(100) < 30], "y", "n"
            ),
        }
    )
    question = tables.TableQuestion(groups=("sex",), decision="hired=y", reference="m")
    (row,) = tables.adverse_impact(frame, question).tables["sex"].to_dict("records")
    assert row["deviations"] > 2
    assert row["two_deviations"]


def test_what_the_law_asks_for_is_given_or_listed_as_missing():
    frame = pd.read_csv(
        StringIO("sex,race,hired\n" + "f,x,yes\nm,y,no\nf,y,no\nm,x,yes\n" * 30)
    )
    question = tables.TableQuestion(groups=COLUMNS, decision="hired=yes")
    fields = json.loads(ll144_pack(frame, question, SOURCE).to_json())["fields"]
    assert fields["These numbers were computed"] == SOURCE.date
    assert fields["Distribution date of the tool"].startswith("missing: ")
    assert fields["Source and explanation of the data"].startswith("missing: ")
    arguments = {"distributed": "1 May 2026", "data_source": "Applications of 2025"}
    pack = ll144_pack(frame, question, SOURCE, arguments)
    fields = json.loads(pack.to_json())["fields"]
    assert fields["Distribution date of the tool"] == "1 May 2026"
    assert "Applications of 2025" in pack.to_markdown()


def test_facts_are_of_the_rows_that_the_audit_counted(monkeypatch):
    frame, asked = table_of(0)
    question = tables.TableQuestion(**asked)
    audit = tables.audit_table(frame, question, SOURCE)
    counts = []
    counted = Cells.of
    monkeypatch.setattr(
        Cells,
        "of",
        lambda *args, **kwargs: counts.append(1) or counted(*args, **kwargs),
    )
    again = tables.TableFacts.of_audits(audit.rows, audit.audits, question)
    assert not counts
    of_rows = tables.TableFacts.of(audit.rows, audit.rows.decided, question)
    assert counts
    for name, part in of_rows.parts.items():
        for facts in (audit.facts.parts[name], again.parts[name]):
            pd.testing.assert_frame_equal(facts.groups, part.groups)
            pd.testing.assert_frame_equal(facts.comparisons, part.comparisons)


@pytest.mark.parametrize("values", [(1.0, 2.0), (True, False)])
def test_groups_that_are_numbers_have_one_name_in_all_documents(values):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"sex": rng.choice(values, 400), "hired": rng.integers(0, 2, 400)}
    )
    question = tables.TableQuestion(groups=("sex",), decision="hired=1")
    audit = tables.audit_table(frame, question, SOURCE)
    in_audit = audit.audits["sex"].by_group["group"].astype(str)
    assert audit.facts.parts["sex"].groups["group"].tolist() == in_audit.tolist()
    scored = frame.assign(score=rng.normal(size=400))
    question = tables.TableQuestion(groups=("sex",), score="score", threshold=0.0)
    impact = tables.adverse_impact(scored, question).tables["sex"]
    assert np.isfinite(impact["smd"]).all()
