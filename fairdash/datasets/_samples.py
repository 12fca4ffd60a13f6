"""Three synthetic tables whose local bias was planted and is documented."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash import APP_FOLDER
from fairdash._validation import check_one_of
from fairdash.datasets._dataset import Dataset, make_dataset
from fairdash.datasets._roles import Roles
from fairdash.datasets._subgroups import Subgroups
from fairdash.datasets.reading.read import read_table

FOLDER = APP_FOLDER / "sample_data"


@dataclass(frozen=True)
class Sample:
    """A synthetic table with a known right answer.

    Attributes
    ----------
    planted : str
        One sentence: where the bias is, how it came about and how large it is.
    planted_rows : callable
        Takes a table and flags the rows of all groups in the planted region, so that
        the gap between groups over these rows is the planted one.
    """

    title: str
    path: Path
    roles: Roles
    subgroups: Subgroups
    planted: str
    n_rows: int
    planted_rows: Callable[[pd.DataFrame], NDArray[np.bool_]]
    later: Path | None = None


def load_sample(name: str) -> Dataset:
    """Load a sample table with its roles.

    It is "loans", "hiring" or "readmission".
    """
    check_one_of("name", name, SAMPLES)
    sample = SAMPLES[name]
    content = sample.path.read_bytes()
    table = read_table(content, name=sample.path.name)
    key = hashlib.sha256(content).hexdigest()
    return make_dataset(table, sample.roles, name=sample.title, key=key)


def _young(frame: pd.DataFrame) -> NDArray[np.bool_]:
    return (frame["age"] < 30).to_numpy()


def _north_depot(frame: pd.DataFrame) -> NDArray[np.bool_]:
    return (frame["site"] == "North depot").to_numpy()


def _old_at_community_clinic(frame: pd.DataFrame) -> NDArray[np.bool_]:
    old = frame["age"].between(65, 74)
    return (old & (frame["clinic"] == "community")).to_numpy()


SAMPLES: dict[str, Sample] = {
    "loans": Sample(
        title="Loans",
        path=FOLDER / "loans.csv.gz",
        roles=Roles(
            target="approved",
            positive="1",
            sensitive_feature="sex",
            features=(
                "age",
                "region",
                "sector",
                "employment",
                "part_time",
                "months_out_of_work",
                "years_at_employer",
                "income",
                "debt",
                "missed_payments",
                "housing",
                "purpose",
                "amount",
            ),
            subgroup_columns=("age", "employment"),
        ),
        subgroups=Subgroups(columns=("age",), widths={"age": 5}),
        planted="Loan officers marked down women under 30, most of all after a career "
        "break: 27% were approved where a fair rule approves 59%.",
        n_rows=9_000,
        planted_rows=_young,
        later=FOLDER / "loans_later.csv.gz",
    ),
    "hiring": Sample(
        title="Hiring",
        path=FOLDER / "hiring.csv.gz",
        roles=Roles(
            target="hired",
            positive="1",
            sensitive_feature="ethnicity",
            features=(
                "site",
                "role",
                "district",
                "second_language",
                "degree",
                "years_experience",
                "test_score",
                "interview_score",
                "referred",
            ),
            subgroup_columns=("site", "role"),
        ),
        subgroups=Subgroups(columns=("site",)),
        planted="Interviewers at the North depot scored Asian and Black candidates 2.2 "
        "points too low: 13% were hired where fair scores hire 42%.",
        n_rows=8_000,
        planted_rows=_north_depot,
    ),
    "readmission": Sample(
        title="Readmission",
        path=FOLDER / "readmission.csv.gz",
        roles=Roles(
            target="readmitted",
            positive="1",
            sensitive_feature="ethnicity_recorded",
            groups={"White": ("White",), "Black or Asian": ("Black", "Asian")},
            features=(
                "age",
                "clinic",
                "diagnosis",
                "emergency",
                "days_in_hospital",
                "earlier_admissions",
                "medications",
                "lives_alone",
                "interpreter",
                "deprivation",
                "home_visits",
            ),
            subgroup_columns=("clinic", "age"),
        ),
        subgroups=Subgroups(columns=("clinic", "age"), widths={"age": 10}),
        planted="Community clinics gave Black and Asian patients of 65 to 74 almost no "
        "home visits: 66% came back where equal care brings back 34%.",
        n_rows=12_000,
        planted_rows=_old_at_community_clinic,
    ),
}
