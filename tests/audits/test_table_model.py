"""Which probability of a model is the outcome's, and which columns it reads."""

import numpy as np
import pandas as pd
import pytest
from toys import MODELS, ROLES, people, pipeline, pipeline_as_onnx

import fairdash
from fairdash.audits import audited, look_alikes, worst_counterparts
from fairdash.brought import OnnxModel, model_columns, positive_scores
from fairdash.datasets import make_dataset, split
from fairdash.metrics import ignore_columns

READ = ["age", "skill", "branch", "origin"]


@pytest.mark.parametrize("kind", MODELS)
def test_an_onnx_pipeline_says_what_scikit_learn_says(kind):
    pytest.importorskip("onnxruntime")
    pytest.importorskip("skl2onnx")
    frame = people(seed=7)
    fitted = pipeline(kind)
    onnx_model = OnnxModel(pipeline_as_onnx(kind))
    assert onnx_model.classes_.tolist() == ["no", "yes"]
    proba = onnx_model.predict_proba(frame)
    np.testing.assert_allclose(proba, fitted.predict_proba(frame[READ]), atol=2e-6)
    assert model_columns(onnx_model, frame, ROLES) == READ
    assert model_columns(fitted, frame, ROLES) == READ
    yes = positive_scores(onnx_model, frame, "yes")
    np.testing.assert_allclose(yes, proba[:, 1], atol=1e-7)
    np.testing.assert_allclose(positive_scores(onnx_model, frame, "no"), proba[:, 0])


def test_a_column_that_does_not_fit_is_named():
    pytest.importorskip("onnxruntime")
    pytest.importorskip("skl2onnx")
    model = OnnxModel(pipeline_as_onnx(), "hire.onnx")
    frame = people(50)
    for wrong, why in (
        (frame.drop(columns="skill"), r"hire\.onnx reads a column 'skill'"),
        (frame.assign(age="old"), "Column 'age' holds 'old' in row 1"),
        (frame.assign(branch=1), "Column 'branch' holds 1 in row 1"),
        (
            frame.assign(branch=frame["branch"].where(frame.index != 4)),
            "Column 'branch' holds nan in row 5",
        ),
    ):
        with pytest.raises(ValueError, match=why):
            model.predict_proba(wrong)
    with pytest.raises(ValueError, match="reads 'branch', which is the outcome"):
        model_columns(model, frame, ROLES.model_copy(update={"target": "branch"}))


class Says:
    def __init__(self, proba, classes=None):
        self.proba = np.asarray(proba)
        if classes is not None:
            self.classes_ = np.asarray(classes)

    def predict_proba(self, frame):
        return self.proba[: len(frame)]


ROW = pd.DataFrame({"age": [1]})


@pytest.mark.parametrize(
    ("classes", "positive", "wanted"),
    [
        (["no", "yes"], "yes", 0.5),
        (["no", "yes"], "no", 0.2),
        ([0, 1], "1", 0.5),
        ([False, True], "yes", 0.5),
        (None, "yes", 0.5),
    ],
)
def test_the_outcome_is_the_class_of_its_name_else_the_last(classes, positive, wanted):
    model = Says([[0.2, 0.5]], classes)
    assert positive_scores(model, ROW, positive) == pytest.approx([wanted])


def test_several_positive_values_are_summed_and_wrong_answers_refused():
    levels = "yes", "maybe"
    three = Says([[0.2, 0.3, 0.5]], ["maybe", "no", "yes"])
    assert positive_scores(three, ROW, levels) == pytest.approx([0.7])
    for proba, classes, why in (
        ([[0.2, 0.8]], ["bad", "good"], "classes are bad, good; none of them is yes"),
        ([[0.2, 0.3, 0.5]], None, "classes are 3"),
        ([[-3.0, 4.0]], None, "first row 1 with 4"),
        ([[np.nan, np.nan]], None, "first row 1 with nan"),
        ([[0.5]], None, r"of shape \(1, 1\)"),
        ([0.5], None, r"of shape \(1,\)"),
    ):
        with pytest.raises(ValueError, match=why):
            positive_scores(Says(proba, classes), ROW, "yes")


FRAME = people()
DATA = make_dataset(FRAME, ROLES, name="People")


def test_any_model_is_audited_by_its_scores():
    fitted = pipeline()
    groups = FRAME["origin"]
    report = fairdash.audit(
        DATA.y, model=fitted, frame=FRAME, sensitive_features=groups
    )
    scores = fitted.predict_proba(FRAME[READ])[:, 1]
    wanted = fairdash.audit(DATA.y, scores=scores, sensitive_features=groups)
    pd.testing.assert_frame_equal(report.by_group, wanted.by_group)
    assert report.verdict == wanted.verdict
    with pytest.raises(ValueError, match="Give a `model` with its table"):
        fairdash.audit(DATA.y, model=fitted, sensitive_features=groups)


@pytest.fixture(params=["pipeline", "onnx"])
def model(request, tmp_path):
    if request.param == "pipeline":
        return audited(pipeline("boosting"), DATA, seed=3)
    pytest.importorskip("onnxruntime")
    pytest.importorskip("skl2onnx")
    path = tmp_path / "hire.onnx"
    path.write_bytes(pipeline_as_onnx("boosting"))
    return audited(fairdash.load(path), DATA, seed=3)


def test_individual_fairness_of_any_model_is_of_the_rows_it_reads(model):
    fitted = pipeline("boosting")
    test = split(DATA, 3).test
    people = DATA.frame.iloc[test][READ].reset_index(drop=True)
    p = fitted.predict_proba(people)[:, 1]
    assert model.rows.features == READ  # the sensitive column too
    # flips, recomputed by scikit-learn
    flips = look_alikes.flip_values(model.rows.dataset, ["origin"])
    changed = look_alikes.changed_people(model, flips)
    variants = [
        fitted.predict_proba(people.assign(origin=value))[:, 1]
        for value in ("here", "there")
    ]
    same = np.mean([(q > 0.5) == (p > 0.5) for q in variants], axis=0) == 1
    assert changed.share == pytest.approx(1 - same.mean(), abs=1e-9)
    assert changed.share > 0
    # counterparts differ as shown, and get what the model gives them as shown
    metric = ignore_columns(["origin"], model.rows.encoder.feature_names)
    counterparts = worst_counterparts(model, model.rows, metric=metric, fair_radius=0.0)
    assert len(counterparts) == len(people)
    for pair in counterparts.head(20).to_dict("records"):
        (change,) = pair["changes"]
        person = people.iloc[[pair["place"]]]
        assert change.column == "origin"
        assert change.before == person["origin"].iloc[0]
        counterpart = person.assign(origin=change.after)
        for p1, row in ((pair["before"], person), (pair["after"], counterpart)):
            assert p1 == pytest.approx(fitted.predict_proba(row)[0, 1], abs=1e-5)
