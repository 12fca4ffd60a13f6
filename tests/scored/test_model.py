"""Models name themselves by a text that versions before this one wrote, too."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdash.audits import Setting
from fairdash.datasets import AddedScores, ScoreColumn
from fairdash.scored import Column, DecisionRule, File, ScoredModel, Trained, source_of

TRIAL = "4f" * 10
VENDOR = AddedScores(column="vendor", kind="margin", file="ab" * 32, has_model=True)
# source, its key and the id of its setting in an address: as versions up to 0.4 wrote
# them
WRITTEN = {
    "a column with a threshold": (
        ScoreColumn(column="decile_score", kind="score", threshold=5.0),
        'column {"column": "decile_score", "kind": "score", "threshold": 5.0, '
        '"positive": []}',
        "6aae658b",
    ),
    "a column that is called like a rule": (
        ScoreColumn(column="x decided by 0 top 20", kind="probability"),
        'column {"column": "x decided by 0 top 20", "kind": "probability", '
        '"threshold": null, "positive": []}',
        "4b300caf",
    ),
    "decisions in words": (
        ScoreColumn(column='Größe "}', kind="decision", positive=("yes", "maybe")),
        r'column {"column": "Gr\u00f6\u00dfe \"}", "kind": "decision", '
        '"threshold": null, "positive": ["yes", "maybe"]}',
        "52b34cc9",
    ),
    "scores of a file": (
        VENDOR,
        'column {"column": "vendor", "kind": "margin", "threshold": null, '
        f'"positive": [], "file": "{"ab" * 32}", "has_model": true}}',
        "7ace926e",
    ),
}
# suffix of a key, rule and split
RULED = [
    (" decided by -1 top 12.5", DecisionRule("top", 12.5), None),
    (" decided by 3 as_many", DecisionRule("as_many"), 3),
    (" decided by 0 custom -0.05", DecisionRule("custom", -0.05), 0),
    (" decided by 0 costs 1e+06", DecisionRule("costs", 1e6), 0),
    (" decided by 0 custom 1e-05", DecisionRule("custom", 1e-5), 0),
]


@pytest.mark.parametrize("score, key, setting_id", WRITTEN.values(), ids=WRITTEN)
def test_own_scores_keep_the_keys_and_ids_of_earlier_versions(score, key, setting_id):
    model = ScoredModel(source_of(score))
    assert model.key == key
    assert Setting(model.method, score.words(), (model,)).id == setting_id
    back = ScoredModel.from_key(key)
    assert back == model
    assert back.score == score
    assert type(back.score) is type(score)


def test_a_trained_setting_keeps_the_id_of_earlier_versions():
    params = {"fairness_weight": 2.1, "tau": 0.3}
    model = ScoredModel(Trained(TRIAL, "road", params), split=0)
    assert Setting("road", "ROAD", (model,)).id == "3dc1917e"
    assert model.key == model.source.address == TRIAL


@pytest.mark.parametrize("suffix, rule, split", RULED)
@pytest.mark.parametrize("source", [TRIAL, *(key for _, key, _ in WRITTEN.values())])
def test_a_key_with_a_rule_is_read_and_written_as_before(source, suffix, rule, split):
    model = ScoredModel.from_key(source + suffix)
    assert model.source == ScoredModel.from_key(source).source
    assert (model.rule, model.split) == (rule, split)
    assert model.key == source + suffix
    assert model.decided_by(DecisionRule()).key == source


@given(
    st.text(min_size=1),
    st.sampled_from(["as_many", "top 12.5", "costs 3", "custom -0.05"]),
    st.none() | st.integers(0, 99),
)
def test_no_name_of_a_column_is_taken_for_a_rule(name, rule, split):
    model = ScoredModel(
        source_of(ScoreColumn(column=name, kind="margin")), DecisionRule.of(rule), split
    )
    assert ScoredModel.from_key(model.key) == model


def test_a_model_says_what_it_is():
    trained = ScoredModel(Trained(TRIAL, "road"), split=3)
    column, added = (ScoredModel(source_of(s)) for s in (WRITTEN_COLUMN, VENDOR))
    assert isinstance(column.source, Column)
    assert isinstance(added.source, File)
    assert [m.is_own for m in (trained, column, added)] == [False, True, True]
    assert trained.score is None
    assert added.score == VENDOR
    assert column.source.address == "column decile_score"
    assert column.on_split(2).seed == 2
    with pytest.raises(ValueError, match="measured on all rows"):
        _ = column.seed


WRITTEN_COLUMN = WRITTEN["a column with a threshold"][0]


def test_trials_of_one_key_are_one_model_for_whatever_keeps_numbers():
    # a key names method and parameters, so that they need not be compared
    named = ScoredModel(Trained(TRIAL, "road", {"tau": 0.3}), split=0)
    bare = ScoredModel(Trained(TRIAL), split=0)
    assert named == bare
    assert hash(named) == hash(bare)
    assert named.contents != named.on_split(1).contents
    assert named.contents != named.decided_by(DecisionRule("top", 5)).contents


@pytest.mark.parametrize("key", ["column vendor", "column 3", "column {}"])
def test_a_column_without_what_it_holds_is_no_key(key):
    with pytest.raises(ValueError):
        ScoredModel.from_key(key)


def test_nothing_else_takes_a_key_apart():
    root = Path(__file__).parents[2]
    sources = [*(root / "fairdash").rglob("*.py"), *(root / "pages").glob("*.py")]
    parsing = {
        path.relative_to(root).as_posix()
        for path in sources
        for text in ('"column "', "decided by (", "decided by {")
        if text in path.read_text("utf-8")
    }
    assert parsing == {"fairdash/scored/model.py", "fairdash/scored/sources.py"}
