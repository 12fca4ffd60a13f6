from toys import ROLES, people, people_csv

from fairdash.datasets import Subgroups
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
