"""A large file is read in a process of its own: same table, with limits and an end."""

import io
import subprocess

import pandas as pd
import pytest

from fairdash.datasets import TableFormat, _child, convert_apart, is_large, load_table
from fairdash.datasets.reading.read import convert_table
from fairdash.datasets.reading.source import SeveralTablesError

CSV = b"age;note\n" + b"".join(b"%d;a %d,5\n" % (i, i) for i in range(3000))


def test_the_table_and_its_format_are_those_of_a_file_read_here(tmp_path):
    form = TableFormat(kind="csv", delimiter=";", header=False)
    for name, told in {"found": None, "told": form}.items():
        here, apart = tmp_path / f"{name} here", tmp_path / f"{name} apart"
        wanted = convert_table(CSV, here, name="a.csv", table_format=told)
        seen: list[float] = []
        found = convert_apart(CSV, apart, seen.append, name="a.csv", table_format=told)
        assert found == wanted
        pd.testing.assert_frame_equal(load_table(apart), load_table(here))
        assert seen == sorted(seen)
        assert seen


def test_what_is_wrong_is_said_in_the_same_words(tmp_path):
    with pytest.raises(ValueError, match=r"^a\.csv has a header but no rows"):
        convert_apart(b"age,sex\n", tmp_path / "t", lambda _: None, name="a.csv")
    book = io.BytesIO()
    with pd.ExcelWriter(book) as writer:
        for sheet in ("one", "two"):
            pd.DataFrame({"a": [1, 2], "b": [3, 4]}).to_excel(writer, sheet_name=sheet)
    with pytest.raises(SeveralTablesError) as apart:
        convert_apart(book.getvalue(), tmp_path / "t", lambda _: None, name="b.xlsx")
    with pytest.raises(SeveralTablesError) as here:
        convert_table(book.getvalue(), tmp_path / "t", name="b.xlsx")
    assert apart.value.names == here.value.names == ("one", "two")
    assert str(apart.value) == str(here.value)


def test_a_limit_ends_it_with_a_sentence(tmp_path):
    wide = b"a,b\n" + b"x" * 100_000 + b",1\n"
    with pytest.raises(ValueError, match=r"wide\.csv was not read: .* 0\.0 GiB"):
        convert_apart(
            400 * wide, tmp_path / "t", lambda _: None, name="wide.csv", most_memory=1
        )


def test_what_the_watch_raises_ends_the_process_and_leaves_nothing(
    tmp_path, monkeypatch
):
    class Stopped(Exception):
        pass

    started, start = [], subprocess.Popen

    def keep(*arguments, **options):
        started.append(start(*arguments, **options))
        return started[-1]

    monkeypatch.setattr(_child.subprocess, "Popen", keep)

    def stop(_: float) -> None:
        raise Stopped

    with pytest.raises(Stopped):
        convert_apart(CSV, tmp_path / "table", stop, name="a.csv")
    assert not list(tmp_path.iterdir())
    (process,) = started
    assert process.poll() is not None


@pytest.mark.parametrize(
    ("head", "size", "large"),
    [
        (b"a,b\n", 2 << 20, False),
        (b"a,b\n", 17 << 20, True),
        (b"PK\x03\x04", 2 << 20, True),
    ],
)
def test_packed_files_are_large_sooner(head, size, large):
    assert is_large(head + bytes(size)) is large
