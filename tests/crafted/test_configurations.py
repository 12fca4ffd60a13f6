"""A configuration made to swell or to run code is refused by a sentence, and soon."""

import json
import re
import subprocess
import sys
from itertools import count
from pathlib import Path

import pytest
import yaml
from cases import sampled
from hypothesis import given
from hypothesis import strategies as st

from crafted import CONFIGURATIONS
from fairdash._parsing import CONFIGURATION, Bounds, parsed
from fairdash.audits.tables import Policy
from fairdash.datasets import Roles
from fairdash.sweep import SweepSpec

pytestmark = pytest.mark.timeout(300)
LONGEST = 3_500  # letters of a refusal
DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)  # the first is libyaml's
# each in a process of its own, so that one that swells or hangs ends alone
READER = """
import json, os, resource, sys
from pathlib import Path
from fairdash.audits.tables import Policy
from fairdash.cli._data import read_roles
from fairdash.datasets.sources import listed_sources
from fairdash.methods import CATALOG
from fairdash.sweep import SweepSpec, benchmark_specs, expand

def sweep(path):
    text = path.read_bytes().decode("utf-8", "surrogateescape")
    return expand(SweepSpec.from_yaml(text), "key")

def sources(path):
    os.environ["FAIRDASH_SOURCES"] = str(path)
    return listed_sources("")

READERS = {
    "policy": lambda path: Policy.parse(path.read_bytes(), path.name).limits,
    "roles": read_roles,
    "sources": sources,
    "benchmark": benchmark_specs,
}

for path in sys.argv[1:]:
    process = os.fork()
    if process:
        os.waitpid(process, 0)
        continue
    resource.setrlimit(resource.RLIMIT_CPU, (5, resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, resource.RLIM_INFINITY))
    said = {"path": path, "fault": ""}
    path = Path(path)
    try:
        READERS.get(path.parent.name, sweep)(path)
        said["words"] = "valid"
    except ValueError as error:
        said["words"] = str(error)
    except Exception as error:
        said |= {"words": "", "fault": f"{type(error).__name__}: {error}"}
    print(json.dumps(said), flush=True)
    os._exit(0)
"""


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory, request):
    """What is said of the configurations that this session asks for, by name.

    Nothing is said of one that was ended.
    """
    here = [item for item in request.session.items if item.path == request.path]
    cases = [item.callspec for item in here if hasattr(item, "callspec")]
    asked = {case.params.get("name") for case in cases}
    folder = tmp_path_factory.mktemp("configurations")
    paths = {name: folder / name for name in CONFIGURATIONS if name in asked}
    for name, path in paths.items():
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(CONFIGURATIONS[name].make())
    command = [sys.executable, "-W", "error", "-c", READER, *map(str, paths.values())]
    process = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = [json.loads(line) for line in process.stdout.splitlines()]
    return {str(Path(line["path"]).relative_to(folder)): line for line in lines}


@pytest.mark.parametrize("name", sampled(CONFIGURATIONS, 3))
def test_a_crafted_configuration_is_refused_by_a_sentence(outcomes, name):
    assert name in outcomes, "it took more than 5 s of a processor, or 4 GiB"
    outcome = outcomes[name]
    assert outcome["fault"] == ""
    assert re.search(CONFIGURATIONS[name].outcome, outcome["words"]), outcome["words"]
    assert not outcome["words"].startswith("valid")
    assert len(outcome["words"]) <= LONGEST


WORDS = st.sampled_from(["road", "sex", "x" * 50_000, "selection_rate", "1e999", ""])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | WORDS,
    lambda inner: st.lists(inner, max_size=30) | st.dictionaries(WORDS, inner),
)
READERS = {
    "policy": (
        ["decision", "groups", "limits", "rows", "measures", "min_rows"],
        lambda text: Policy.parse(text, "policy.yaml"),
    ),
    "sweep": (["data", "methods", "seeds", "subgroups"], SweepSpec.from_yaml),
    "roles": (
        ["target", "positive", "sensitive_feature", "features", "groups", "keep"],
        lambda text: Roles.model_validate(parsed(text, "YAML")),
    ),
}


@pytest.mark.parametrize("reader", READERS)
@given(data=st.data())
def test_whatever_a_configuration_says_the_refusal_is_short(reader, data):
    names, load = READERS[reader]
    fields = st.dictionaries(st.sampled_from(names), VALUES | st.lists(VALUES))
    text = yaml.dump(data.draw(fields), Dumper=DUMPER)
    refusal = ""
    try:
        load(text)
    except ValueError as error:
        refusal = str(error)
    assert len(refusal) <= LONGEST


def test_a_text_is_read_no_further_than_its_bounds(monkeypatch):
    steps = count()
    parse = yaml.parse

    def counted(*arguments):
        for event in parse(*arguments):
            next(steps)
            yield event

    monkeypatch.setattr(yaml, "parse", counted)
    monkeypatch.setattr(yaml, "load", None)  # nothing is built of it
    for name in ("policy/lists.yaml", "policy/aliases.yaml", "aliases.yaml"):
        with pytest.raises(ValueError, match="too large"):
            parsed(CONFIGURATIONS[name].make(), "YAML")
    assert next(steps) <= 3 * 2 * CONFIGURATION.items


@pytest.mark.parametrize("form", ["YAML", "JSON"])
def test_items_are_counted_alike_in_both_forms(form):
    text = json.dumps({"a": [1, 2, {"b": None}]})  # 3 lists and mappings, 5 others
    assert parsed(text, form, Bounds(1_000, 8)) == json.loads(text)
    with pytest.raises(ValueError, match="more than 7 names and values"):
        parsed(text, form, Bounds(1_000, 7))


def test_an_alias_counts_as_what_it_stands_for():
    text = "a: &a [1, 2]\nb: [*a, *a]"
    assert parsed(text, "YAML", Bounds(100, 13))["b"] == [[1, 2], [1, 2]]
    with pytest.raises(ValueError, match="more than 12"):
        parsed(text, "YAML", Bounds(100, 12))
