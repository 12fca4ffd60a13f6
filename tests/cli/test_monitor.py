"""Monitors: evidence by its formula, alarms seldom false, batches that come later."""

import dataclasses
import json
import shlex
import sys
from contextlib import closing
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import numpy as np
import pandas as pd
import pytest
from cases import paired
from typer.testing import CliRunner

from fairdash.analysis import sequential
from fairdash.audits import tables
from fairdash.audits.tables.claims import claims_of
from fairdash.cli import app
from fairdash.store import open_store

LIMITS = {
    "decision": "hired=yes",
    "groups": ["sex"],
    "limits": [{"measure": "selection_rate", "at_most": 0.1}],
}


def week(rng, gap, n=600):
    """Return a week of decisions with a gap between m and f."""
    sex = rng.choice(["f", "m"], n, p=[0.4, 0.6])
    picked = rng.random(n) < np.where(sex == "m", 0.5, 0.5 - gap)
    return pd.DataFrame({"sex": sex, "hired": np.where(picked, "yes", "no")})


def write_weeks(folder, gaps, seed=0):
    rng = np.random.default_rng(seed)
    for n, gap in enumerate(gaps):
        week(rng, gap).to_csv(folder / f"week{n:02}.csv", index=False)
    return str(folder / "week*.csv")


def test_evidence_is_the_mean_of_wealths_over_bets_claims_and_starts():
    rng = np.random.default_rng(0)
    terms = [rng.uniform(-1, 1, (3, 20)) for _ in range(5)]
    weeks = [
        np.array([sequential.growth(claim) for claim in claims]) for claims in terms
    ]
    amounts = sequential.evidence(weeks, looks=8)
    for t in range(5):
        wealths = [
            np.prod([np.prod(1 + bet * terms[w][claim]) for w in range(start, t + 1)])
            for bet in sequential.BETS
            for claim in range(3)
            for start in range(8)
        ]
        assert amounts[t] == pytest.approx(np.mean(wealths))
    year = sequential.evidence(weeks * 2, looks=5)
    assert year[5:] == pytest.approx(year[:5])  # every year begins anew
    assert sequential.alarms(np.array([1, 30, 2, 1]), looks=3).tolist() == [0, 1, 1, 0]


def test_false_alarms_are_seldom_and_a_broken_limit_is_found():
    """At the limit, the hardest case, in rows of two to a unit; 40 years.
    `benchmarks/coverage.py` has more."""
    rng = np.random.default_rng(2)

    def alarm(gaps):
        weeks = []
        for gap in gaps:
            men = np.arange(350) < 200
            picked = (rng.random(350) < np.where(men, 0.5, 0.5 - gap)) * 1.0
            sides = [
                sequential.Side(
                    factor, own_factor, np.ones(len(own_factor)), picked[own_factor]
                )
                for factor, own_factor in zip(
                    [1.0, -1.0], map(np.flatnonzero, [men, ~men]), strict=True
                )
            ]
            turned = [dataclasses.replace(side, factor=-side.factor) for side in sides]
            n_blocks = sequential.blocks_of(sides)
            block = sequential.deal(sides, 350, n_blocks, rng)
            terms = [
                sequential.block_terms(side, -0.1, block, n_blocks)
                for side in (sides, turned)
            ]
            means = [side.mean() + 0.1 for side, _ in terms]
            gap = picked[men].mean() - picked[~men].mean()
            assert means == pytest.approx([gap, -gap])
            weeks.append(np.array([sequential.growth(*side) for side in terms]))
        return sequential.alarms(sequential.evidence(weeks))

    at_limit = [alarm([0.1] * 52).any() for _ in range(40)]
    assert np.mean(at_limit) <= 0.05
    broken = alarm([0.0] * 10 + [0.25] * 20)
    assert not broken[:10].any()
    assert broken[-1]


def test_terms_have_the_mean_of_the_claim_where_weights_go_with_decisions():
    """A positive row weighs 4: the rate is 4p / (1 + 3p); a week of it is biased."""
    rng = np.random.default_rng(0)
    rate = 4 * 0.3 / 1.9
    scale = 1.9
    weighed = []
    weekly = []
    for _ in range(4000):
        picked = (rng.random(8) < 0.3).astype(float)
        mass = 1 + 3 * picked
        side = sequential.Side(1.0, np.arange(8), mass, mass * picked, rate, scale, 0.7)
        terms, least = sequential.block_terms([side], 0.0, np.zeros(8, int), 1)
        assert -least <= terms.min()
        weighed.append(terms.mean())
        weekly.append(np.average(picked, weights=mass))
    error = np.std(weighed) / np.sqrt(4000)
    assert abs(np.mean(weighed) - rate) < 3 * error
    assert abs(np.mean(weekly) - rate) > 3 * error


def weighted_weeks(folder, n_weeks, n=200):
    """Write weeks of which each has new people, who weigh 4 where hired."""
    rng = np.random.default_rng(4)
    for at in range(n_weeks):
        rows = week(rng, 0.0, n).assign(who=np.arange(n) + at * n)
        rows["w"] = np.where(rows["hired"] == "yes", 4.0, 1.0)
        rows.to_csv(folder / f"week{at:02}.csv", index=False)
    return {**LIMITS, "weight": "w", "unit": "who"}


def test_weights_are_learned_from_earlier_batches_and_kept(tmp_path, monkeypatch):
    policy = weighted_weeks(tmp_path, 4)
    monitor = tables.Monitor("m", str(tmp_path / "*.csv"), policy)
    watch = tables.Watch(monitor, ()).run()
    bets = [any(np.ravel([c.growth for c in b.claims])) for b in watch.batches]
    assert bets == [False, False, True, True]  # masses, then stakes, then bets
    assert "could not weigh 2 batches" in watch.lines()[-1]
    again = tables.Watch.of_json(watch.to_json()).run()
    assert again.batches == watch.batches
    rows = pd.read_csv(tmp_path / "week00.csv")
    rows.assign(w=1.5 * rows["w"] + 1).to_csv(tmp_path / "week00.csv", index=False)
    changed = again.run()
    pairs = zip(changed.batches, watch.batches, strict=True)
    assert all(new.digest != old.digest for new, old in pairs)


def test_weeks_of_counts_are_watched_as_their_people_are(tmp_path, monkeypatch):
    rng = np.random.default_rng(6)
    for name in ("counts", "people"):
        (tmp_path / name).mkdir()
    for at in range(6):
        counts = week(rng, 0.2).value_counts().rename("n").reset_index()
        counts.to_csv(tmp_path / "counts" / f"{at}.csv", index=False)
        people = counts.loc[counts.index.repeat(counts["n"])].drop(columns="n")
        people.to_csv(tmp_path / "people" / f"{at}.csv", index=False)
    watched = {
        name: tables.Watch(
            tables.Monitor("m", str(tmp_path / name / "*.csv"), LIMITS | more), ()
        ).run()
        for name, more in (("counts", {"count": "n"}), ("people", {}))
    }
    growth = {
        name: [[claim.growth for claim in batch.claims] for batch in watch.batches]
        for name, watch in watched.items()
    }
    np.testing.assert_array_equal(growth["counts"], growth["people"])
    assert np.abs(growth["counts"]).max() > 0
    assert watched["counts"].broken == watched["people"].broken != ()
    monkeypatch.setattr("fairdash.audits.tables.claims.MOST_WATCHED", 99)
    frame = pd.read_csv(tmp_path / "counts" / "0.csv")
    policy = tables.Policy.model_validate(LIMITS | {"count": "n"})
    with pytest.raises(ValueError, match=r"600 people.*at most 99.*fairdash check"):
        claims_of(frame, policy)


def test_people_who_come_again_are_counted_once_and_named(tmp_path):
    policy = weighted_weeks(tmp_path, 3)
    rows = pd.read_csv(tmp_path / "week00.csv").assign(w=1.0)
    for at in range(3):
        rows.to_csv(tmp_path / f"week{at:02}.csv", index=False)
    monitor = tables.Monitor("m", str(tmp_path / "*.csv"), policy)
    watch = tables.Watch(monitor, ()).run()
    assert [batch.recurring for batch in watch.batches] == [0, 200, 200]
    assert not any(np.ravel([c.growth for c in watch.batches[1].claims]))
    assert any(line.startswith("400 of 600 rows") for line in watch.lines())


def test_a_week_in_which_nobody_is_accepted_is_a_rate_of_0(tmp_path):
    source = write_weeks(tmp_path, [0, 0, 0])
    rows = pd.read_csv(tmp_path / "week01.csv").assign(hired="no")
    rows.to_csv(tmp_path / "week01.csv", index=False)
    watch = tables.Watch(tables.Monitor("m", source, LIMITS), ()).run()
    assert [judged.value for judged in watch.batches[1].judged] == [0.0]
    for at in range(3):
        rows.to_csv(tmp_path / f"week{at:02}.csv", index=False)
    with pytest.raises(ValueError, match="must name a value of 'hired'"):
        tables.Watch(tables.Monitor("m", source, LIMITS), ()).run()


def test_batches_are_kept_and_only_new_ones_are_audited(tmp_path, monkeypatch):
    pattern = write_weeks(tmp_path, [0, 0, 0.17])
    watch = tables.Watch(tables.Monitor("hires", pattern, LIMITS), ()).run()
    again = tables.Watch.of_json(watch.to_json())
    assert again.batches == watch.batches
    assert again.answer().verdict.startswith("No alarm in 3 batches.")
    rows = pd.read_csv(tmp_path / "week02.csv")
    rates = (rows["hired"] == "yes").groupby(rows["sex"]).mean()
    last = again.table().iloc[-1]
    assert last["value"] == pytest.approx(rates["m"] - rates["f"])
    assert last["batch alone"] != "pass"
    write_weeks(tmp_path, [0, 0] + [0.17] * 12)
    audited = []
    from fairdash.audits.tables import monitor

    real = monitor.audit_batch
    monkeypatch.setattr(
        monitor, "audit_batch", lambda *a: audited.append(a[2]) or real(*a)
    )
    later = again.run()
    assert "week00.csv" not in audited
    assert len(later.batches) == 14
    assert [words for words, _ in later.broken] == ["gap in selection rate at most 0.1"]
    assert later.answer().verdict.startswith("Alarm since week")
    assert len(later.answer().verdict.split()) <= 20


def test_weights_units_and_subgroups_are_watched(tmp_path):
    rng = np.random.default_rng(5)
    limit = {**LIMITS["limits"][0], "subgroup": "every"}
    policy = {**LIMITS, "unit": "who", "weight": "w", "subgroups": ["site"]}
    for n in range(8):
        rows = week(rng, 0.0).assign(site="north", w=rng.uniform(1, 2, 600))
        south = week(rng, 0.4, 600).assign(site="south", w=1.0)
        rows = pd.concat([rows, south]).assign(who=np.arange(1200) + 1200 * n)
        pd.concat([rows, rows]).to_csv(tmp_path / f"{n}.csv", index=False)
    monitor = tables.Monitor(
        "m", str(tmp_path / "*.csv"), {**policy, "limits": [limit]}
    )
    watch = tables.Watch(monitor, ()).run()
    inside = {claim.subgroup: claim for claim in watch.batches[0].claims}
    assert set(inside) == {"north", "south"}
    assert watch.broken[0][0] == "gap in selection rate at most 0.1, inside every"


def test_outcomes_that_come_later_are_joined_by_key(tmp_path):
    rng = np.random.default_rng(3)
    rows = week(rng, 0).assign(id=np.arange(600), day="2026-03-02")
    rows.loc[300:, "day"] = "2026-03-10"
    rows.to_csv(tmp_path / "scores.csv", index=False)
    outcomes = tmp_path / "outcomes.csv"
    limits = {
        **LIMITS,
        "outcome": "good=1",
        "limits": [{"measure": "true_positive_rate", "at_most": 0.3}],
    }
    truth = pd.DataFrame({"id": np.arange(600), "good": rng.integers(0, 2, 600)})
    truth[truth["id"] % 2 == 0].to_csv(outcomes, index=False)
    source = str(tmp_path / "scores.csv")
    fields = ("m", source, limits, "week", "day", str(outcomes), "id")
    first = tables.Watch(tables.Monitor(*fields), ()).run()
    assert [batch.label for batch in first.batches] == ["2026-03-02", "2026-03-09"]
    assert [b.excluded[0]._asdict() for b in first.batches] == [
        {"reason": "no value in good", "column": "good", "rows": 150}
    ] * 2
    truth.to_csv(outcomes, index=False)
    whole = first.run()
    assert [batch.excluded for batch in whole.batches] == [(), ()]
    assert whole.batches[0].digest != first.batches[0].digest


def test_the_shell_adds_runs_shows_and_calls_what_the_operator_allowed(
    home, tmp_path, monkeypatch
):
    def call(*arguments):
        return CliRunner().invoke(app, ["monitor", *map(str, arguments)])

    pattern = write_weeks(tmp_path, [0, 0])
    (tmp_path / "policy.yaml").write_text(json.dumps(LIMITS))
    code = "import sys; open(sys.argv[1], 'w').write(sys.stdin.read())"
    hook = shlex.join([sys.executable, "-c", code, str(tmp_path / "called.json")])
    command = [
        "--source",
        pattern,
        "--policy",
        tmp_path / "policy.yaml",
        "--hook",
        hook,
    ]
    refused = call("add", "../x: été", *command)
    assert refused.exit_code == 2
    assert "--hook" in refused.stderr
    monkeypatch.setenv("FAIRDASH_MONITOR_HOOKS", f"other\n{hook}")
    assert call("add", "../x: été", *command).exit_code == 0
    assert call("add", "../x: été", *command).exit_code == 2
    quiet = call("run")
    assert quiet.exit_code == 0, quiet.output
    assert not (tmp_path / "called.json").exists()
    write_weeks(tmp_path, [0, 0] + [0.3] * 10)
    loud = call("run", "../x: été")
    assert loud.exit_code == 1, loud.output
    called = json.loads((tmp_path / "called.json").read_text())
    assert called["broken"][0]["batch"].startswith("week")
    assert "Alarm since" in call("show").output
    out = tmp_path / "series.csv"
    assert call("show", "../x: été", "--out", out).exit_code == 0
    assert len(pd.read_csv(out)) == 12
    assert call("remove", "../x: été").exit_code == 0
    assert call("show").output == ""
    assert call("run", "nothing").exit_code == 2


def test_a_webhook_gets_an_alarm_once_and_only_if_the_operator_lists_it(
    home, tmp_path, monkeypatch
):
    posted = []

    class Hook(BaseHTTPRequestHandler):
        def do_POST(self):
            posted.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_):
            pass

    def run():
        return CliRunner().invoke(app, ["monitor", "run"])

    with HTTPServer(("127.0.0.1", 0), Hook) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/alarm"
        policy = tmp_path / "policy.yaml"
        policy.write_text(json.dumps(LIMITS))
        command = [
            "--source",
            write_weeks(tmp_path, [0.3] * 8),
            "--policy",
            str(policy),
        ]
        monkeypatch.setenv("FAIRDASH_MONITOR_HOOKS", url)
        add = ["monitor", "add", "m", *command, "--hook", url]
        assert CliRunner().invoke(app, add).exit_code == 0
        monkeypatch.setenv("FAIRDASH_MONITOR_HOOKS", "http://127.0.0.1:1/other")
        assert run().exit_code == 2  # the operator no longer lists it
        assert posted == []
        assert CliRunner().invoke(app, ["monitor", "remove", "m"]).exit_code == 0
        monkeypatch.setenv("FAIRDASH_MONITOR_HOOKS", url)
        assert CliRunner().invoke(app, add).exit_code == 0
        assert [run().exit_code for _ in range(2)] == [1, 1]
        server.shutdown()
    (alarm,) = map(json.loads, posted)
    assert alarm["monitor"] == "m"
    assert alarm["broken"][0]["limit"] == "gap in selection rate at most 0.1"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"every": "year"}, "--every"),
        ({"outcomes": "x.csv"}, "--key"),
        ({"name": " "}, "needs a name"),
    ],
)
def test_what_cannot_be_watched_is_refused(change, words):
    fields = {"name": "m", "source": "x", "policy": LIMITS, **change}
    with pytest.raises(ValueError, match=words):
        tables.Monitor(**fields)


def call(*arguments):
    return CliRunner().invoke(app, ["monitor", *map(str, arguments)])


def add(name, folder, *, n_weeks=2, gap=0.0, **options):
    """Add a monitor of so many weeks in a folder of its own."""
    place = folder / name
    place.mkdir()
    source = write_weeks(place, [gap] * n_weeks)
    policy = place / "policy.yaml"
    policy.write_text(json.dumps(LIMITS))
    words = [f"--{key}={value}" for key, value in options.items()]
    added = call("add", name, "--source", source, "--policy", policy, *words)
    assert added.exit_code == 0, added.output
    return place


def no_file(place, home):
    for file in place.glob("*.csv"):
        file.unlink()


def no_column(place, home):
    pd.DataFrame({"sex": ["f"], "taken": ["no"]}).to_csv(place / "week01.csv")


def no_table(place, home):
    (place / "week01.csv").write_bytes(b"")


def no_outcome(place, home):
    rows = pd.DataFrame({"sex": ["f", "m"] * 9, "hired": ["no"] * 18})
    for file in place.glob("*.csv"):
        rows.to_csv(file)


def no_monitor(place, home):
    for file in (home / "monitors").glob("*.json"):
        if f'"{place.name}"' in file.read_text():
            text = json.loads(file.read_text())
            text["monitor"]["every"] = "year"
            file.write_text(json.dumps(text))


BREAKS = [no_file, no_column, no_table, no_outcome, no_monitor]


@pytest.mark.parametrize(
    ("break_it", "place", "alarm"),
    paired(
        BREAKS,
        range(3),
        [False, True],
        name=lambda value: getattr(value, "__name__", value),
        together=1,
    ),
)
def test_a_broken_monitor_is_named_and_the_others_are_looked_at(
    home, tmp_path, break_it, place, alarm
):
    names = ["a", "b", "c"]
    n_weeks = 4 if alarm else 2  # an alarm takes a while
    folders = [
        add(name, tmp_path, gap=0.3 if alarm and at != place else 0, n_weeks=n_weeks)
        for at, name in enumerate(names)
    ]
    break_it(folders[place], home)
    done = call("run")
    assert done.exit_code == 2, done.output
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"{names[place]} was not looked at: ")
    for at, name in enumerate(names):
        state = "Alarm since" if alarm else "No alarm in 2 batches."
        assert (f"{name}: {state}" in done.stdout) == (at != place)
    seen = [item for item in names if item != names[place]]
    assert call("run", *seen).exit_code == int(alarm)
    listed = call("show")
    assert all(name in listed.output for name in names)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"source": "nothing/*.csv"}, "No file fits the source"),
        ({"source": "postgresql://ann:pw@db/bank?table=x"}, "--date COLUMN"),
        (
            {"source": "postgresql://ann:pw@db/bank?table=x", "date": "day"},
            "holds a password",
        ),
        ({"source": "s3://bucket/weeks/*.parquet"}, "--date COLUMN"),
        ({"date": "day"}, "--date"),
        ({"outcomes": "absent.csv", "key": "id"}, "no file of outcomes"),
        ({"policy": {"groups": ["gender"]}}, "gender"),
        ({"policy": {"decision": "taken=yes"}}, "taken"),
        ({"policy": {"decision": "hired=maybe"}}, "hired"),
    ],
)
def test_add_reads_one_batch_and_refuses_what_cannot_be_watched(
    home, tmp_path, change, words
):
    policy = tmp_path / "policy.yaml"
    policy.write_text(json.dumps({**LIMITS, **change.pop("policy", {})}))
    options = {"source": write_weeks(tmp_path, [0, 0]), "policy": policy, **change}
    command = [f"--{name}={value}" for name, value in options.items()]
    done = call("add", "m", *command)
    assert done.exit_code == 2
    assert words in done.stderr
    assert "pw" not in done.stderr
    assert call("show").output == ""


def test_batches_get_the_groups_of_a_second_file(home, tmp_path):
    rng = np.random.default_rng(5)
    sexes = pd.DataFrame({"id": np.arange(900), "sex": rng.choice(["f", "m"], 900)})
    sexes.to_csv(tmp_path / "sexes.csv", index=False)
    for at in range(2):
        rows = pd.DataFrame({"id": rng.integers(0, 990, 600)})
        rows["hired"] = rng.choice(["yes", "no"], 600)
        rows.to_csv(tmp_path / f"week{at:02}.csv", index=False)
        merged = rows.merge(sexes, on="id", how="left")
        merged.to_csv(tmp_path / f"whole{at:02}.csv", index=False)
    policy = tmp_path / "policy.yaml"
    policy.write_text(json.dumps(LIMITS))
    command = [f"--source={tmp_path}/week*.csv", f"--policy={policy}"]
    refused = call("add", "m", *command)
    assert refused.exit_code == 2
    assert "week00.csv has no column 'sex'" in refused.stderr
    assert "--join FILE --by COLUMN" in refused.stderr
    join = [f"--join={tmp_path}/sexes.csv", "--by=id"]
    done = call("add", "m", *command, *join)
    assert done.exit_code == 0, done.stderr
    assert call("run").exit_code == 0
    with closing(open_store()) as store:
        watch = tables.Watch.of_json(store.monitor("m"))
    whole = tables.Watch(tables.Monitor("w", f"{tmp_path}/whole*.csv", LIMITS), ())
    for batch, whole_batch in zip(watch.batches, whole.run().batches, strict=True):
        assert (batch.rows, batch.excluded) == (whole_batch.rows, whole_batch.excluded)
        assert batch.judged == whole_batch.judged
    (tmp_path / "sexes.csv").unlink()
    assert "There is no file" in call("run").stderr
    with pytest.raises(ValueError, match="`--join FILE` and `--by COLUMN` together"):
        tables.Monitor("m", "x.csv", LIMITS, by=("id",))


def test_a_batch_that_fails_by_itself_is_printed_beside_the_alarm(home, tmp_path):
    gaps = [0.0, 0.0, 0.22, 0.0]
    place = add("hires", tmp_path, n_weeks=4)
    write_weeks(place, gaps)
    done = call("run")
    assert done.exit_code == 0, done.output  # a batch breaks a limit by chance
    first, *failing = done.stdout.splitlines()
    assert first == "hires: No alarm in 4 batches. One batch fails by itself."
    (line,) = failing
    assert line.strip().startswith("week02.csv fails by itself: gap in selection rate")
    watch = tables.Watch.of_json((next((home / "monitors").iterdir())).read_text())
    row = watch.table().set_index("batch").loc["week02.csv"]
    assert row["batch alone"] == "fail"
    assert f"{row['value']:.3f} ({row['low']:.3f}–{row['high']:.3f})" in line
    assert call("run").stdout == done.stdout  # nothing new, the state is the same
    assert line.strip() in watch.answer().details
    write_weeks(place, [0.0] + [0.22] * 7)
    many = call("run").stdout.splitlines()
    assert len(many) <= 7
    assert "earlier failure" in many[1]


def test_a_stored_batch_that_passed_beyond_its_limit_is_judged_anew(tmp_path):
    """As an earlier version stored it, which called it "pass"."""
    rows = [("f", "yes")] * 75 + [("f", "no")] * 125
    rows += [("m", "yes")] * 100 + [("m", "no")] * 100
    frame = pd.DataFrame(rows, columns=["sex", "hired"])
    frame.to_csv(tmp_path / "a.csv", index=False)
    limit = {"measure": "selection_rate", "of": "ratio", "at_least": 0.8}
    policy = {**LIMITS, "limits": [limit], "must_be_sure": False}
    monitor = tables.Monitor("m", str(tmp_path / "*.csv"), policy)
    stored = json.loads(tables.Watch(monitor, ()).run().to_json())
    for judged in stored["batches"][0]["judged"]:
        judged.update(status="pass", reason="")
    (batch,) = tables.Watch.of_json(json.dumps(stored)).batches
    assert [judged.status for judged in batch.judged] == ["not surely broken"]
    assert "beyond the limit" in batch.judged[0].words
