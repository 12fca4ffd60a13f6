"""The numbers of one page agree with each other and with the rows they are of.

Drawn pages are read, and everything is recomputed from the exported predictions of the
test rows with pandas and fairlearn: one seed, several, a sweep, two and four groups.
"""

import numpy as np
import pandas as pd
import pytest
from fairlearn.metrics import demographic_parity_difference
from reading import drawn, numbers, words
from toys import ROLES, people

from fairdash import ui
from fairdash.datasets import Subgroups, split
from fairdash.jobs import submit
from fairdash.results import known_models
from fairdash.sweep import MethodGrid, SweepSpec
from fairdash.ui import start_training

QUICK = {"n_epochs": 4, "batch_size": 128}
SUBGROUPS = Subgroups(columns=("branch",), min_size=20)


def add_table(n_groups):
    """Return the id of a data set of applicants in two or four groups."""
    frame = people(1200)
    if n_groups == 4:
        seniority = np.where(frame["age"] < 40, "young", "old")
        frame["origin"] = frame["origin"] + " " + seniority
    table = ui.store().add_table(frame.to_csv(index=False).encode(), "people.csv")
    return ui.store().add_dataset(table, ROLES, "People", SUBGROUPS)


def train(dataset_id, kind):
    """Return a run: of one seed, of three, or a sweep of one after three of another."""
    if kind != "sweep":
        grid = MethodGrid(method="road", params=QUICK)
        return start_training(dataset_id, grid, 1 if kind == "one seed" else 3)
    start_training(dataset_id, MethodGrid(method="unconstrained", params=QUICK), 3)
    grids = [
        {"method": "unconstrained", "params": QUICK},
        {"method": "road", "params": {**QUICK, "fairness_weight": [1.0, 3.0]}},
    ]
    source = {"table": ui.store().dataset_record(dataset_id).table_sha256}
    spec = {"data": {**source, "roles": ROLES, "name": "People"}, "methods": grids}
    spec["subgroups"] = SUBGROUPS
    return submit(ui.store(), SweepSpec.model_validate(spec))


def exported(dataset_id, model, seeds):
    """Return the decisions of a model on the test rows of some seeds."""
    dataset, tables = ui.store().dataset(dataset_id), []
    for trial in model.trials:
        if trial.seed in seeds:
            where = split(dataset, trial.seed).test
            scores = ui.store().artifact(trial.key).scores()[where]
            rows = {
                "seed": trial.seed,
                "y": dataset.y[where],
                "group": dataset.sensitive_features[where],
                "branch": dataset.frame["branch"].iloc[where].to_numpy(),
                "decided": (scores > 0.5).astype(int),
            }
            tables.append(pd.DataFrame(rows))
    return pd.concat(tables, ignore_index=True)


@pytest.mark.parametrize("n_groups", [2, 4])
@pytest.mark.parametrize("kind", ["one seed", "three seeds", "sweep"])
def test_cards_table_figure_and_words_are_one_set_of_numbers(
    visit, inline, kind, n_groups
):
    dataset_id = add_table(n_groups)
    run = train(dataset_id, kind)
    page = visit("Local fairness", run=run)
    assert not page.exception
    (models,) = [one for one in page.get("button_group") if one.label == "Models"]
    known = {m.label: m for m in known_models(ui.store(), dataset_id, run)}
    shown = [model for label, model in known.items() if label in models.value]
    seeds = set.intersection(*({t.seed for t in model.trials} for model in shown))
    assert len(seeds) == (3 if kind == "three seeds" else 1)
    cards = numbers(page)
    table = page.dataframe[-1].value.set_index("Subgroup")
    cells = page.dataframe[0].value
    marks = [t for t in drawn(page)["data"] if t.get("mode") == "markers"]
    for model, mark in zip(shown, marks, strict=True):
        rows = exported(dataset_id, model, seeds)
        rates = rows.pivot_table("decided", ["seed", "branch"], "group")
        apart = rates.max(axis=1) - rates.min(axis=1)
        gaps = apart.rename("gap").reset_index().pivot_table("gap", "seed", "branch")
        overall = np.mean(
            [
                demographic_parity_difference(
                    part["y"], part["decided"], sensitive_features=part["group"]
                )
                for _, part in rows.groupby("seed")
            ]
        )
        assert mark["name"] == f"{model.label} · global DI {overall:.3f}"
        own = cells[cells["label"] == model.label].set_index("subgroup")["local_di"]
        assert mark["x"] == pytest.approx(own.tolist())
        assert own.to_dict() == pytest.approx(gaps.mean().to_dict())
    # the last model is looked at: cards, table of subgroups and verdict are of it
    assert cards["Worst-1-DI, ROAD"] == f"{gaps.max(axis=1).mean():.3f}"
    assert cards["Global DI, ROAD"] == f"{overall:.3f}"
    mean = rates.groupby("branch").mean()
    assert table["Local DI"].to_dict() == pytest.approx(gaps.mean().to_dict())
    for group in mean:
        of_group = table[f"P(ŷ = 1) {group}"].to_dict()
        assert of_group == pytest.approx(mean[group].to_dict())
    said = words(page)
    if kind == "sweep":
        assert "Compared on seed 0: Unconstrained" not in said
        assert "Compared on seed 0" in said
    verdict = page.markdown[0].value
    worst = gaps.mean().idxmax()
    apart = mean.loc[worst].max() - mean.loc[worst].min()
    if gaps.mean().max() <= float(cards["Worst-1-DI by chance"]):
        assert verdict.startswith("**No gap in a subgroup exceeds")
    elif "disagree" not in verdict and "alike" not in verdict:
        assert f"In {worst}" in verdict
        assert f"{round(100 * apart)} point" in verdict
        assert f"for {mean.loc[worst].idxmin()} than" in verdict
