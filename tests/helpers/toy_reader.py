"""A toy kind of files: a row a line, of name=value pairs with & between them."""

import pyarrow as pa

from fairdash.datasets.reading.format import TableFormat
from fairdash.datasets.reading.registry import Reader
from fairdash.datasets.table_notes import TableNotes

FILE = b"pairs\nage=31&sex=f\nage=45&sex=m\n"


class Pairs:
    """The rows of such a file."""

    notes = TableNotes()

    def __init__(self, source):
        with source.open() as file:
            lines = file.read().decode().removeprefix("pairs\n").splitlines()
        rows = [dict(pair.split("=") for pair in line.split("&")) for line in lines]
        self.header = list(rows[0])
        self._rows = rows

    def columns(self):
        """Return the columns as text."""
        return [pa.chunked_array([[row[n] for row in self._rows]]) for n in self.header]


READER = Reader(
    kind="pairs",
    label="name=value pairs",
    programs=("Pairs",),
    suffixes=(".pairs",),
    fits=lambda source, head: head.startswith(b"pairs\n"),
    sniff=lambda source: TableFormat(kind="pairs"),
    read=lambda source, form, scratch: (Pairs(source), form),
    has_types=False,
)
