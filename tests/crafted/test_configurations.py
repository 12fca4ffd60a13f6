"""A configuration made to swell or to run code is refused by a sentence, and soon."""

import json
import re
import subprocess
import sys

import pytest

from crafted import CONFIGURATIONS

pytestmark = pytest.mark.timeout(300)
LONGEST = 2_000  # letters of a refusal
# each in a process of its own, so that one that swells or hangs ends alone
READER = """
import json, os, resource, sys
from fairdash.methods import CATALOG
from fairdash.sweep import SweepSpec, expand

for path in sys.argv[1:]:
    process = os.fork()
    if process:
        os.waitpid(process, 0)
        continue
    resource.setrlimit(resource.RLIMIT_CPU, (5, resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, resource.RLIM_INFINITY))
    said = {"name": os.path.basename(path), "fault": ""}
    try:
        with open(path, "rb") as file:
            spec = SweepSpec.from_yaml(file.read().decode("utf-8", "surrogateescape"))
        said["words"] = f"valid: {len(expand(spec, 'key'))} trials"
    except ValueError as error:
        said["words"] = str(error)
    except Exception as error:
        said |= {"words": "", "fault": f"{type(error).__name__}: {error}"}
    print(json.dumps(said), flush=True)
    os._exit(0)
"""


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    """What is said of every configuration, by name; nothing of one that was ended."""
    folder = tmp_path_factory.mktemp("configurations")
    paths = [folder / name for name in CONFIGURATIONS]
    for path in paths:
        path.write_bytes(CONFIGURATIONS[path.name].make())
    command = [sys.executable, "-W", "error", "-c", READER, *map(str, paths)]
    read = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = [json.loads(line) for line in read.stdout.splitlines()]
    return {line["name"]: line for line in lines}


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_a_crafted_configuration_is_refused_by_a_sentence(outcomes, name):
    assert name in outcomes, "it took more than 5 s of a processor, or 4 GiB"
    outcome = outcomes[name]
    assert outcome["fault"] == ""
    assert re.search(CONFIGURATIONS[name].outcome, outcome["words"]), outcome["words"]
    assert not outcome["words"].startswith("valid")
    assert len(outcome["words"]) <= LONGEST
