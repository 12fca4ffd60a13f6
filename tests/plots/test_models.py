"""Models side by side."""

from fairdash.plots import plot_comparison


def test_an_undefined_number_leaves_its_place_empty(models):
    figure = plot_comparison(models.assign(worst_1_di=float("nan"))).figure
    last = figure.data[-1]
    assert last.x == (None,)
    assert last.text == ("–",)


def test_alt_text_gives_the_three_numbers(models):
    assert (
        "ROAD λ 2: accuracy 65.1%, gap 3.7 pt, largest local gap 15.0 pt (5.0–25.0 pt)"
        in plot_comparison(models).alt
    )


def test_a_model_that_does_not_decide_is_marked(models):
    idle = models.assign(constant=[0.0, 1.0], worst_1_di=[0.3, 0.0], accepted=0.99)
    for share, mark in ((1.0, "(accepts 99%)"), (0.0, "(no better than guessing)")):
        picture = plot_comparison(idle.assign(alike=[0.0, share]))
        plain, marked = picture.figure.layout.yaxis.ticktext
        assert plain == "Unconstrained"
        assert marked.replace("<br>", " ") == f"ROAD λ 2 {mark}"
