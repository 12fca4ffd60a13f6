import shutil
import subprocess

import pytest
from hostile_texts import MARKS

from fairdash._escaping import as_argument


@pytest.mark.parametrize("mark", [mark for mark in MARKS if "\x00" not in mark])
def test_bash_reads_an_argument_as_it_was(mark):
    bash = shutil.which("bash")
    assert bash is not None
    written = as_argument(f"a{mark} 'b")
    assert written.isprintable()
    command = [bash, "-c", f"printf %s {written}"]
    done = subprocess.run(
        command, capture_output=True, check=True, env={"LC_ALL": "C.UTF-8"}
    )
    assert done.stdout.decode() == f"a{mark} 'b"
