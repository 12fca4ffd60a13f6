"""Write the README's table of methods from the catalog.

python docs/method_table.py
"""

from pathlib import Path

from fairdash.methods import CATALOG

README = Path(__file__).parents[1] / "README.md"
START, END = "<!-- methods -->\n", "<!-- end of methods -->"


def table() -> str:
    """Return one Markdown row per method."""
    lines = ["| method | what it does | set by | source |", "|---|---|---|---|"]
    for method in CATALOG.values():
        letters = [
            f"`{param.name}`" + (f" ({param.letter})" if param.letter else "")
            for param in method.params
            if not param.advanced
        ]
        cells = [
            f"**{method.label}** `{method.key}`",
            method.summary,
            ", ".join(letters) or "–",
            method.source,
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def filled(readme: str) -> str:
    """Return the README's text with the table as the catalog has it now."""
    before, rest = readme.split(START)
    _, after = rest.split(END)
    return before + START + table() + END + after


if __name__ == "__main__":
    README.write_text(filled(README.read_text()))
