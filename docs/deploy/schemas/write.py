"""Write docs/deploy/schemas from the types that the command line writes and reads.

python docs/deploy/schemas/write.py
"""

import json
from pathlib import Path

from pydantic import TypeAdapter

from fairdash.audits.tables.policy import Policy

FOLDER = Path(__file__).parent
FORMS = {"policy": Policy}


def schemas() -> dict[str, str]:
    """Return the JSON schema of every form, by name."""
    return {
        name: json.dumps(TypeAdapter(form).json_schema(), indent=1) + "\n"
        for name, form in FORMS.items()
    }


if __name__ == "__main__":
    for name, text in schemas().items():
        (FOLDER / f"{name}.json").write_text(text)
