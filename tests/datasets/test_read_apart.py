"""A foreign file is read in the box: the same table, with limits and an end."""

import pandas as pd
import pytest

from fairdash.datasets import reading
from fairdash.datasets.reading.convert import convert_table

CSV = b"age;note\n" + b"".join(b"%d;a %d,5\n" % (i, i) for i in range(3000))


def test_the_table_and_its_format_are_those_of_a_file_read_here(tmp_path):
    form = reading.TableFormat(kind="csv", delimiter=";", header=False)
    for name, given_format in {"found": None, "told": form}.items():
        path_here = tmp_path / f"{name} here"
        path_apart = tmp_path / f"{name} apart"
        wanted = convert_table(CSV, path_here, name="a.csv", table_format=given_format)
        result = reading.convert_apart(
            CSV, path_apart, name="a.csv", table_format=given_format
        )
        assert result == wanted
        pd.testing.assert_frame_equal(
            reading.load_table(path_apart), reading.load_table(path_here)
        )


def test_a_limit_ends_it_with_a_sentence(tmp_path):
    wide = b"a,b\n" + b"x" * 100_000 + b",1\n"
    with pytest.raises(ValueError, match=r"wide\.csv was not read: .* 0\.0 GiB"):
        reading.convert_apart(400 * wide, tmp_path / "t", name="wide.csv", memory=1)


def test_what_the_watch_raises_leaves_no_file(tmp_path):
    class Stopped(Exception):
        pass

    def stop(seconds, waiting):
        raise Stopped

    slow = b"a,b\n" + b"1,2\n" * 5_000_000
    with pytest.raises(Stopped):
        reading.convert_apart(slow, tmp_path / "table", stop, name="a.csv")
    assert [file.name for file in tmp_path.iterdir()] in ([], ["table"])
