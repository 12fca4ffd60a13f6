"""Monitor: whether a deployed model keeps its limits, batch by batch."""

from fairdash import ui
from fairdash.ui import monitor

view = ui.page("Monitor", "Does it keep its limits?")
watches = monitor.watches()
if not watches:
    ui.stop_empty(
        "No monitor yet",
        "A monitor audits each new batch of a deployed model's decisions. Whoever runs "
        "the app adds one on the command line: `fairdash monitor add`.",
        {},
    )
watch = monitor.pick_watch(watches)
monitor.show_watch(watch)
ui.freeze_imports()
