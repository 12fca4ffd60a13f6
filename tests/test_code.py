"""A kept answer belongs to the code that computed it."""

import pytest

from fairdash import _code


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of three rooms, whose files a test may change."""
    for name in ("_record.py", "datasets/a.py", "datasets/b.toml", "metrics/a.py"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("1")
    monkeypatch.setattr(_code, "_PACKAGE", tmp_path)
    _code.version_of.cache_clear()
    yield tmp_path
    _code.version_of.cache_clear()


def version(*rooms):
    _code.version_of.cache_clear()
    return _code.version_of(*rooms)


@pytest.mark.parametrize("name", ["_record.py", "datasets/a.py", "datasets/b.toml"])
def test_a_change_of_a_file_is_another_version(package, name):
    before = version("datasets")
    (package / name).write_text("2")
    assert version("datasets") != before


def test_a_new_file_and_another_release_are_other_versions(package, monkeypatch):
    before = version("datasets")
    (package / "datasets" / "c.py").write_text("1")
    with_file = version("datasets")
    monkeypatch.setattr(_code, "__version__", "9.9.9")
    assert len({before, with_file, version("datasets")}) == 3


def test_rooms_that_are_not_named_change_nothing(package):
    before = version("datasets")
    (package / "metrics" / "a.py").write_text("2")
    assert version("datasets") == before
    assert version("datasets", "metrics") != before
