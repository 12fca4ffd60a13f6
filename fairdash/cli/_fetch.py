"""List the public tables; fetch one and leave it with its roles as files."""

from pathlib import Path

import typer
import yaml

from fairdash.datasets import PUBLIC, fetch_table


def public_tables() -> str:
    """Return every public table with its variants: name, rows and what these are."""
    lines = []
    for name, public in PUBLIC.items():
        lines.append(f"{name}: {public.title}. {public.note}")
        lines += [
            f"  {variant} ({rows.n_rows:,} rows): {rows.rows}"
            for variant, rows in public.variants.items()
        ]
    return "\n".join(lines)


def fetch_files(name: str, variant: str | None, folder: Path) -> None:
    """Write a public table and its roles into a folder and print what they are.

    The publisher's file is looked for in the folder too, and kept there.

    Raises
    ------
    ValueError
        As `fairdash.datasets.fetch`, or when the folder cannot be written to.
    """
    frame = fetch_table(name, folder.absolute(), variant)
    public = PUBLIC[name]
    variant = variant or next(iter(public.variants))
    table = folder / f"{name}-{variant}.parquet"
    roles = table.with_suffix(".yaml")
    known = public.roles.model_dump(mode="json", exclude_defaults=True)
    try:
        frame.to_parquet(table, index=False)
        roles.write_text(yaml.safe_dump(known, sort_keys=False))
    except OSError as error:
        raise ValueError(f"{table} could not be written: {error}.") from error
    typer.echo(f"{public.title} ({variant}): {len(frame)} rows, from {public.url}")
    typer.echo(f"rows  {public.variants[variant].rows}")
    typer.echo(public.note)
    typer.echo(f"table {table}")
    typer.echo(f"roles {roles}")
