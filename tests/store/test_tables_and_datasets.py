import pytest
from toys import ROLES, people, people_csv

from fairdash.datasets import Subgroups, guessing, overviews
from fairdash.store import open_store


def test_a_dataset_survives_reopening(store):
    digest = store.add_table(people_csv(), "people.csv")
    subgroups = Subgroups(columns=("branch",), min_size=20)
    dataset_id = store.add_dataset(digest, ROLES, "People", subgroups)
    again = open_store(store.home)
    record = again.dataset_record(dataset_id)
    assert (record.name, record.roles, record.subgroups) == ("People", ROLES, subgroups)
    assert (record.table_name, record.n_rows) == ("people.csv", 600)
    dataset = again.dataset(dataset_id)
    assert dataset.y.tolist() == (people()["hired"] == "yes").astype(int).tolist()
    again.close()


def test_other_subgroups_are_the_same_dataset_and_other_features_are_not(store):
    digest = store.add_table(people_csv(), "people.csv")
    dataset_id = store.add_dataset(digest, ROLES, "People")
    by_age = ROLES.model_copy(update={"subgroup_columns": ("age",)})
    assert store.add_dataset(digest, by_age, "People") == dataset_id
    record = store.dataset_record(dataset_id)
    assert (record.name, record.roles) == ("People", by_age)
    assert record.subgroups.columns == ("age",)
    fewer = ROLES.model_copy(update={"features": ("skill",)})
    assert store.add_dataset(digest, fewer, "People") != dataset_id
    assert len(store.datasets()) == 2


@pytest.fixture
def computed(monkeypatch):
    """The names of the files whose overviews are computed from now on."""
    names = []

    def compute(frame, file):
        names.append(file)
        return made(frame, file)

    made = overviews.overview_of
    monkeypatch.setattr(overviews, "overview_of", compute)
    return names


def test_the_overview_of_a_table_is_computed_once(store, table, computed):
    assert not store.has_overview(table)
    first = store.overview(table)
    assert store.has_overview(table)
    assert first.guess == guessing.rank_roles(store.table(table), "people.csv")
    again = open_store(store.home)
    assert again.overview(table) == again.overview(table, isolated=True) == first
    again.close()
    assert computed == ["people.csv"]


def test_the_box_computes_an_overview_and_it_is_kept(store, table, computed):
    isolated = store.overview(table, isolated=True)
    again = open_store(store.home)
    assert again.overview(table) == isolated
    again.close()
    assert computed == []
    assert isolated == overviews.overview_of(store.table(table), "people.csv")


def test_a_table_is_looked_at_here_where_the_box_gives_up(
    store, table, computed, monkeypatch
):
    monkeypatch.setattr(overviews, "overview_apart", lambda *args, **options: None)
    assert store.overview(table, isolated=True).roles.target == "hired"
    assert computed == ["people.csv"]


@pytest.mark.parametrize("change", ["damaged", "broken", "of other code"])
def test_a_damaged_or_stale_overview_is_computed_anew(
    store, table, computed, monkeypatch, change
):
    first = store.overview(table)
    (folder,) = store.files.listed("answers")
    if change == "damaged":
        (folder / "answer").write_bytes(b"{}")
    elif change == "broken":
        version = overviews.overview_version()
        store.keep_answer(table, folder.name, version, b"{")
    else:
        monkeypatch.setattr(overviews, "overview_version", lambda: "other")
    for n_computed in (2, 2):  # then it is kept
        again = open_store(store.home)
        assert again.overview(table) == first
        again.close()
        assert len(computed) == n_computed
    assert list(store.files.listed("answers")) == [folder]


def test_an_overview_goes_with_its_table(store, table, computed):
    store.overview(table)
    store.delete_table(table)
    assert not store.has_overview(table)
    for isolated in (False, True):
        with pytest.raises(ValueError, match="No table"):
            store.overview(table, isolated=isolated)
    assert store.add_table(people_csv(100), "applicants.csv") == table
    assert store.overview(table).file == "applicants.csv"
