"""Delete a data set or a table, with what depends on it and nothing else."""

import sqlalchemy as sa

from fairdash.store._artifacts import remove_folder
from fairdash.store._drafts import Drafts
from fairdash.store._runs import Runs
from fairdash.store._schema import DATASETS, RUNS, TABLES
from fairdash.store._shelf import Shelf


class Removal(Shelf, Runs, Drafts):
    """Data sets and tables can go; their runs go with them."""

    def delete_dataset(self, dataset_id: str) -> None:
        """Delete a data set with its runs, and its table if no other one is of it.

        Models of its runs go as in `delete_run`.

        Raises
        ------
        ValueError
            When there is no such data set, or a run on it is still open; nothing is
            deleted then.
        """
        record = self.dataset_record(dataset_id)
        runs = self.runs(dataset_id)
        still = [run.name for run in runs if not run.over]
        if still:
            message = f"{len(still)} runs on {record.name!r} are still open"
            raise ValueError(f"{message}: {', '.join(still[:3])}; cancel them first.")
        for run in runs:
            self.delete_run(run.id)
        mine = DATASETS.c.id == dataset_id
        with self.writing() as connection:
            of_it = sa.select(RUNS.c.id).where(RUNS.c.dataset_id == dataset_id)
            if connection.execute(of_it).first() is not None:
                message = f"A run on {record.name!r} was started just now"
                raise ValueError(f"{message}; cancel it first.")
            connection.execute(sa.delete(DATASETS).where(mine))
        self.drop_draft(dataset_id)
        table = record.table_sha256
        if all(other.table_sha256 != table for other in self.datasets()):
            self.delete_table(table)

    def delete_table(self, digest: str) -> None:
        """Delete an uploaded table that no data set is of.

        Raises
        ------
        ValueError
            When a data set is of it.
        """
        of_it = sa.select(DATASETS.c.name).where(DATASETS.c.table_sha256 == digest)
        with self.writing() as connection:
            names = connection.execute(of_it).scalars().all()
            if names:
                message = f"The table is of the data sets {list(names)}"
                raise ValueError(f"{message}; delete these.")
            connection.execute(sa.delete(TABLES).where(TABLES.c.sha256 == digest))
            remove_folder(self._table_folder(digest))  # within the lock, as in runs
        self._table.clear()
        self._dataset.clear()
        self.drop_draft(digest)
