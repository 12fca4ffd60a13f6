"""Monitor: without any, with an alarm, and with a source that is gone."""

import numpy as np
import pandas as pd

from fairdash import ui
from fairdash.audits import Monitor, Watch

LIMITS = {
    "decision": "hired=yes",
    "groups": ["sex"],
    "limits": [{"measure": "selection_rate", "at_most": 0.1}],
}


def write_weeks(folder, n):
    rng = np.random.default_rng(0)
    for week in range(n):
        sex = rng.choice(["f", "m"], 600)
        hired = rng.random(600) < np.where(sex == "m", 0.7, 0.3)
        frame = pd.DataFrame({"sex": sex, "hired": np.where(hired, "yes", "no")})
        frame.to_csv(folder / f"week{week:02}.csv", index=False)


def test_a_monitor_is_shown_run_and_kept(inline, visit, tmp_path):
    page = visit("Monitor")
    assert "No monitor yet" in page.main.markdown[0].value
    monitor = Monitor("<b>hires", str(tmp_path / "week*.csv"), LIMITS)
    ui.store().keep_monitor("<b>hires", Watch(monitor, ()).to_json())
    page = visit("Monitor")
    page.button(key="run monitor").click().run()
    assert not page.exception
    assert any("No file fits the source" in one.value for one in page.error)
    write_weeks(tmp_path, 3)
    page = visit("Monitor")
    page.button(key="run monitor").click().run()
    assert not page.exception
    shown = " ".join(one.value for one in page.markdown)
    assert "Alarm since week00.csv" in shown
    kept = Watch.of_json(ui.store().monitor("<b>hires"))
    assert len(kept.batches) == 3
    assert kept.broken
