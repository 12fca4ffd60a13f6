"""The numbers of a page agree with each other and with the rows they are of.

Drawn pages are read, and everything is recomputed from the exported predictions of the
test rows with pandas and fairlearn: several seeds and a sweep, two and four groups.
"""

import pytest
from reading import drawn, numbers, sent, words
from recompute import add_table, exported, figures_of, train

from fairdash import _wording, ui
from fairdash.audits import trials

cases = pytest.mark.parametrize(
    ("kind", "n_groups"), [("three seeds", 4), ("sweep", 2)]
)


def models_of(dataset_id, run):
    """Return the models of a run by label, and the seeds that all of them have."""
    keys = {trial.key for trial in ui.store().snapshot(run).trials}
    models = trials.known_models(ui.store(), dataset_id, run)
    models = {m.label: m for m in models if keys & {t.key for t in m.trials}}
    return models, frozenset.intersection(*(m.seeds for m in models.values()))


@cases
def test_local_fairness_and_train_show_one_set_of_numbers(
    visit, inline, train_once, kind, n_groups
):
    data = add_table(n_groups)
    run = train_once(ui.store(), train, data, kind)
    models, seeds = models_of(data, run)
    main = [label for label in models if label != "Unconstrained"][-1]
    address = {"run": run, "model": models[main].id}
    page = visit("Local fairness", **address, opened="table")
    assert not page.exception
    rows = exported(data, models[main], seeds)
    rates = rows.pivot_table("decided", ["seed", "branch"], "group")
    spread = rates.max(axis=1) - rates.min(axis=1)
    gaps = spread.rename("gap").reset_index().pivot_table("gap", "seed", "branch")
    accuracy, overall, worst = figures_of(rows)
    assert worst == pytest.approx(gaps.max(axis=1).mean())
    # the last model is looked at: cards and table of subgroups are of it
    mark = [t for t in drawn(page)["data"] if "error_x" in t][-1]
    assert mark["name"] == f"{main} · all rows {_wording.gap_size(overall)}"
    assert sorted(mark["x"]) == pytest.approx(sorted(gaps.mean()))
    local = numbers(page)
    assert local["Largest gap"] == f"{_wording.gap_size(worst)}"
    assert local["Gap over all rows"] == f"{_wording.gap_size(overall)}"
    table = page.dataframe[-1].value.set_index("Subgroup")
    assert table["Gap"].to_dict() == pytest.approx(gaps.mean().to_dict())
    for group, mean in rates.groupby("branch").mean().items():
        of_group = table[f"P(ŷ = 1) origin: {group}"].to_dict()
        assert of_group == pytest.approx(mean.to_dict())

    page = visit("Train", **address)
    assert not page.exception
    figures = numbers(page)
    assert figures["Accuracy"] == f"{accuracy:.1%}"
    assert (figures["Gap"], figures["Largest local gap"]) == (
        f"{_wording.gap_size(overall)}",
        f"{_wording.gap_size(worst)}",
    )
    before = figures_of(exported(data, models["Unconstrained"], seeds))
    chips = {m.label: m.delta for m in page.metric}
    assert chips["Gap"] == _wording.points(overall - before[1])
    assert chips["Largest local gap"] == _wording.points(worst - before[2])
    assert ("mean of 3 seeds" in words(page)) == (len(seeds) == 3)
    assert local["Largest by chance"] == figures["Largest by chance"]


def test_a_sweep_shows_one_set_of_numbers(visit, inline, train_once):
    data = add_table(4)
    run = train_once(ui.store(), train, data, "sweep")
    page = visit("Sweep", run=run, across="worst_1_di")
    assert not page.exception
    models, seeds = models_of(data, run)
    test = {k: figures_of(exported(data, m, seeds)) for k, m in models.items()}
    pictures = sent(page, "linked")
    settings = pictures["summary"]["settings"]
    marks = {
        setting["label"]: (
            setting["metrics"]["accuracy"],
            setting["metrics"]["worst_1_di"],
        )
        for setting in settings
    }
    assert marks == {k: pytest.approx((f[0], f[2]), abs=1e-6) for k, f in test.items()}
    cards = [card["label"] for card in pictures["cards"]]
    for place, entry in pictures["values"].items():
        values = dict(zip(cards, entry, strict=True))
        setting = settings[int(place)]
        accuracy, gap, worst = test[setting["label"]]
        assert values["Accuracy"]["value"] == f"{accuracy:.1%}"
        assert values["Gap"]["value"] == f"{_wording.gap_size(gap)}"
        assert values["Largest local gap"]["value"] == f"{_wording.gap_size(worst)}"
        before = test["Unconstrained"][1]
        change = _wording.points(gap - before)
        is_plain = setting["label"] == "Unconstrained"
        assert values["Gap"]["delta"] == ("" if is_plain else change)
