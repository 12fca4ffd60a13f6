"""What a type checker knows of constructors that are made of declared parameters.

`tests/core/typed.py` plants many more mistakes; it is checked with the package itself.
Here no other package is read, so that a test of every day can ask.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODEL = """\
from fairdash._validation import check_positive
from fairdash.methods import BROAD, ROAD
from fairdash.methods.declare import param, positional, vary
from fairdash.methods.params import CONSTRAINT, TAU


class Toy(ROAD):
    tau: float = vary(TAU, default=0.1)
    slack: float = param(0.5, "Slack", check=check_positive)
    constraints: str = positional(default=CONSTRAINT, kw_only=False)


"""
RIGHT = [
    "ROAD()",
    'ROAD("demographic_parity", fairness_weight=3, tau=0.1, n_epochs=2)',
    'Toy("equalized_odds", tau=0.2, slack=0.3)',
    "slack: float = Toy().slack",
]
WRONG = {
    "ROAD(lambda_=3)": "call-arg",
    'ROAD(tau="x")': "arg-type",
    'ROAD("demographic_parity", 3)': "call-arg",
    'BROAD(fairness_weight="much")': "arg-type",
    'Toy(slack="much")': "arg-type",
    "Toy(slak=0.1)": "call-arg",
    "ROAD(slack=0.1)": "call-arg",
}


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """What mypy finds in calls right and wrong: its code by the text of the line."""
    folder = tmp_path_factory.mktemp("typed")
    text = MODEL + "\n".join([*RIGHT, *WRONG])
    (folder / "calls.py").write_text(text)
    options = ["--config-file=", "--cache-dir=/dev/null", "--follow-imports=silent"]
    alone = ["--no-site-packages", "--ignore-missing-imports"]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, *alone, "calls.py"],
        cwd=folder,
        env={**os.environ, "MYPYPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.stderr == ""
    faults = re.findall(r"^calls\.py:(\d+): error: .*\[([\w-]+)\]$", done.stdout, re.M)
    lines = text.splitlines()
    return {lines[int(number) - 1]: code for number, code in faults}


def test_mypy_refuses_a_wrong_type_and_a_name_that_is_no_parameter(found):
    assert found == WRONG
