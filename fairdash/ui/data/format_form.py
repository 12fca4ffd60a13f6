"""The form that says how a CSV file is written, where it was misunderstood."""

from collections.abc import Mapping
from dataclasses import replace

import streamlit as st

from fairdash.datasets import (
    DECIMALS,
    DELIMITERS,
    ENCODINGS,
    THOUSANDS,
    TableFormat,
)


def pick_format(form: TableFormat, key: str) -> TableFormat:
    """Draw how a CSV file is written, filled in with what was found, and return it.

    Raises
    ------
    ValueError
        If one mark is chosen for decimals and thousands.
    """
    with st.grid(columns=2, min_column_width=180, gap="xsmall"):
        delimiter = _pick("Delimiter", DELIMITERS, form.delimiter, key)
        encoding = _pick("Encoding", ENCODINGS, form.encoding, key)
        decimal = _pick("Numbers", DECIMALS, form.decimal, key)
        thousands = _pick("Thousands", THOUSANDS, form.thousands, key)
    header = st.toggle("The first row names the columns", form.header, key=f"{key} top")
    return replace(
        form,
        delimiter=delimiter,
        encoding=encoding,
        decimal=decimal,
        thousands=thousands,
        header=header,
    )


def _pick(label: str, names: Mapping[str, str], current: str, key: str) -> str:
    """Draw a choice of values by name; of those with one name, the current or first."""
    values = {name: value for value, name in reversed(list(names.items()))}
    values[names[current]] = current
    options = list(dict.fromkeys(names.values()))
    chosen = st.selectbox(
        label,
        options,
        index=options.index(names[current]),
        format_func=lambda name: name[0].upper() + name[1:],
        key=f"{key} {label}",
    )
    return values[chosen]
