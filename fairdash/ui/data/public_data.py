"""Public tables to choose from: fetched, kept and opened with their roles."""

from io import BytesIO
from urllib.parse import urlsplit

import streamlit as st

from fairdash._wording import plain, plural
from fairdash.datasets import PUBLIC, PublicTable, Variant, fetch_table
from fairdash.ui.widgets.blocks import problem
from fairdash.ui.widgets.frame import open_page
from fairdash.ui.widgets.state import store

_PAGE = "pages/1_Data.py"


def public_cards() -> None:
    """Draw a card for each public table; its button fetches and opens it.

    Under the cards an error says which file to put where when one cannot be fetched.
    """
    with st.grid(columns=3, min_column_width=250, gap="small"):
        pressed = [(name, _card(name, public)) for name, public in PUBLIC.items()]
    for name, variant in pressed:
        if variant is None:
            continue
        try:
            with st.spinner(f"Fetching {PUBLIC[name].title}…"):
                data = add_public(name, variant)
        except ValueError as error:
            problem(f"{PUBLIC[name].title} was not fetched", error)
        else:
            open_page(_PAGE, data=data)


def add_public(name: str, variant: str) -> str:
    """Put a public table in the store and return the id of its data set.

    Raises
    ------
    ValueError
        As `fairdash.datasets.fetch`.
    """
    public = PUBLIC[name]
    content = BytesIO()
    fetch_table(name, variant=variant).to_parquet(content, index=False)
    title = f"{public.title} ({variant})" if len(public.variants) > 1 else public.title
    digest = store().add_table(content.getvalue(), f"{public.file}, {variant}")
    return store().add_dataset(digest, public.roles, title)


def _card(name: str, public: PublicTable) -> str | None:
    """Draw a table and its variants; return the one to fetch when that is pressed."""
    with st.container(border=True, height="stretch", gap="xsmall"):
        with st.container(
            horizontal=True,
            horizontal_alignment="distribute",
            vertical_alignment="center",
        ):
            st.markdown(f"**{plain(public.title)}**", width="content")
            pressed = st.button(
                "Fetch",
                icon=":material/download:",
                type="tertiary",
                key=f"fetch {name}",
            )
        st.markdown(plain(public.note))
        st.caption(f"From [{urlsplit(public.url).netloc}]({public.url})")
        variant = next(iter(public.variants))
        if len(public.variants) > 1:
            variant = st.selectbox(
                f"Rows of {public.title}",
                list(public.variants),
                format_func=lambda name: f"{name}: {_count(public.variants[name])}",
                label_visibility="collapsed",
                key=f"variant {name}",
            )
        rows = public.variants[variant]
        st.caption(plain(f"{_count(rows)}: {rows.rows}."))
    return variant if pressed else None


def _count(variant: Variant) -> str:
    return plural(variant.n_rows, "row")
