"""Limits: a policy is sent, and judged on the table of a data set."""

import yaml

POLICY = {
    "decision": "hired=yes",
    "groups": ["origin"],
    "limits": [{"measure": "selection_rate", "at_most": 0.99}],
}


def send(page, policy):
    page.file_uploader(key="policy").upload(
        "policy.yaml", yaml.safe_dump(policy).encode(), "application/yaml"
    )
    page.run()
    assert not page.exception
    return " ".join(one.value for one in page.main.markdown)


def test_every_limit_of_a_policy_is_judged(visit, dataset_id):
    page = visit("Limits", data=dataset_id)
    assert "keeps every limit" in send(page, POLICY)
    strict = {**POLICY, "limits": [{"measure": "selection_rate", "at_most": 0}]}
    page = visit("Limits", data=dataset_id)
    assert "keeps every limit" not in send(page, strict)


def test_what_is_no_policy_is_a_sentence(visit, dataset_id):
    page = visit("Limits", data=dataset_id)
    send(page, {**POLICY, "groups": ["absent"]})
    assert any("absent" in one.value for one in page.error)
    page = visit("Limits", data=dataset_id)
    send(page, {"limits": []})
    assert any("policy.yaml" in one.value for one in page.error)


def test_without_a_table_the_page_offers_ways_to_one(visit, inline):
    page = visit("Limits")
    assert "No table yet" in page.main.markdown[0].value
