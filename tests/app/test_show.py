"""The show mode: one picture at a time, with the verdict of its page."""

import pytest
from reading import button, labels, sent, words

from fairdash import ui
from fairdash._escaping import plain
from fairdash.audits import choices, scenes, sweeps

QUESTIONS = [scene.question for scene in scenes.SCENES]


def said(page):
    """Return the sentence below the picture."""
    return page.header[-1].value


@pytest.fixture
def sweep(two_methods):
    return sweeps.finished_sweep(ui.store(), two_methods)


def test_every_scene_says_what_the_page_of_its_picture_says(visit, sweep, thorough):
    run = sweep.run.id
    methods = sweep.result.means["method"].tolist()
    plain_model, model = (
        sweep.ids[methods.index(m)] for m in ("unconstrained", "road")
    )
    pages = {
        "front": ("Sweep", {}),
        "local": ("Local fairness", {"models": [plain_model, model]}),
        "weights": ("Weights", {}),
        "ramp": ("Post-process", {"model": plain_model}),
        "noise": ("Noisy groups", {}),
    }
    names = [scene.name for scene in scenes.scenes_of(sweep)]
    assert set(pages) < set(names)
    for at, name in enumerate(names, 1):
        if not thorough and at % 2 == 0:
            continue
        page = visit("Sweep", run=run, model=model, show=str(at))
        assert not page.exception
        assert page.title[0].value == QUESTIONS[at - 1]
        assert f"{at} of {len(names)}" in words(page)
        if name not in pages:
            continue
        path, chosen = pages[name]
        opened = visit(path, **{"run": run, "model": model, **chosen})
        assert said(page) == opened.header[0].value, name


def test_the_best_setting_is_said_beside_the_map(visit, sweep):
    page = visit("Sweep", run=sweep.run.id, show="2")
    limit = sweep.run.spec["di_limit"]
    assert said(page) == plain(scenes.sentence_of(sweep, "map", 0, limit))
    assert sent(page, "linked")["shows"] == ["map", "tau"]


def test_a_show_has_neither_menu_nor_forms_and_leads_back(visit, sweep):
    page = visit("Sweep", run=sweep.run.id)
    button(page, "Present").click().run()
    assert page.query_params["show"] in ("1", ["1"])
    assert labels(page) == ["Back", "Next", "Leave"]
    assert not page.get("page_link")
    assert not [*page.selectbox, *page.get("popover"), *page.number_input]
    button(page, "Next").click().run()
    assert page.title[0].value == QUESTIONS[1]
    button(page, "Leave").click().run()
    assert "show" not in page.query_params
    assert page.title[0].value == "What does fairness cost?"
    assert "Present" in labels(page)


def test_the_tour_presents_its_run_from_any_stop(visit, sweep):
    run = sweep.run.id
    plain_model = sweep.ids[0]
    page = visit("Weights", run=run, tour="3", model=plain_model)
    button(page, "Present").click().run()
    assert page.title[0].value == QUESTIONS[0]
    assert "tour" not in page.query_params
    opened = choices.opened_on(ui.store(), run)
    assert page.query_params["model"] in (opened.id, [opened.id])


def test_what_is_no_finished_sweep_opens_as_without_a_show(visit, trained):
    run = trained("unconstrained", n_epochs=2)
    page = visit("Sweep", run=run, show="1")
    assert not page.exception
    assert "No sweep opened" in words(page)
