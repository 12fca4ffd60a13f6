"""Write the table of public data in docs/data.md from the code.

python docs/public_table.py
"""

from pathlib import Path

from fairdash.datasets import PUBLIC

PAGE = Path(__file__).parent / "data.md"
START, END = "<!-- public data -->\n", "<!-- end of public data -->"


def table() -> str:
    """Return one Markdown row per variant of a public table."""
    lines = ["| name | variant | rows | which rows | 1 means | groups by |"]
    lines.append("|---|---|---|---|---|---|")
    for name, public in PUBLIC.items():
        for variant, rows in public.variants.items():
            roles = public.roles
            cells = [
                f"`{name}`",
                f"`{variant}`",
                f"{rows.n_rows:,}",
                rows.rows,
                roles.positive_words(),
                f"`{roles.sensitive_feature}`",
            ]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def filled(page: str) -> str:
    """Return the text of the page with the table as the code has it now."""
    before, rest = page.split(START)
    _, after = rest.split(END)
    return before + START + table() + END + after


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text()))
