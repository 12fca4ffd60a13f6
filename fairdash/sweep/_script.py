"""Write a sweep as a short script of public calls."""

from pprint import pformat
from textwrap import indent

from fairdash import __version__
from fairdash._escaping import as_literal
from fairdash.sweep._spec import SweepSpec

SCRIPT = '''\
"""{title}

Written by fairdash {version}; run it with Python to get the same figures.
"""
{system}
from fairdash.sweep import {names}
{usage}
spec = SweepSpec.model_validate(
{spec}
)
results = run_sweep({arguments})
print(results.to_string())
'''
USAGE = """
if len(sys.argv) != 2:
    sys.exit(f"usage: python {sys.argv[0]} TABLE  (the file that was trained on)")
"""


def python_script(spec: SweepSpec) -> str:
    """Return a script whose ``results`` hold the figures of ``run_sweep(spec)``.

    That of an uploaded table asks for the path of its file.
    """
    content = spec.model_dump(mode="json", exclude_none=True)
    parts = {
        "system": "",
        "names": "SweepSpec, run_sweep",
        "usage": "",
        "arguments": "spec",
    }
    if spec.data.table is not None:
        parts = {
            "system": "\nimport sys\n",
            "names": "SweepSpec, load_dataset, run_sweep",
            "usage": USAGE,
            "arguments": "spec, dataset=load_dataset(spec.data, sys.argv[1])",
        }
    return SCRIPT.format(
        title=as_literal(spec.data.name)[1:-1],  # whatever it holds, it stays text
        version=__version__,
        spec=indent(pformat(content, width=84, sort_dicts=False), "    "),
        **parts,
    )
