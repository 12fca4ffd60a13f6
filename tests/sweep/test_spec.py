from contextlib import suppress

import pytest
import yaml
from cases import examples
from conftest import FUZZ
from hypothesis import example, given
from hypothesis import strategies as st
from toys import ROLES, people_csv, specification

from fairdash import sweep
from fairdash.datasets import SAMPLES, Cut, Remedy, remedies, split
from fairdash.sweep._train import load_dataset

MINIMAL = """
data:
  sample: {sample}
methods:
  - method: road
    params:
      fairness_weight: [0, 1]
"""


@pytest.fixture
def sample():
    return next(iter(SAMPLES))


JUNK = (
    "",
    "-1",
    "[]",
    "{}",
    "null",
    "1e999",
    ".nan",
    "'",
    "- a",
    "x: y",
    "\\t",
    "9" * 400,
)


@examples(100 * FUZZ)
@given(
    st.lists(st.tuples(st.integers(0, 60), st.sampled_from(JUNK)), max_size=3),
    st.integers(0, 400),
    st.text(max_size=3),
)
@example([(1, "-1")], 14, "")  # a path that is a number
def test_a_damaged_configuration_ends_in_no_other_error(changes, at, patch):
    lines = specification("people.csv", seeds=[0, 3]).to_yaml().splitlines()
    for place, junk in changes:
        name = lines[place % len(lines)].partition(":")[0]
        lines[place % len(lines)] = f"{name}: {junk}"
    text = "\n".join(lines)
    with suppress(ValueError):
        spec = sweep.SweepSpec.from_yaml(text[:at] + patch + text[at + 1 :])
        assert sweep.SweepSpec.from_yaml(spec.to_yaml()) == spec


def test_a_sample_brings_its_roles_and_subgroups(sample):
    spec = sweep.SweepSpec.from_yaml(MINIMAL.format(sample=sample))
    assert spec.data.roles == SAMPLES[sample].roles
    assert spec.data.name == SAMPLES[sample].title
    assert spec.subgroups == SAMPLES[sample].subgroups
    assert spec.seeds == (0,)
    assert spec.methods[0].params == {"fairness_weight": (0, 1)}


def test_a_path_is_taken_from_the_folder_of_the_file(tmp_path):
    (tmp_path / "people.csv").write_bytes(people_csv())
    spec = specification("people.csv")
    (tmp_path / "sweep.yaml").write_text(spec.to_yaml())
    parsed = sweep.SweepSpec.from_yaml(tmp_path / "sweep.yaml")
    assert parsed.data.path == str(tmp_path / "people.csv")


def test_subgroups_default_to_the_columns_of_the_roles():
    spec = sweep.SweepSpec.model_validate(
        {
            "data": {"path": "people.csv", "roles": ROLES},
            "methods": [{"method": "logistic"}],
        }
    )
    assert spec.subgroups.columns == ROLES.subgroup_columns
    assert spec.data.name == "people"


@pytest.mark.parametrize(
    "text, message",
    [
        ("data: [", "Not valid YAML"),
        ("42", "mapping with `data` and `methods`"),
        ("data: {}\nmethods: [{method: road}]", "exactly one of"),
        ("data: {sample: nowhere}\nmethods: [{method: road}]", "`sample` must be one"),
        (
            "data: {path: a.csv}\nmethods: [{method: road}]",
            "data.roles: Field required",
        ),
        ("methods: [{method: road}]", "data: Field required"),
    ],
)
def test_a_bad_file_is_explained_in_one_line(text, message):
    with pytest.raises(ValueError, match=message) as error:
        sweep.SweepSpec.from_yaml(text)
    assert "\n" not in str(error.value)


def test_an_axis_can_be_linear_logarithmic_or_a_list():
    text = """
data: {sample: loans}
di_limit: 0.1
methods:
  - method: road
    params:
      fairness_weight: {linear: [0, 5, 4]}
      tau: {log: [0.01, 1, 3]}
      learning_rate: [0.001, 0.002]
"""
    spec = sweep.SweepSpec.from_yaml(text)
    assert spec.di_limit == 0.1
    assert spec.methods[0].params == {
        "fairness_weight": (0, 1.66667, 3.33333, 5),
        "tau": (0.01, 0.1, 1),
        "learning_rate": (0.001, 0.002),
    }
    assert sweep.SweepSpec.from_yaml(spec.to_yaml()) == spec


@pytest.mark.parametrize(
    "axis, message",
    [
        ("{linear: [0, 5]}", "`tau` needs `linear: \\[first, last, number\\]`"),
        ("{log: [0, 1, 3]}", "`tau` is logarithmic, so its ends must be > 0"),
        ("{linear: [0, 5, 0]}", "`tau` can have 1 to 1000 values"),
        ("{cubic: [0, 5, 2]}", "one of \\['linear', 'log'\\]"),
    ],
)
def test_an_axis_that_makes_no_sense_is_refused(axis, message):
    text = (
        f"data: {{sample: loans}}\nmethods: [{{method: road, params: {{tau: {axis}}}}}]"
    )
    with pytest.raises(ValueError, match=message):
        sweep.SweepSpec.from_yaml(text)


HUGE = 10**400
RANGES = [
    ({"batch_size": 0}, "`batch_size` must be a whole number from 1 to 1,000,000"),
    ({"n_epochs": HUGE}, "`n_epochs`.*got a number of more than 18 digits"),
    ({"tau": float("nan")}, "`tau` must be a finite number > 0, got nan"),
    ({"tau": [0.1, [2]]}, "`tau` must be a finite number > 0"),
    ({"tau": [0.1, float("inf")]}, "`tau` must be a finite number > 0"),
    ({"predictor_layers": 5}, "`predictor_layers` must be one of"),
]
SEEDS = [
    ({"seeds": list(range(1001))}, "`seeds` can have 1 to 1000 values, got 1,?001"),
    ({"seeds": [HUGE]}, "`seeds`.*got a number of more than 18 digits"),
    ({"seeds": [True]}, "`seeds` must be a whole number from 0"),
    ({"train_rows": HUGE}, "train_rows"),
    ({"subgroups": {"min_size": HUGE}}, "min_size"),
]


@pytest.mark.parametrize(
    ("change", "message"),
    [({"methods": [{"method": "road", "params": p}]}, m) for p, m in RANGES] + SEEDS,
    ids=lambda part: part[:30] if isinstance(part, str) else "",
)
def test_what_has_no_end_is_refused_with_its_range(change, message):
    fields = specification("people.csv").model_dump(mode="json", exclude_none=True)
    fields |= change
    with pytest.raises(ValueError, match=message):
        sweep.SweepSpec.model_validate(fields)
    text = yaml.dump({**fields, **change})
    with pytest.raises(ValueError, match=message) as error:
        sweep.SweepSpec.from_yaml(text)
    assert len(str(error.value)) < 2000
    assert "pydantic" not in str(error.value)


def test_remedies_cuts_and_types_survive_yaml_and_the_script(tmp_path):
    path = tmp_path / "people.csv"
    path.write_bytes(people_csv(200))
    roles = ROLES.model_copy(
        update={
            "target": "skill",
            "positive": Cut(sign=">=", value=0.5),
            "features": ("age", "branch"),
            "crossed_with": ("hired",),
            "types": {"age": "category"},
        }
    )
    roles = remedies.apply_remedy(
        roles, Remedy(kind="recode", column="branch", changes={"works": "plant"})
    )
    spec = specification(path).model_copy(
        update={"data": sweep.DataSource(path=str(path), roles=roles, name="People")}
    )
    assert sweep.SweepSpec.from_yaml(spec.to_yaml()) == spec
    script = sweep.python_script(spec)
    names: dict = {}
    exec(script[: script.index("results =")], names)
    assert names["spec"] == spec
    dataset = load_dataset(spec.data)
    assert set(dataset.frame["branch"]) == {"office", "plant"}


def test_a_label_names_the_base_model_and_what_counts_with_it():
    usual = {"estimator": "logistic", "alpha": 0.005, "tolerance": 0.01}
    assert sweep.model_label("reductions", usual) == "Reductions α 0.005 ε 0.01"
    for name, words in (("lightgbm", "LightGBM"), ("gone", "gone")):
        label = sweep.model_label("reductions", {**usual, "estimator": name})
        assert label == f"Reductions ({words}) ε 0.01"


def test_as_many_rows_as_there_are_is_the_same_question(tmp_path):
    path = tmp_path / "people.csv"
    path.write_bytes(people_csv())
    plain = specification(path, methods=[{"method": "fair_log_loss"}])
    dataset = load_dataset(plain.data)
    assert len(split(dataset, 0).train) == 360
    for n_rows, same in ((359, False), (360, True), (10_000, True)):
        spec = plain.model_copy(update={"train_rows": n_rows})
        assert (spec.fitted_to(dataset) == plain) is same
    key = sweep.run_sweep(plain.model_copy(update={"train_rows": 360}))["key"]
    assert key.tolist() == [sweep.expand(plain, dataset.key)[0].key]
    with pytest.raises(ValueError, match="`train_rows` must be at least 4"):
        sweep.run_sweep(plain.model_copy(update={"train_rows": 3}))


def test_of_a_stored_run_stays_what_can_be_trained(tmp_path):
    spec = specification(tmp_path / "people.csv")
    stored = spec.model_dump(mode="json")
    plane = {"method": "road_plane", "params": {}, "effort": "plane"}
    mixed = {**stored, "methods": [plane, *stored["methods"]]}
    assert sweep.SweepSpec.of_run(mixed) == spec
    with pytest.raises(ValueError, match="road_plane: no longer supported"):
        sweep.SweepSpec.of_run({**stored, "methods": [plane]})
    refused = {"method": "road", "params": {"fairness_weight": -1}}
    some = {"method": "road", "params": {"fairness_weight": [-1, 2], "n_epochs": 4}}
    grids = sweep.SweepSpec.of_run({**stored, "methods": [refused, some]}).methods
    params = {"fairness_weight": (2,), "n_epochs": 4}
    assert grids == (sweep.MethodGrid(method="road", params=params),)
    with pytest.raises(ValueError, match="No setting of this run"):
        sweep.SweepSpec.of_run({**stored, "methods": [refused]})


def test_fields_of_earlier_versions_are_ignored():
    text = MINIMAL.format(sample="loans")
    spec = sweep.SweepSpec.from_yaml(text)
    older = f"{text}\nequal_models: true\ninitialisations: 2\ncross_validate: true"
    assert sweep.SweepSpec.from_yaml(older) == spec
