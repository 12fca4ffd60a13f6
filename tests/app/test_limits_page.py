"""Limits and monitors: a policy is judged; batches are shown, run and kept."""

import numpy as np
import pandas as pd
import yaml
from toys import ROLES

from fairdash import ui
from fairdash.audits import tables
from fairdash.datasets import Subgroups

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
    monitor = tables.Monitor("<b>hires", str(tmp_path / "week*.csv"), LIMITS)
    ui.store().keep_monitor("<b>hires", tables.Watch(monitor, ()).to_json())
    page = visit("Monitor")
    page.button(key="run monitor").click().run()
    assert not page.exception
    assert any("No file fits the source" in message.value for message in page.error)
    write_weeks(tmp_path, 3)
    page = visit("Monitor")
    page.button(key="run monitor").click().run()
    assert not page.exception
    headers = " ".join(message.value for message in page.header)
    assert "Alarm since week00.csv" in headers
    stored = tables.Watch.of_json(ui.store().monitor("<b>hires"))
    assert len(stored.batches) == 3
    assert stored.broken


POLICY = {
    **LIMITS,
    "groups": ["origin"],
    "limits": [{"measure": "selection_rate", "at_most": 0.99}],
}


def send(page, policy):
    page.file_uploader(key="policy").upload(
        "policy.yaml", yaml.safe_dump(policy).encode(), "application/yaml"
    )
    page.run()
    assert not page.exception
    return " ".join(item.value for item in page.header)


def test_the_page_begins_with_a_policy_on_the_outcomes_that_can_be_edited(
    visit, dataset_id
):
    page = visit("Limits", data=dataset_id)
    (text,) = page.text_area
    policy = yaml.safe_load(text.value)
    assert policy["groups"] == ["origin"]
    assert [limit["of"] for limit in policy["limits"][:2]] == ["gap", "ratio"]
    (verdict,) = [item.value for item in page.header]
    files = [button.proto.label for button in page.get("download_button")]
    assert {"Local Law 144 (HTML)", "Adverse impact (HTML)"} <= {*files}
    policy["limits"] = [{"measure": "selection_rate", "at_most": 0.99}]
    text.set_value(yaml.safe_dump(policy)).run()
    assert [item.value for item in page.header] == ["The table keeps every limit."]
    assert verdict != "The table keeps every limit."


def test_the_first_policy_has_the_subgroups_of_the_address(visit, dataset_id):
    for subgroups in (Subgroups(columns=("age",)), Subgroups(columns=("branch",))):
        named = subgroups.model_dump_json(exclude_defaults=True)
        page = visit("Limits", data=dataset_id, subgroups=named)
        (text,) = page.text_area
        policy = yaml.safe_load(text.value)
        assert policy["subgroups"] == list(subgroups.columns)
        assert policy["limits"][-1]["subgroup"] == "every"


def test_every_limit_of_a_policy_is_judged(visit, dataset_id):
    page = visit("Limits", data=dataset_id)
    assert "keeps every limit" in send(page, POLICY)
    strict = {**POLICY, "limits": [{"measure": "selection_rate", "at_most": 0}]}
    page = visit("Limits", data=dataset_id)
    assert "keeps every limit" not in send(page, strict)


def test_the_page_says_what_is_not_surely_broken_and_what_is_doubtful(inline, visit):
    rows = [("a", "yes")] * 75 + [("a", "no")] * 125
    rows += [("b", "yes")] * 100 + [("b", "no")] * 99 + [("B ", "no")]
    frame = pd.DataFrame(rows, columns=["origin", "hired"])
    table = ui.store().add_table(frame.to_csv(index=False).encode(), "people.csv")
    roles = ROLES.model_copy(update={"features": (), "subgroup_columns": ()})
    data = ui.store().add_dataset(table, roles, "People")
    limit = {"measure": "selection_rate", "of": "ratio", "at_least": 0.7}
    limit |= {"group": "a", "judge": "sure_break"}
    page = visit("Limits", data=data)
    limits = [{**limit, "at_least": 0.8}, {**limit, "at_least": 0.1}]
    header = send(page, {**POLICY, "limits": limits})
    assert "Estimates are beyond 1 of 2 limits, but not surely." in header
    texts = [item.value for item in page.caption]
    assert any("differ by capitals or spaces" in text for text in texts)


def test_a_policy_on_an_unfavourable_decision_has_no_packs(visit, dataset_id):
    page = visit("Limits", data=dataset_id)
    send(page, {**POLICY, "favourable": False})
    files = [button.proto.label for button in page.get("download_button")]
    assert "Adverse impact (HTML)" not in files
    assert any("about being selected" in item.value for item in page.caption)


def test_what_is_no_policy_is_a_sentence(visit, dataset_id):
    page = visit("Limits", data=dataset_id)
    send(page, {**POLICY, "groups": ["absent"]})
    assert any("absent" in message.value for message in page.error)
    page = visit("Limits", data=dataset_id)
    send(page, {"limits": []})
    assert any("policy.yaml" in message.value for message in page.error)


def test_without_a_table_the_page_offers_ways_to_one(visit, inline):
    page = visit("Limits")
    assert "No table yet" in page.main.markdown[0].value
