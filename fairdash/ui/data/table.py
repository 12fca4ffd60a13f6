"""The table in work: where it comes from and how it becomes a data set."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from fairdash._escaping import plain
from fairdash.audits import gaps
from fairdash.datasets import (
    PUBLISHED,
    SAMPLES,
    Roles,
    Subgroups,
    guessing,
    load_sample,
)
from fairdash.jobs import finished_file, unpack_runs
from fairdash.store import Draft
from fairdash.ui import pages
from fairdash.ui.data.computed import file_of, guess_of
from fairdash.ui.selection import OF_DATA, Fields
from fairdash.ui.widgets.blocks import problem
from fairdash.ui.widgets.frame import open_page, stop_empty
from fairdash.ui.widgets.state import store
from fairdash.ui.widgets.tour import go_to_stop


@dataclass(frozen=True)
class OpenTable:
    """A table with the roles known or guessed so far."""

    digest: str  # sha256 of the file
    file: str  # its name
    name: str  # of the data set
    frame: pd.DataFrame
    roles: Roles  # as edited so far, like the subgroups
    subgroups: Subgroups
    kept_roles: Roles  # those of the data set, or the first guess
    kept_subgroups: Subgroups
    place: str  # where edits are kept: the id of the data set, or of the table
    version: int  # changes with what fills in the form

    @property
    def key(self) -> str:
        """Identity of the form: with another one it is filled in anew."""
        return f"{self.place} {self.version}"

    @property
    def is_dataset(self) -> bool:
        """Whether it is kept with roles, and not only as a table."""
        return self.place != self.digest


def keep_dataset(table: OpenTable, roles: Roles, subgroups: Subgroups) -> str:
    """Keep the roles of a table, confirmed now, and return the id of the data set."""
    roles = roles.model_copy(update={"guessed": False})
    data = store().add_dataset(table.digest, roles, table.name, subgroups)
    store().drop_draft(table.place)
    if table.is_dataset and data != table.place:
        store().carry_scores(table.place, data)
    return data


@dataclass(frozen=True)
class TableFields(Fields):
    """Choices of the Data page in the address."""

    # Digest of a table that has no roles yet.
    table: str | None = field(default=None, metadata=OF_DATA)


def open_table(dataset_id: str | None) -> OpenTable | None:
    """Return the table the address names, by ``?data=`` or ``?table=``, or None."""
    if dataset_id:
        record = store().dataset_record(dataset_id)
        columns = {"subgroup_columns": record.subgroups.columns}
        roles = record.roles.model_copy(update=columns)
        file = (record.table_sha256, record.table_name, record.name)
        return _with_draft(file, roles, record.subgroups, dataset_id)
    digest = TableFields.here().table or ""
    files = {table.sha256: table.name for table in store().tables()}
    if digest not in files:
        return None
    roles = first_roles(digest, files[digest])
    file = (digest, files[digest], title_of(files[digest]))
    return _with_draft(file, roles, Subgroups(columns=roles.subgroup_columns), digest)


def _with_draft(
    file: tuple[str, str, str], roles: Roles, subgroups: Subgroups, place: str
) -> OpenTable:
    draft = store().draft(place) or Draft(roles, subgroups)
    return OpenTable(
        *file,
        frame=store().table(file[0]),
        roles=draft.roles,
        subgroups=draft.subgroups,
        kept_roles=roles,
        kept_subgroups=subgroups,
        place=place,
        version=draft.version,
    )


def sample_cards() -> None:
    """Draw a card for each sample that opens it."""
    with st.grid(columns=4, min_column_width=220, gap="small"):
        for name, sample in SAMPLES.items():
            with st.container(border=True, height="stretch", gap="xsmall"):
                st.markdown(f"**{sample.title}**: {sample.planted}")
                st.caption(f"{sample.n_rows:,} rows, synthetic")
                buttons = st.container(horizontal=True)
                opened = buttons.button(
                    "Open", icon=":material/arrow_forward:", key=f"open {name}"
                )
                if buttons.button(
                    "Finished sweep",
                    type="tertiary",
                    icon=":material/tune:",
                    key=f"finished {name}",
                ):
                    open_finished(name)
            if opened:
                open_page(pages.DATA, data=add_sample(name))
        for name, table in PUBLISHED.items():
            with st.container(border=True, height="stretch", gap="xsmall"):
                st.markdown(f"**{table.title}**: {table.question} {_finding(name)}")
                st.caption(f"{table.n_people:,} people, published counts")
                opened = st.button(
                    "Open",
                    icon=":material/arrow_forward:",
                    key=f"open {name}",
                    help=table.source,
                )
            if opened:
                open_page(pages.DATA, data=add_sample(name))


@lru_cache(maxsize=4)
def _finding(name: str) -> str:
    """Return the sentence that the counts of a published table say."""
    dataset = load_sample(name)
    return plain(gaps.reversal_words(dataset, PUBLISHED[name].subgroups))


def open_finished(name: str, *, tour: bool = False) -> None:
    """Open the finished sweep that comes with a sample, or the tour through it."""
    try:
        (run,), _ = unpack_runs(store(), finished_file(name))
    except ValueError as error:
        problem("This run does not fit here", error)
        return
    data = store().run(run).dataset_id
    if tour:
        go_to_stop(1, run, data)
    open_page(pages.SWEEP, run=run, data=data)


def add_sample(name: str) -> str:
    """Put a sample in the store and return the id of its data set."""
    sample = PUBLISHED[name] if name in PUBLISHED else SAMPLES[name]
    digest = store().add_table(sample.path.read_bytes(), sample.path.name)
    return store().add_dataset(digest, sample.roles, sample.title, sample.subgroups)


def ways_to_a_table(page: pages.Page) -> dict[str, Callable[[], None]]:
    """Return what a page without a table offers: the sample there, or an upload."""
    return {
        "Open the sample": lambda: open_page(page, data=add_sample("loans")),
        "Upload a table": lambda: open_page(pages.DATA),
    }


def can_train(data: str) -> bool:
    """Tell whether a data set has features to train from."""
    return bool(store().dataset_record(data).roles.features)


def stop_without_features(data: str) -> None:
    """End a page that trains where a data set has no features."""
    if not can_train(data):
        stop_empty(
            "Nothing to train from",
            "No column of this table is a feature. Its rates and the scores it came "
            "with can be audited as they are. To train a model, choose features under "
            "Roles.",
            {"Choose features": lambda: open_page(pages.DATA, data=data)},
        )


def first_roles(digest: str, file: str) -> Roles:
    """Return guessed roles, or some that name no column when none could be guessed."""
    guess = guess_of(digest, file)
    if isinstance(guess, guessing.RoleGuess):
        return guess.roles
    choice: dict[str, Any] = {"target": "", "sensitive_feature": "", "positive": "1"}
    return Roles.model_construct(**choice, features=())


def open_digest(digest: str, name: str) -> None:
    """Open a table that was just kept, with guessed roles where there are any."""
    roles = first_roles(digest, file_of(digest))
    if roles.guessed:
        with suppress(ValueError):  # the form shows what is wrong with the guess
            open_page(pages.DATA, data=store().add_dataset(digest, roles, name))
    open_page(pages.DATA, table=digest)


def open_dataset(dataset_id: str) -> None:
    """Open a data set that was just kept."""
    open_page(pages.DATA, data=dataset_id)


def title_of(file: str) -> str:
    """Return the name of a data set made of a file."""
    name = Path(file).name
    return name.split(".")[0].replace("_", " ") or name
