"""A table, its roles and its subgroups keep names that mislead code."""

import io

import numpy as np
import pandas as pd
from hostile_names import several_names
from hypothesis import given, settings

from fairdash import datasets


@settings(max_examples=8, deadline=None)
@given(columns=several_names(4), groups=several_names(3), parts=several_names(2))
def test_columns_groups_and_subgroups_keep_the_names_they_have(columns, groups, parts):
    outcome, sensitive, part, number = columns
    rng, n = np.random.default_rng(0), 240
    frame = pd.DataFrame(
        {
            outcome: rng.choice(["yes", "no"], n),
            sensitive: np.array(groups)[np.arange(n) % 3],
            part: np.array(parts)[np.arange(n) // 3 % 2],
            number: rng.normal(size=n),
        }
    )
    file = io.BytesIO()
    frame.to_parquet(file)
    table = datasets.read_table(file.getvalue())
    assert table.columns.tolist() == columns
    roles = datasets.Roles(
        target=outcome,
        positive="yes",
        sensitive_feature=sensitive,
        features=(part, number),
        subgroup_columns=(part,),
    )
    assert datasets.Roles.model_validate_json(roles.model_dump_json()) == roles
    dataset = datasets.make_dataset(table, roles, name=groups[0])
    assert set(dataset.group_names) == set(groups)
    assert dataset.sensitive_features.tolist() == frame[sensitive].tolist()
    np.testing.assert_array_equal(dataset.y, frame[outcome] == "yes")
    label = datasets.Subgroups(columns=(part,)).label(dataset.frame)
    for _, values in frame[part].groupby(label.to_numpy()):
        assert len(set(values)) == 1
    assert label.nunique() == 2
    encoded = datasets.encode(dataset, datasets.split(dataset).train)
    assert len(set(encoded.feature_names)) == encoded.X.shape[1] == 3
    assert "error" not in set(datasets.check_table(table, roles)["severity"])
