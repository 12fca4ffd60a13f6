"""Write a sweep as a short script of public calls."""

from dataclasses import asdict
from pathlib import Path
from textwrap import indent
from typing import Any

from fairdash import __version__
from fairdash._escaping import as_literal
from fairdash.datasets import FOLDS, SAMPLES, TableFormat
from fairdash.methods import CATALOG
from fairdash.sweep._plan import (
    STEP,
    Stack,
    expand,
    plan,
)
from fairdash.sweep._spec import DataSource, Scalar, SweepSpec

WIDTH = 88

SCRIPT = '''\
"""{title}

Written by fairdash {version}; run it with Python to get the same figures.
"""

{system}import pandas as pd

from fairdash.datasets import {dataset_names}
from fairdash.methods import {method_names}
from fairdash.metrics import evaluate
from fairdash.sweep import decisions

{data}

subgroups = {subgroups}

groups = dataset.sensitive_features
labels = subgroups.label(dataset.frame)
rows = []
for {turns}:
    parts = split(dataset, seed{fold})
    train = {train}
    X = encode(dataset, parts.train, scaling={scaling}).X
    models = []

{models}
    for model, scores in models:
        row = {{"method": type(model).__name__, "seed": seed{column}}}
        row |= model.get_params()
        for part, where in (("validation", parts.validation), ("test", parts.test)):
            metrics = evaluate(
                dataset.y[where],
                scores[where],
                sensitive_features=groups[where],
                subgroups=labels.iloc[where],
                min_size=subgroups.min_size,{weighted}
            )
            known = decisions(dataset.y[where], scores[where]{weight})
            metrics = metrics.join(known)
            row |= metrics.add_prefix(f"{{part}}_").iloc[0].to_dict()
        rows.append(row)

results = pd.DataFrame(rows)
print(results.to_string())
'''

NEEDS_TABLE = """\
if len(sys.argv) != 2:
    sys.exit(f"usage: python {sys.argv[0]} TABLE  (the file that was trained on)")
"""

ONE_MODEL = """\
model = {estimator}
model.fit(X[train], dataset.y[train], sensitive_features=groups[train])
models.append((model, model.predict_proba({rows})[:, 1]))
"""

MANY_MODELS = """\
estimator = {estimator}
points = {points}
fitted = estimator.fit_many(
    points, X[train], dataset.y[train], sensitive_features=groups[train]
)
models += [(model, model.predict_proba({rows})[:, 1]) for model in fitted]
"""


def python_script(spec: SweepSpec) -> str:
    """Return a script whose ``results`` hold the figures of ``run_sweep(spec)``."""
    one = {
        "seeds": spec.seeds[:1],
        "initialisations": 1,
        "cross_validate": None,
    }
    trials = expand(spec.model_copy(update=one), dataset_key="")
    stacks = plan(trials, max_models=len(trials))
    stacks.sort(key=lambda stack: trials.index(stack.trials[0]))
    starts = spec.initialisations
    state = f"seed + {STEP:_} * again" if starts > 1 else "seed"
    data, names = _data(spec.data)
    classes = sorted({CATALOG[stack.method].class_name for stack in stacks})
    models = "\n".join(_models(stack, state) for stack in stacks)
    if starts > 1:
        often = f"{starts} if fold == 0 else 1" if spec.cross_validate else f"{starts}"
        models = f"for again in range({often}):\n{indent(models, '    ')}"
    names = (*names, "Subgroups", "encode", "split")
    system = "import sys\n" if spec.data.table else ""
    turns, fold, column = f"seed in {spec.seeds}", "", ""
    if spec.cross_validate:
        system += "from itertools import product\n"
        turns = f"seed, fold in product({spec.seeds}, range({FOLDS}))"
        fold, column = ", fold=fold", ', "fold": fold'
    train = "parts.train"
    if spec.train_rows is not None:
        names = (*names, "training_rows")
        train = f"training_rows(dataset, seed, {spec.train_rows}{fold})"
    weight = "sample_weight=dataset.weight_of(where)"
    weighs = spec.data.roles.sample_weight is not None
    return SCRIPT.format(
        title=_literal(spec.data.name)[1:-1],  # whatever it holds, it stays text
        version=__version__,
        dataset_names=", ".join(sorted(set(names))),
        method_names=", ".join(classes),
        system=f"{system}\n" if system else "",
        data=data,
        subgroups=_call("Subgroups", _chosen(spec.subgroups)),
        turns=turns,
        fold=fold,
        column=column,
        train=train,
        scaling=_literal(spec.scaling),
        models=indent(models, "    "),
        weighted=f"\n                {weight}," if weighs else "",
        weight=f", {weight}" if weighs else "",
    )


def _data(source: DataSource) -> tuple[str, tuple[str, ...]]:
    """Return the lines that make the data set, and the names they need."""
    if source.sample and source.roles == SAMPLES[source.sample].roles:
        lines = f"dataset = load_sample({_literal(source.sample)})"
        return lines, ("load_sample",)
    names: tuple[str, ...] = ("Roles", "make_dataset", "read_table")
    before, key = "", ""
    if source.table:
        before, key = NEEDS_TABLE, ", key=DIGEST"
        before += f"DIGEST = {_literal(source.table)}\n"
        options = {"digest": "DIGEST"}
        if source.table_format is not None:
            names += ("TableFormat",)
            usual, said = asdict(TableFormat()), asdict(source.table_format)
            other = {key: one for key, one in said.items() if one != usual[key]}
            options["table_format"] = _call("TableFormat", other)
        frame = _call_text("read_table", {"": "sys.argv[1]"} | options)
    elif source.sample:
        frame = f"read_table(SAMPLES[{_literal(source.sample)}].path)"
        names += ("SAMPLES",)
    else:
        frame = f"read_table({_literal(str(Path(str(source.path))))})"
    roles = _call("Roles", _chosen(source.roles))
    made = f"make_dataset(table, roles, name={_literal(source.name)}{key})"
    lines = f"{before}table = {frame}\nroles = {roles}\ndataset = {made}"
    return lines, names


def _models(stack: Stack, state: str) -> str:
    method = CATALOG[stack.method]
    name = method.class_name
    rows = "X, sensitive_features=groups" if method.needs_groups else "X"
    if len(stack.trials) == 1:
        params = {**stack.trials[0].params}
        return ONE_MODEL.format(estimator=_estimator(name, params, state), rows=rows)
    points = "".join(f"    {_literal(point)},\n" for point in stack.points)
    return MANY_MODELS.format(
        estimator=_estimator(name, stack.params, state),
        points=f"[\n{points}]",
        rows=rows,
    )


def _estimator(name: str, params: dict[str, Scalar], state: str) -> str:
    arguments = {key: _literal(value) for key, value in params.items()}
    return _call_text(name, arguments | {"random_state": state})


def _chosen(model: Any) -> dict[str, Any]:
    """Return the fields of a pydantic model that differ from their defaults."""
    return model.model_dump(exclude_defaults=True)


def _call(name: str, arguments: dict[str, Any]) -> str:
    return _call_text(name, {key: _literal(value) for key, value in arguments.items()})


def _call_text(name: str, arguments: dict[str, str]) -> str:
    pairs = [f"{key}={text}" if key else text for key, text in arguments.items()]
    line = f"{name}({', '.join(pairs)})"
    if len(line) <= WIDTH - 20:
        return line
    return f"{name}(\n" + "".join(f"    {pair},\n" for pair in pairs) + ")"


def _literal(value: Any) -> str:
    """Return Python text of a value, strings in double quotes."""
    if isinstance(value, str):
        return as_literal(value)
    if isinstance(value, dict):
        pairs = [f"{_literal(key)}: {_literal(item)}" for key, item in value.items()]
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, tuple | list):
        inner = ", ".join(map(_literal, value))
        if len(inner) > WIDTH - 30:
            inner = "\n" + "".join(f"        {_literal(item)},\n" for item in value)
            return f"({inner}    )"
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    return repr(value)
