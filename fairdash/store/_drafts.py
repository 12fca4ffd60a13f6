"""Roles that are being edited: kept through a refresh, not yet a data set."""

import json
import os
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from fairdash.datasets import Roles, Subgroups
from fairdash.store._database import Database


@dataclass(frozen=True)
class Draft:
    """Edited roles of a table.

    Attributes
    ----------
    roles, subgroups : Roles, Subgroups
    version : int
        Rises when they changed elsewhere than in the form that shows them.
    """

    roles: Roles
    subgroups: Subgroups
    version: int = 0


class Drafts(Database):
    """One draft per data set or table, in a file beside the database."""

    def draft(self, key: str) -> Draft | None:
        """Return the draft kept under ``key``, the id of a data set or of a table.

        None if there is none, or it was written by a version with other roles.
        """
        try:
            known = json.loads(self._draft_path(key).read_text())
            return Draft(
                Roles.model_validate(known["roles"]),
                Subgroups.model_validate(known["subgroups"]),
                int(known["version"]),
            )
        except (FileNotFoundError, json.JSONDecodeError, KeyError, ValidationError):
            return None

    def keep_draft(self, key: str, draft: Draft) -> None:
        """Keep a draft instead of the one before."""
        path = self._draft_path(key)
        path.parent.mkdir(exist_ok=True)
        values = {
            "roles": draft.roles.model_dump(mode="json"),
            "subgroups": draft.subgroups.model_dump(mode="json"),
            "version": draft.version,
        }
        beside = path.with_suffix(f".{os.getpid()}")
        beside.write_text(json.dumps(values))
        beside.replace(path)  # a reader sees the old draft or the new one

    def drop_draft(self, key: str) -> None:
        """Forget a draft; nothing happens if there is none."""
        self._draft_path(key).unlink(missing_ok=True)

    def _draft_path(self, key: str) -> Path:
        return self.home / "drafts" / f"{Path(key).name}.json"
