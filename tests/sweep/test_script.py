"""Scripts written of sweeps: they give its figures, and names in them stay text."""

import ast

import numpy as np
import pytest
from hostile_names import NAMES
from toys import people_csv, specification

from fairdash.datasets import SAMPLES
from fairdash.sweep import DataSource, SweepSpec, python_script, run_sweep


@pytest.fixture
def path(tmp_path):
    (tmp_path / "people.csv").write_bytes(people_csv())
    return tmp_path / "people.csv"


def execute(text):
    """Run a script among names of its own and return its results."""
    names = {}
    exec(compile(text, "script.py", "exec"), names)
    return names["results"]


def compare(results, table):
    assert len(results) == len(table)
    for column in table.columns[table.columns.str.match("validation_|test_")]:
        np.testing.assert_allclose(
            results[column], table[column], atol=1e-5, equal_nan=True, err_msg=column
        )


def test_the_script_of_a_sample_gives_the_figures_of_the_sweep():
    params = {"n_epochs": 3}
    spec = SweepSpec.model_validate(
        {
            "data": {"sample": min(SAMPLES, key=lambda name: SAMPLES[name].n_rows)},
            "methods": [
                {"method": "unconstrained", "params": params},
                {"method": "road", "params": {**params, "tau": [0.3, 0.6]}},
            ],
        }
    )
    text = python_script(spec)
    assert max(map(len, text.splitlines())) <= 100
    compare(execute(text), run_sweep(spec))


def test_the_script_of_a_file_gives_the_figures_of_the_sweep(path):
    spec = specification(path, seeds=[0, 2], scaling="minmax")
    table = run_sweep(spec)
    results = execute(python_script(spec))
    compare(results, table)
    assert results["seed"].tolist() == table["seed"].tolist()


HOSTILE = [
    '"""\nimport os\nos.system("echo gone")\n"""',
    'a quote at the end"',
    "{seeds} {0} %s\r\0\x0c\u2028",
]


@pytest.mark.parametrize("name", [*HOSTILE, *filter(None, NAMES)])
def test_names_stay_text_in_a_script(name):
    def spec(text):
        column = text.replace("\0", "")
        roles = {
            "target": "hired",
            "positive": text,
            "sensitive_feature": column,
            "features": ["age", f"{column} 2"],
            "subgroup_columns": ["age"],
        }
        return SweepSpec(
            data=DataSource(path=f"/tmp/{text}.csv", roles=roles, name=text),
            methods=({"method": "logistic"},),
        )

    def shape(node):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return "text"
        inner = [shape(child) for child in ast.iter_child_nodes(node)]
        return type(node).__name__, *inner

    script = ast.parse(python_script(spec(name)))
    assert shape(script) == shape(ast.parse(python_script(spec("plain"))))
    assert (ast.get_docstring(script, clean=False) or "").startswith(name)
    named = {n.value for n in ast.walk(script) if isinstance(n, ast.Constant)}
    assert {name, f"/tmp/{name}.csv"} <= named
