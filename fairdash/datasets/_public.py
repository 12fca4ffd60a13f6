"""Public tables: where they come from, how they are filtered, what columns mean."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from fairdash.datasets._format import TableFormat
from fairdash.datasets._read import read_table
from fairdash.datasets._roles import Roles

ADULT = (
    "age", "workclass", "fnlwgt", "education", "education_num", "marital_status",
    "occupation", "relationship", "race", "sex", "capital_gain", "capital_loss",
    "hours_per_week", "native_country", "income",
)  # fmt: skip
GERMAN = (
    "status", "months", "credit_history", "purpose", "credit_amount", "savings",
    "employment", "installment_rate", "personal_status", "other_debtors",
    "residence_since", "property", "age", "installment_plans", "housing",
    "number_of_credits", "skill_level", "people_liable_for", "telephone",
    "foreign_worker", "credit",
)  # fmt: skip
PERSONAL = ["name", "first", "last", "dob", "c_case_number", "r_case_number"]
UCI = "https://archive.ics.uci.edu"
GITHUB = "https://raw.githubusercontent.com"


@dataclass(frozen=True)
class PublicTable:
    """A table at its publisher, and the ways papers filter it.

    Attributes
    ----------
    title, url, file, sha256 : str
        The file at ``url`` is kept under the name ``file``.
    roles : Roles
    read : callable
        Takes the path of the file and returns the table before any filter.
    variants : mapping of str to callable
        Filters by name; the first is the default.
    n_rows : mapping of str to int
        Rows of each variant.
    note : str
        What the reader must know: licence, outcome, what was left out.
    """

    title: str
    url: str
    file: str
    sha256: str
    roles: Roles
    read: Callable[[Path], pd.DataFrame]
    variants: Mapping[str, Callable[[pd.DataFrame], pd.DataFrame]]
    n_rows: Mapping[str, int]
    note: str


def _adult(path: Path) -> pd.DataFrame:
    plain = TableFormat(header=False, spaces=True)
    test = TableFormat(header=False, spaces=True, skipped=1)
    parts = [
        read_table(path, sheet="adult.data", table_format=plain),
        read_table(path, sheet="adult.test", table_format=test),
    ]
    table = pd.concat(parts, ignore_index=True).set_axis(list(ADULT), axis=1)
    # labels of the test part end in a point
    return table.assign(income=table["income"].str.rstrip("."))


def _german(path: Path) -> pd.DataFrame:
    table = read_table(path).set_axis(list(GERMAN), axis=1)
    women = table["personal_status"].isin(["A92", "A95"])
    return table.assign(sex=women.map({True: "female", False: "male"}))


def _compas(path: Path) -> pd.DataFrame:
    # decile_score and priors_count come twice in the file, with the same values
    table = read_table(path)
    return table.drop(columns=[name for name in PERSONAL if name in table])


def _propublica(table: pd.DataFrame) -> pd.DataFrame:
    screened = table["days_b_screening_arrest"].between(-30, 30)
    known = (table["is_recid"] != -1) & (table["score_text"] != "N/A")
    kept = screened & known & (table["c_charge_degree"] != "O")
    return table[kept & table["score_text"].notna()]


def _road_compas(table: pd.DataFrame) -> pd.DataFrame:
    return _propublica(table).dropna(subset=["c_charge_desc"])


def _whole(table: pd.DataFrame) -> pd.DataFrame:
    return table


PUBLIC: dict[str, PublicTable] = {
    "adult": PublicTable(
        title="Adult",
        url=f"{UCI}/static/public/2/adult.zip",
        file="adult.zip",
        sha256="7537312dd56c2b98035880805ce99e68183a30ee468aa5329d6df0fbb3cc21bb",
        roles=Roles(
            target="income",
            positive=">50K",
            sensitive_feature="sex",
            features=tuple(
                name for name in ADULT if name not in ("sex", "fnlwgt", "income")
            ),
            subgroup_columns=("age", "race"),
        ),
        read=_adult,
        variants={"all": _whole, "complete": pd.DataFrame.dropna},
        n_rows={"all": 48_842, "complete": 45_222},
        note="Census 1994, CC BY 4.0. Sampling weights are no feature.",
    ),
    "compas": PublicTable(
        title="COMPAS",
        url=f"{GITHUB}/propublica/compas-analysis/master/compas-scores-two-years.csv",
        file="compas-scores-two-years.csv",
        sha256="c451db85908b2f7fef1d83203bedf6b71ecda0d5af468d82ae62178f91d0cc7d",
        roles=Roles(
            target="two_year_recid",
            positive="1",
            sensitive_feature="race",
            groups={"Caucasian": ("Caucasian",), "Not Caucasian": ()},
            features=(
                "sex", "age", "age_cat", "juv_fel_count", "juv_misd_count",
                "juv_other_count", "priors_count", "c_charge_degree", "c_charge_desc",
            ),
            subgroup_columns=("age", "sex"),
            positive_is="unfavourable",
        ),
        read=_compas,
        variants={"road": _road_compas, "propublica": _propublica, "all": _whole},
        n_rows={"road": 6_167, "propublica": 6_172, "all": 7_214},
        note="Broward County records; names and case numbers are left out.",
    ),
    "law": PublicTable(
        title="Law school",
        url=f"{GITHUB}/axa-rev-research/ROAD-fairness/main/data/lawschool.csv",
        file="lawschool_road.csv",
        sha256="7bc6ada636067f0613cbdc2e42db766684ca8fe32189006d315d84fbd8e1ef1a",
        roles=Roles(
            target="bar1",
            positive="1",
            sensitive_feature="race7",
            groups={"White": ("1",), "Not white": ("0",)},
            features=(
                "cluster", "lsat", "ugpa", "zfygpa", "zgpa", "fulltime", "fam_inc",
                "age", "gender",
            ),
            subgroup_columns=("age", "gender"),
        ),
        read=read_table,
        variants={"road": _whole},
        n_rows={"road": 1_823},
        note="The near-balanced subsample of the ROAD paper; its age is no age.",
    ),
    "german": PublicTable(
        title="German credit",
        url=f"{UCI}/ml/machine-learning-databases/statlog/german/german.data",
        file="german.data",
        sha256="b21f3d81db8071257d5ff1deaeba1fd4303b62712e6fcc9715c7a86202cb5871",
        roles=Roles(
            target="credit",
            positive="1",
            sensitive_feature="sex",
            features=tuple(
                name for name in GERMAN if name not in ("personal_status", "credit")
            ),
            subgroup_columns=("age",),
        ),
        read=_german,
        variants={"all": _whole},
        n_rows={"all": 1_000},
        note="CC BY 4.0. Sex is read from personal_status, which is left out.",
    ),
}  # fmt: skip
