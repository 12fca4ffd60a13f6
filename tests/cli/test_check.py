"""`fairdash check`: the limits of a policy, each judged on its interval."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd
import pytest
import yaml
from cases import sampled
from typer.testing import CliRunner

from fairdash.audits import tables
from fairdash.cli import app
from fairdash.metrics import measure_gaps
from fairdash.sweep import choose_certified

GATE = Path(__file__).parents[2] / "docs/deploy/gate"
COMMAND = [sys.executable, "-c", "from fairdash.cli import main; main()"]
ENV = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
SOURCE = tables.Source("t.csv", "0" * 64, 0, "2026-01-01T00:00:00Z")


def people(hired, n=400):
    """Return a table in which so many of 400 in each group are hired."""
    rows = [
        {"sex": sex, "race": race, "hired": "yes" if i < k else "no"}
        for (sex, race), k in hired.items()
        for i in range(n)
    ]
    return pd.DataFrame(rows)


RATE = {"measure": "selection_rate"}
FAIR = {("f", "a"): 200, ("f", "b"): 202, ("m", "a"): 201, ("m", "b"): 199}
UNFAIR = {("f", "a"): 100, ("f", "b"): 102, ("m", "a"): 201, ("m", "b"): 199}


def policy(*limits, **fields):
    fields = {"decision": "hired=yes", "groups": ["sex"], **fields}
    return tables.Policy.model_validate({**fields, "limits": list(limits)})


def statuses(table, *limits, **fields):
    checked = tables.check_policy(table, policy(*limits, **fields), SOURCE)
    return [status for _, status, _ in checked.results]


def test_a_limit_is_judged_on_the_interval_that_the_measure_has():
    table = people(UNFAIR)
    hired = table["hired"] == "yes"
    sexes = table["sex"]
    gaps = measure_gaps("selection_rate", None, hired, sensitive_features=sexes)
    (gap,) = gaps.itertuples()
    low = -gap.ci_high
    high = -gap.ci_low
    assert low < -gap.difference < high
    for at_most, sure, estimate, unsure in (
        (high + 0.001, "pass", "pass", "pass"),
        (high - 0.001, "undecided", "pass", "pass"),
        (low + 0.001, "undecided", "fail", "not surely broken"),
        (low - 0.001, "fail", "fail", "fail"),
    ):
        limit = {**RATE, "at_most": at_most}
        assert statuses(table, limit) == [sure]
        assert statuses(table, limit, judge="estimate") == [estimate]
        assert statuses(table, limit, judge="sure_break") == [unsure]
        assert statuses(table, {**limit, "judge": "sure_break"}) == [unsure]
        undecided = statuses(table, limit, when_undecided="fail")
        assert undecided == ["fail" if sure == "undecided" else sure]
    few = {**RATE, "at_most": 1, "min_rows": 801}
    assert statuses(table, few) == ["undecided"]
    ratio = {**RATE, "of": "ratio"}
    ends = [{**ratio, "at_least": v} for v in (gap.ratio_low - 0.01, gap.ratio_high)]
    assert statuses(table, ends[0]) == ["pass"]
    assert statuses(table, {**ends[1], "at_least": gap.ratio_high + 0.01}) == ["fail"]


def test_limits_name_features_groups_values_and_subgroups():
    table = people(UNFAIR)
    lines = [
        {**RATE, "of": "value", "group": "f", "at_most": 0.3},
        {**RATE, "of": "value", "group": "m", "at_most": 0.3},
        {**RATE, "feature": "race", "at_most": 0.1},
        {**RATE, "feature": "sex × race", "at_most": 0.1},
        {**RATE, "subgroup": "every", "feature": "sex", "at_most": 0.1},
    ]
    problems = tables.check_policy(
        table, policy(*lines, groups=["sex", "race"], subgroups=["race"]), SOURCE
    )
    results = [status for _, status, _ in problems.results]
    assert results == ["pass", "fail", "pass", "fail", "fail"]
    inside = [finding.subgroup for finding in problems.judged if finding.limit == 4]
    assert len(inside) == 2
    assert problems.answer().verdict.startswith("The table breaks 3 of 5 limits.")
    assert len(problems.answer().verdict.split()) <= 20
    only = policy({**RATE, "at_most": 0.1}, rows={"race": ["a"]})
    checked = tables.check_policy(table, only, SOURCE)
    assert [part._asdict() for part in checked.audited.rows.excluded] == [
        {"reason": "another race", "column": "race", "rows": 800}
    ]


def test_a_policy_is_what_a_certified_choice_takes():
    lines = [{**RATE, "at_most": 0.1}, {**RATE, "at_most": 0.2, "subgroup": "every"}]
    rows = [
        (model, 0.6 + 0.1 * model, gap, subgroup, group, 4000, 2000 - shift)
        for model, gap in enumerate((0.0, 0.3))
        for subgroup in ("", "north")
        for group, shift in (("f", int(4000 * gap)), ("m", 0))
    ]
    columns = ["model", "accuracy", "gap", "subgroup", "group", "n", "positives"]
    table = pd.DataFrame(rows, columns=columns)
    limits = {"demographic_parity_difference": 0.1, "worst_1_di": 0.2}
    choices = [choose_certified(table, limits=e) for e in (policy(*lines), limits)]
    assert [choice.model for choice in choices] == [0, 0]
    pd.testing.assert_frame_equal(choices[0].tested, choices[1].tested)
    for limit_fields in (
        {"of": "ratio", "at_least": 0.8},
        {"at_most": 0.1, "group": "f"},
    ):
        with pytest.raises(ValueError, match="cannot be certified"):
            choose_certified(table, limits=policy({**RATE, **limit_fields}))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"limits": []}, "limits"),
        ({"groups": ["gender"]}, "gender"),
        ({"bogus": 1}, "bogus"),
        ({"limits": [RATE]}, "at_most and at_least"),
        ({"limits": [{"measure": "magic", "at_most": 1}]}, "magic"),
        ({"limits": [{**RATE, "at_most": 1, "group": "x"}]}, "names group 'x'"),
    ],
)
def test_what_is_no_policy_says_the_way_out(tmp_path, change, words):
    text = yaml.safe_load((GATE / "policy.yaml").read_text())
    (tmp_path / "policy.yaml").write_text(yaml.safe_dump({**text, **change}))
    people(FAIR).to_csv(tmp_path / "t.csv")
    paths = [str(tmp_path / "t.csv"), "--policy", str(tmp_path / "policy.yaml")]
    done = CliRunner().invoke(app, ["check", *paths])
    assert done.exit_code == 4
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "change",
    [
        lambda words: [*words, "--bogus"],
        lambda words: words[:1],
        lambda words: ["absent.csv", *words[1:]],
        lambda words: [*words, "--out", "/nowhere/check.json"],
        lambda words: [*words, "--out", "a.json", "--out", "b.json"],
    ],
)
def test_no_error_of_input_ends_as_a_judgement(tmp_path, change):
    people(FAIR).to_csv(tmp_path / "t.csv")
    words = [str(tmp_path / "t.csv"), "--policy", str(GATE / "policy.yaml")]
    judged = {status.exit_status for status in tables.Judgement}
    done = CliRunner().invoke(app, ["check", *change(words)])
    assert done.exit_code == 4
    assert done.exit_code not in judged


GATES = [
    pytest.param(UNFAIR, 400, 1, id="fail"),
    pytest.param(FAIR, 400, 0, id="pass"),
    pytest.param(dict.fromkeys(FAIR, 12), 24, 2, id="undecided"),
]


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """Return a function that makes the folder of a repository the current one."""

    def make(hired, n):
        folder = tmp_path / "repository"
        folder.mkdir()
        people(hired, n).to_csv(folder / "decisions.csv", index=False)
        (folder / "policy.yaml").write_text((GATE / "policy.yaml").read_text())
        monkeypatch.chdir(folder)
        return folder

    return make


@pytest.mark.parametrize(("hired", "n", "status"), GATES)
def test_the_action_of_the_docs_fails_and_says_of_each_limit_why(
    repository, hired, n, status
):
    folder = repository(hired, n)
    action = yaml.safe_load((GATE / "github-action.yaml").read_text())
    steps = action["jobs"]["fairness"]["steps"]
    (command,) = [s["run"] for s in steps if s.get("run", "").startswith("fairdash")]
    program, *words = shlex.split(command)
    done = CliRunner().invoke(app, words)
    assert (program, done.exit_code) == ("fairdash", status), done.output
    suite = ElementTree.parse(folder / "check.xml").getroot()
    written = json.loads((folder / "check.json").read_text())
    kinds = {"fail": "failure", "undecided": "error", "pass": None}
    for case, limit in zip(suite, written["limits"], strict=True):
        kind = kinds[limit["status"]]
        assert [part.tag for part in case] == ([kind] if kind else [])


@pytest.mark.parametrize(("hired", "n", "status"), sampled(GATES, 3))
def test_the_gate_of_the_docs_blocks_what_does_not_pass(repository, hired, n, status):
    """The hook in a repository, which starts the command in a process."""
    folder = repository(hired, n)
    hooks = yaml.safe_load((GATE / "pre-commit.yaml").read_text())["repos"][0]["hooks"]
    hook = folder / ".git/hooks/pre-commit"
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org"]
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    entry = hooks[0]["entry"].replace("fairdash", shlex.join(COMMAND), 1)
    hook.write_text(f"#!/bin/sh\n{entry}\n")
    hook.chmod(0o755)
    subprocess.run(["git", "add", "decisions.csv"], cwd=folder, check=True)
    commit = [*git, "commit", "-qm", "New decisions"]
    blocked = subprocess.run(commit, cwd=folder, capture_output=True, env=ENV)
    assert bool(blocked.returncode) == bool(status)
