import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from fairdash.datasets import read_table, reading
from fairdash.datasets.reading.rows import unique_names

TABLE = pd.DataFrame(
    {"age": [31, 45, 52], "sex": ["f", "m", None], "score": [0.5, np.nan, 2.25]}
)


def test_reads_parquet_from_bytes_and_paths(tmp_path):
    TABLE.to_parquet(tmp_path / "table.parquet")
    expected = read_table((tmp_path / "table.parquet").read_bytes())
    assert_frame_equal(expected, TABLE)
    assert_frame_equal(read_table(tmp_path / "table.parquet"), TABLE)
    assert_frame_equal(read_table(str(tmp_path / "table.parquet")), TABLE)


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("chosen", ["utf-8", "utf-8-sig"])
@pytest.mark.parametrize("quote", ["", '"'])
def test_a_byte_order_mark_that_was_not_said_or_is_not_there_costs_no_row(
    mark, chosen, quote
):
    content = mark + f"{quote}a{quote},b\n1,2\n3,4\n".encode()
    table = read_table(content, table_format=reading.TableFormat(encoding=chosen))
    assert table.to_dict("list") == {"a": [1, 3], "b": [2, 4]}


def test_names_are_told_apart_one_by_one():
    names = unique_names(["a", "a", "a.1", "", "a", "Unnamed: 3", "a.1"])
    expected = ["a", "a.2", "a.1", "Unnamed: 3", "a.3", "Unnamed: 3.1", "a.1.1"]
    assert names == expected
    assert len(set(unique_names(["x"] * 20_000))) == 20_000
