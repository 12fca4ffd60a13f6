"""Tables in: read, say what columns mean, encode, split, make subgroups."""

from typing import TYPE_CHECKING

from fairdash._lazy import lazy

if TYPE_CHECKING:
    from fairdash.datasets._columns import (
        ColumnKind,
        common_labels,
        count_values,
        is_number,
        is_whole,
        label_codes,
    )
    from fairdash.datasets._dataset import (
        FOLDS,
        FRACTIONS,
        Dataset,
        make_dataset,
        read_weights,
        split,
        subsample,
        training_rows,
    )
    from fairdash.datasets._encode import (
        MISSING,
        Encoded,
        Encoder,
        NumberEncoding,
        encode,
    )
    from fairdash.datasets._named import (
        SAMPLES,
        Sample,
        fetch,
        fetch_table,
        load_sample,
    )
    from fairdash.datasets._problems import MOST_GROUPS
    from fairdash.datasets._public import PUBLIC, PublicTable, Variant
    from fairdash.datasets._remedies import (
        applied_remedies,
        apply_remedy,
        choose_features,
        prepare,
        undo_remedy,
    )
    from fairdash.datasets._roles import Cut, Remedy, Roles
    from fairdash.datasets._rows import group_labels, outcomes
    from fairdash.datasets._scores import AddedScores, ScoreColumn, ScoreKind
    from fairdash.datasets._subgroups import Subgroups, quantile_cuts
    from fairdash.datasets.checks.table import check_table, readable_checks
    from fairdash.datasets.guess.features import guess_features
    from fairdash.datasets.guess.ranking import Candidate
    from fairdash.datasets.guess.roles import (
        RoleGuess,
        chosen_of,
        groups_of,
        guess_groups,
        guess_positive,
        guess_rest,
        guess_roles,
        guess_score,
        rank_roles,
    )
    from fairdash.datasets.guess.words import guess_meaning
    from fairdash.datasets.reading.apart import TASK as READING_TASK
    from fairdash.datasets.reading.apart import convert_apart
    from fairdash.datasets.reading.convert import TableFile, convert_table
    from fairdash.datasets.reading.format import TableFormat
    from fairdash.datasets.reading.parquet import load_table
    from fairdash.datasets.reading.read import check_reading, read_table, table_digest
    from fairdash.datasets.reading.source import SeveralTablesError
    from fairdash.datasets.sources.address import is_address, shown
    from fairdash.datasets.sources.draw import table_file, write_source
    from fairdash.datasets.sources.listed import listed_sources, write_listed
else:
    __getattr__, __dir__ = lazy(__name__, __file__)
