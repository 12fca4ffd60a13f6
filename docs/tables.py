"""Write the tables of docs/methods.md and docs/data.md from the code.

python docs/tables.py
"""

from collections.abc import Iterator
from pathlib import Path

from fairdash.datasets import PUBLIC
from fairdash.methods import CATALOG

DOCS = Path(__file__).parent


def methods() -> Iterator[tuple[str, ...]]:
    """Yield the cells of every method, after those of the head."""
    yield "method", "what it does", "set by", "source"
    for method in CATALOG.values():
        letters = [
            f"`{param.name}`" + (f" ({param.letter})" if param.letter else "")
            for param in method.params
            if not param.advanced
        ]
        yield (
            f"**{method.label}** `{method.key}`",
            method.summary,
            ", ".join(letters) or "–",
            method.source,
        )


def public_data() -> Iterator[tuple[str, ...]]:
    """Yield the cells of every variant of a public table, after those of the head."""
    yield "name", "variant", "rows", "which rows", "1 means", "groups by"
    for name, public in PUBLIC.items():
        for variant, rows in public.variants.items():
            roles = public.roles
            yield (
                f"`{name}`",
                f"`{variant}`",
                f"{rows.n_rows:,}",
                rows.rows,
                roles.positive_words(),
                f"`{roles.sensitive_feature}`",
            )


TABLES = {"methods.md": methods, "data.md": public_data}


def filled(page: str) -> str:
    """Return the text of a page with its table as the code has it now."""
    head, *rows = TABLES[page]()
    table = "\n".join(
        f"| {' | '.join(cells)} |" for cells in (head, ("---",) * len(head), *rows)
    )
    before, _, rest = (DOCS / page).read_text().partition("<!-- table -->\n")
    _, _, after = rest.partition("<!-- end of table -->")
    return f"{before}<!-- table -->\n{table}\n<!-- end of table -->{after}"


if __name__ == "__main__":
    for page in TABLES:
        (DOCS / page).write_text(filled(page))
