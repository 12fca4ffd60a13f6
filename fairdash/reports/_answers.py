"""An answer in a report: one form for every question."""

from fairdash import plots
from fairdash.audits import Answer, Listing
from fairdash.reports._blocks import Block, Cards, Figure, Table, Words


def blocks_of(answer: Answer) -> list[Block]:
    """Return an answer as blocks: finding, cards, figure with its table, changes."""
    blocks: list[Block] = []
    if answer.verdict:
        blocks.append(Words(answer.verdict, finding=True))
    if answer.cards:
        blocks.append(Cards(answer.cards))
    if answer.details:
        blocks.append(Words(answer.details))
    table = None if answer.table is None else _table(answer.table)
    if answer.figure is not None:
        picture = answer.figure.picture(plots)
        blocks.append(Figure(picture, answer.caption, table))
    elif table is not None:
        blocks.append(table)
    if answer.changes is not None:
        blocks.append(_table(answer.changes))
    return blocks


def _table(listing: Listing) -> Table:
    return Table(listing.title, listing.frame, listing.note)
