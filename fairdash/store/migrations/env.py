"""Alembic's entry: apply the migrations on the connection of the opened store."""

from alembic import context

from fairdash.store._database import METADATA

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    render_as_batch=True,  # SQLite alters a table by copying it
)
with context.begin_transaction():
    context.run_migrations()
