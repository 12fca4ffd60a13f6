"""Noisy groups: what holds for the true groups when the known ones are wrong."""

from fairdash import ui
from fairdash.ui import data, noisy_groups, train

PAGE = "pages/7_Noisy_groups.py"

view = ui.page("Noisy groups", "What if groups are wrong?", pick="run")
models = noisy_groups.certifiable(view.data, view.run)
following = bool(view.run) and not ui.store().run(view.run).over
if following:
    ui.follow(view.run, noisy_groups.show_progress)
if models:
    can_train = data.can_train(view.data)
    noisy_groups.show_noisy_groups(models, view.data, view.run, can_train)
elif not following:
    title, remedies = "No model to certify yet", data.ways_to_a_table(PAGE)
    if view.data is not None:
        remedies = {
            "Train a model": lambda: ui.open_page("pages/2_Train.py", data=view.data)
        }
    ui.empty(
        title,
        "A promise is certified for a model. A plain one trains in seconds, and a "
        "column of scores serves as well.",
        remedies,
    )
if view.run:
    train.export_run(view)
ui.freeze_imports()
