"""The numbers of one page agree with each other and with the rows they are of.

Drawn pages are read, and everything is recomputed from the exported predictions of the
test rows with pandas and fairlearn: one seed, several, a sweep, two and four groups.
"""

import numpy as np
import pytest
from fairlearn.metrics import demographic_parity_difference
from reading import drawn, numbers, words
from recompute import add_table, exported, train

from fairdash import ui
from fairdash.audits import known_models


@pytest.mark.parametrize(
    ("kind", "n_groups"), [("one seed", 2), ("three seeds", 4), ("sweep", 2)]
)
def test_cards_table_figure_and_words_are_one_set_of_numbers(
    visit, inline, train_once, kind, n_groups
):
    dataset_id = add_table(n_groups)
    run = train_once(ui.store(), train, dataset_id, kind)
    page = visit("Local fairness", run=run, opened="table")
    assert not page.exception
    (models,) = [one for one in page.get("multiselect") if one.label == "Models"]
    known = {m.label: m for m in known_models(ui.store(), dataset_id, run)}
    shown = [model for label, model in known.items() if label in models.value]
    seeds = set.intersection(*({t.seed for t in model.trials} for model in shown))
    assert len(seeds) == (3 if kind == "three seeds" else 1)
    cards = numbers(page)
    table = page.dataframe[-1].value.set_index("Subgroup")
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
        assert mark["name"] == f"{model.label} · over all rows {overall:.3f}"
        assert sorted(mark["x"]) == pytest.approx(sorted(gaps.mean()))
    # the last model is looked at: cards, table of subgroups and verdict are of it
    assert cards["Largest gap"] == f"{gaps.max(axis=1).mean():.3f}"
    assert cards["Gap over all rows"] == f"{overall:.3f}"
    mean = rates.groupby("branch").mean()
    assert table["Gap"].to_dict() == pytest.approx(gaps.mean().to_dict())
    for group in mean:
        of_group = table[f"P(ŷ = 1) origin: {group}"].to_dict()
        assert of_group == pytest.approx(mean[group].to_dict())
    said = words(page)
    if kind == "sweep":
        assert "Compared on seed 0: Unconstrained" not in said
        assert "Compared on seed 0" in said
    verdict = page.header[0].value
    worst = gaps.mean().idxmax()
    apart = mean.loc[worst].max() - mean.loc[worst].min()
    if gaps.mean().max() <= float(cards["Largest by chance"]):
        assert verdict.startswith("No gap here is larger than chance would show.")
    elif "disagree" not in said and "alike" not in said:
        assert f"In {worst}" in said
        assert f"{round(100 * apart)} point" in said
        assert f"origin: {mean.loc[worst].idxmin()} is predicted" in said
