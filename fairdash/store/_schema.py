"""The tables of the store. `migrations/` brings an older store to this shape."""

import sqlalchemy as sa

METADATA = sa.MetaData()

TABLES = sa.Table(
    "tables",
    METADATA,
    sa.Column("sha256", sa.Text, primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("n_rows", sa.Integer, nullable=False),
    sa.Column("n_columns", sa.Integer, nullable=False),
    sa.Column("size", sa.Integer, nullable=False),
    sa.Column("created", sa.Float, nullable=False),
)

DATASETS = sa.Table(
    "datasets",
    METADATA,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("table_sha256", sa.Text, sa.ForeignKey("tables.sha256"), nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("roles", sa.Text, nullable=False),
    sa.Column("subgroups", sa.Text, nullable=False),
    sa.Column("created", sa.Float, nullable=False),
)

RUNS = sa.Table(
    "runs",
    METADATA,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("dataset_id", sa.Text, sa.ForeignKey("datasets.id"), nullable=False),
    sa.Column("spec", sa.Text, nullable=False),
    sa.Column("status", sa.Text, nullable=False, index=True),
    sa.Column("error", sa.Text),
    sa.Column("summary", sa.Text),
    sa.Column("created", sa.Float, nullable=False),
    sa.Column("started", sa.Float),
    sa.Column("cancel_asked", sa.Float),
    sa.Column("finished", sa.Float),
)

TRIALS = sa.Table(
    "trials",
    METADATA,
    sa.Column("key", sa.Text, primary_key=True),
    sa.Column("method", sa.Text, nullable=False),
    sa.Column("params", sa.Text, nullable=False),
    sa.Column("seed", sa.Integer, nullable=False),
)

# A trial is trained once; its figures belong to the run that asked, because they
# depend on that run's subgroups.
RUN_TRIALS = sa.Table(
    "run_trials",
    METADATA,
    sa.Column("run_id", sa.Text, sa.ForeignKey("runs.id"), primary_key=True),
    sa.Column(
        "key", sa.Text, sa.ForeignKey("trials.key"), primary_key=True, index=True
    ),
    sa.Column("position", sa.Integer, nullable=False),
    sa.Column("status", sa.Text, nullable=False),
    sa.Column("row", sa.Text),
    sa.Column("error", sa.Text),
    sa.Column("seconds", sa.Float),
)

PROGRESS = sa.Table(
    "progress",
    METADATA,
    sa.Column("key", sa.Text, primary_key=True),
    sa.Column("epoch", sa.Integer, nullable=False),
    sa.Column("n_epochs", sa.Integer, nullable=False),
    sa.Column("seconds", sa.Float, nullable=False),
    sa.Column("event", sa.Text, nullable=False),
)
