"""Linked pictures in Chromium: one hand moves all, and the server hears on release."""

import re
from contextlib import closing

import numpy as np
import pytest
from driving import at_rest, boxes, open_window, settle, still
from playwright.sync_api import expect

from fairdash._wording import group_label
from fairdash.audits import linked, sweeps
from fairdash.jobs import finished_file, unpack_runs
from fairdash.store import open_store

pytestmark = pytest.mark.browser
OWN = "vendor <b>"
FILLS = "nodes => nodes.map(node => getComputedStyle(node).fill)"
N_LINES = """labels => labels.map(label => {
  const words = document.createRange()
  words.selectNodeContents(label)
  return new Set([...words.getClientRects()].map(line => Math.round(line.top))).size
})"""
DATA = "nodes => nodes.map(node => node.__data__?.place ?? null)"


@pytest.fixture(scope="module")
def opened(home):
    """The run of a finished sweep, its summary and the ids of its models.

    The user has scores of a model of their own for the same rows.
    """
    with closing(open_store(home)) as store:
        (run,), _ = unpack_runs(store, finished_file("hiring"))
        dataset_id = store.run(run).dataset_id
        outcome = store.dataset(dataset_id).y
        guesses = np.random.default_rng(0).random(len(outcome))
        scores = np.where(guesses < 0.7, outcome, 1 - outcome)
        store.log_scores(dataset_id, scores, name=OWN, kind="decision")
        sweep = sweeps.finished_sweep(store, run)
        return run, linked.summary(sweep), list(sweep.ids)


@pytest.fixture(scope="module")
def sent_frames():
    """What the browser sent to the server, in order."""
    return []


@pytest.fixture(scope="module")
def window(browser, server, opened, sent_frames):
    """A window on the sweep; one for all tests, since loading is slow."""
    page = open_window(browser)
    page.on(
        "websocket",
        lambda link: link.on("framesent", lambda frame: sent_frames.append(frame)),
    )
    run, summary, ids = opened
    place, _ = setting_of(summary, grid_label(summary, 0, 0))
    page.goto(f"{server}/Sweep?run={run}&model={ids[place]}")
    yield page
    page.close()


@pytest.fixture
def page(window):
    """The window on its sweep, a desk wide."""
    window.set_viewport_size({"width": 1440, "height": 900})
    if "Sweep" not in window.url:
        window.go_back()
    window.locator(".linked .map rect").first.wait_for()
    at_rest(window, 1440)
    return window


def setting_of(summary, label):
    return next(
        (place, setting)
        for place, setting in enumerate(summary["settings"])
        if setting["label"] == label
    )


def points(share):
    return f"{100 * share:.0f}"


def shows(page, summary, label):
    """Expect every picture to be of a setting, with the numbers of the summary."""
    _, setting = setting_of(summary, label)
    cards = page.locator(".linked .card")
    accuracy = f"{setting['metrics']['accuracy']:.1%}"
    expect(cards.filter(has_text="Accuracy")).to_contain_text(accuracy)
    worst = f"{100 * setting['metrics']['worst_1_di']:.1f} pt"
    expect(cards.filter(has_text="Largest local gap")).to_contain_text(worst)
    before = summary["settings"][summary["plain"]]["local"]
    for row, was, after in zip(
        page.locator(".local .row .change").all(), before, setting["local"], strict=True
    ):
        expect(row).to_have_text(f"{points(was[0])} → {points(after[0])}")
    at = dict(zip("λτ", setting["at"], strict=True))
    for letter, place in at.items():
        values = next(
            axis["values"]
            for axis in summary["methods"][setting["method"]]["axes"]
            if axis["letter"] == letter
        )
        slider = page.get_by_role("slider", name=re.compile(letter))
        expect(slider).to_have_attribute("aria-valuetext", values[place])


def grid_label(summary, weight, tau):
    road = next(m for m in summary["methods"] if m["key"] == "road")
    values = [axis["values"] for axis in road["axes"]]
    return f"ROAD λ {values[0][weight]} τ {values[1][tau]}"


def test_a_drag_moves_every_picture_and_asks_the_server_nothing(
    page, opened, sent_frames
):
    _, summary, ids = opened
    weight = page.get_by_role("slider", name="Fairness weight (λ)")
    weight.press("Home")
    page.get_by_role("slider", name="Locality (τ)").press("Home")
    first = grid_label(summary, 0, 0)
    page.wait_for_url(re.compile(ids[setting_of(summary, first)[0]]))
    shows(page, summary, first)
    settle(page)
    shapes = {
        name: page.locator(f".{name} > svg").inner_html()
        for name in ("front", "map", "local", "density", "tau", "quantiles")
    }
    box = still(weight)
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 8, middle)
    page.mouse.down()
    before = page.url
    n_frames = len(sent_frames)
    third = box["x"] + 8 + (box["width"] - 16) * 2 / 3  # of four stops
    page.mouse.move(third, middle, steps=8)
    last = grid_label(summary, 2, 0)
    shows(page, summary, last)
    for name, shape in shapes.items():
        assert page.locator(f".{name} > svg").inner_html() != shape, name
    assert page.url == before
    assert len(sent_frames) == n_frames
    page.mouse.up()
    page.wait_for_url(re.compile(ids[setting_of(summary, last)[0]]))
    shows(page, summary, last)


def test_cells_have_the_numbers_of_their_settings_and_a_click_chooses(page, opened):
    _, summary, ids = opened
    texts = page.locator(".map text.cell").all_text_contents()
    road = [
        setting
        for setting in summary["settings"]
        if summary["methods"][setting["method"]]["key"] == "road"
    ]
    by_place = {tuple(s["at"]): s for s in road}
    wanted = [
        s["idle"] or points(s["metrics"]["worst_1_di"])
        for _, s in sorted(by_place.items())
    ]
    assert texts == wanted
    label = grid_label(summary, 1, 1)
    at = sorted(by_place).index((1, 1))
    page.locator(".map text.cell").nth(at).click(force=True)
    page.wait_for_url(re.compile(ids[setting_of(summary, label)[0]]))
    shows(page, summary, label)


def test_arrow_keys_on_the_map_step_and_a_mark_of_the_front_chooses(page, opened):
    _, summary, ids = opened
    page.locator(".map text.cell").first.click(force=True)
    page.get_by_role("application").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowUp")
    label = grid_label(summary, 1, 1)
    page.wait_for_url(re.compile(ids[setting_of(summary, label)[0]]))
    shows(page, summary, label)
    other_label = grid_label(summary, 0, 1)
    place, _ = setting_of(summary, other_label)
    marks = page.locator(".front .marks path")
    marks.nth(marks.evaluate_all(DATA).index(place)).click(force=True)
    page.wait_for_url(re.compile(ids[place]))
    shows(page, summary, other_label)


def test_hover_marks_the_same_setting_and_subgroup_everywhere(page, opened):
    _, summary, _ = opened
    cells = page.locator(".map text.cell")
    cells.nth(4).hover(force=True)  # of three τ a λ: the second λ, the second τ
    expect(page.locator(".map .hovered")).to_be_visible()
    expect(page.locator(".tip")).to_contain_text(grid_label(summary, 1, 1))
    expect(page.locator(".front .halo")).to_be_visible()
    page.locator(".local .row .name").nth(1).hover(force=True)
    expect(page.locator(".quantiles .row.on")).to_have_count(1)
    expect(page.locator(".quantiles .row.on .name")).to_have_text(
        summary["subgroups"][1]
    )
    expect(page.locator(".map .hovered")).to_be_hidden()


def test_own_scores_have_a_mark_a_name_and_intervals_and_are_no_setting(page, opened):
    mark = page.locator(".front .own .mark")
    expect(mark).to_have_count(1)
    box = still(mark)
    front = boxes(page.locator(".front svg"))[-1]
    assert front["x"] <= box["x"] <= front["x"] + front["width"]
    assert front["y"] <= box["y"] <= front["y"] + front["height"]
    expect(page.locator(".front .own .note")).to_contain_text(OWN)
    expect(page.locator(".front .legend")).to_contain_text(OWN)
    expect(page.locator(".front .own .whisker")).to_have_count(2)
    mark.hover(force=True)
    tip = page.locator(".tip")
    expect(tip).to_contain_text(OWN)
    expect(tip).to_contain_text(re.compile(r"Accuracy 7\d\.\d% \(\d+\.\d–\d+\.\d\)"))
    expect(tip).to_contain_text("not a setting")
    before = page.locator(".said").text_content()
    mark.click(force=True)
    settle(page)
    assert page.locator(".said").text_content() == before


def test_a_local_gap_shows_which_of_two_groups_is_worse_off(browser, server, home):
    with closing(open_store(home)) as store:
        (run,), _ = unpack_runs(store, finished_file("readmission"))
        sweep = sweeps.finished_sweep(store, run)
        summary = linked.summary(sweep)
        place, setting = max(
            enumerate(summary["settings"]),
            key=lambda pair: sum(g is not None for g in pair[1]["against"]),
        )
        model = sweep.ids[place]
        feature = store.dataset(sweep.run.dataset_id).roles.sensitive_feature
    against = setting["against"]
    page = open_window(browser)
    page.goto(f"{server}/Sweep?run={run}&model={model}")
    page.locator(".local .row .dot").first.wait_for()
    settle(page)
    *groups, paper = page.locator(".local .fill").evaluate_all(FILLS)
    dots = page.locator(".local .row .dot").evaluate_all(FILLS)
    assert dots == [paper if g is None else groups[g] for g in against]
    assert len({*groups, paper}) == 3
    assert len(set(dots)) > 1
    clear = next(i for i, group in enumerate(against) if group is not None)
    text = f"against {group_label(feature, summary['groups'][against[clear]])}"
    row = page.locator(".local .row").nth(clear)
    assert text in row.get_attribute("aria-label")
    row.locator(".name").hover(force=True)
    expect(page.locator(".tip")).to_contain_text(text)
    # a bundle brings its weights as quantiles and densities: they are drawn
    expect(page.locator(".density .empty")).to_have_text("")
    expect(page.locator(".quantiles .row circle").first).to_be_visible()
    # what the colours of densities mean stands above them, never on them
    keys = boxes(page.locator(".density .fill_key"))
    lines = [line["y"] for line in boxes(page.locator(".density .areas"))]
    assert len(keys) == len(summary["groups"])
    assert max(key["y"] + key["height"] for key in keys) <= min(lines) + 2
    page.close()


def test_play_runs_tau_back_and_forth_until_it_is_stopped(page, opened, sent_frames):
    _, _, ids = opened
    page.get_by_role("slider", name="Locality (τ)").press("Home")
    settle(page)
    button = page.get_by_role("button", name="Play τ")
    button.click()
    expect(button).to_have_attribute("aria-pressed", "true")
    n_frames = len(sent_frames)
    slider = page.get_by_role("slider", name="Locality (τ)")
    first = slider.get_attribute("aria-valuetext")
    expect(slider).not_to_have_attribute("aria-valuetext", first)
    expect(slider).to_have_attribute("aria-valuetext", first)  # and back
    assert len(sent_frames) == n_frames
    button.click()
    expect(button).to_have_attribute("aria-pressed", "false")
    page.wait_for_url(re.compile("|".join(ids)))


def test_another_measure_is_shown_by_front_map_and_curves(page, opened):
    _, summary, _ = opened
    page.get_by_label("Pictures show").select_option("Gap over all rows")
    expect(page.locator(".front figcaption")).to_contain_text("gap over all rows")
    page.wait_for_url(re.compile("pictured=demographic_parity_difference"))
    texts = page.locator(".map text.cell").all_text_contents()
    gaps = {
        s["idle"] or points(s["metrics"]["demographic_parity_difference"])
        for s in summary["settings"]
    }
    assert set(texts) <= gaps
    page.get_by_label("Pictures show").select_option("Largest local gap")
    page.wait_for_url(re.compile("pictured=worst_1_di"))


def test_front_map_local_gaps_and_sliders_stand_in_the_first_screen(page):
    for name in ("front", "map", "local", "controls .sliders"):
        (box,) = boxes(page.locator(f".linked .{name}"))
        assert box["y"] + box["height"] <= 900, name


def test_on_a_phone_pictures_stack_and_sliders_stay_in_view(page):
    page.set_viewport_size({"width": 390, "height": 844})
    page.locator(".linked.narrow").wait_for()
    settle(page)
    still(page.locator(".linked"))
    names = ("sliders", "front", "map", "local", "cards", "tau", "lambda", "density")
    tops = [boxes(page.locator(f".linked .{name}"))[0]["y"] for name in names]
    assert tops == sorted(tops)
    labels = page.locator(".linked .card .label")
    assert labels.last.inner_text().startswith("Within the limit of ")
    longest = "Within the limit of 12.5 points on the largest local gap"
    labels.last.evaluate("(label, words) => label.textContent = words", longest)
    assert max(labels.evaluate_all(N_LINES)) <= 2
    page.locator(".linked .density svg").scroll_into_view_if_needed()
    (box,) = boxes(page.locator(".linked .sliders"))
    assert 0 <= box["y"] <= 200


def test_a_click_on_a_subgroup_opens_local_fairness(page):
    page.locator(".local .row .name").first.click(force=True)
    page.get_by_role("heading", name="Where is the model unfair?").wait_for()
