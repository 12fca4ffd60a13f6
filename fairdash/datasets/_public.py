"""The public tables: where they come from, how they are filtered, what columns mean."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from fairdash.datasets._roles import Remedy, Roles
from fairdash.datasets._subgroups import Subgroups
from fairdash.datasets.reading.format import TableFormat
from fairdash.datasets.reading.read import read_table

UCI = "https://archive.ics.uci.edu"
GITHUB = "https://raw.githubusercontent.com"
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
MONTHS = range(1, 7)
CREDIT = (
    "id", "limit_bal", "sex", "education", "marriage", "age",
    "pay_0", "pay_2", "pay_3", "pay_4", "pay_5", "pay_6",
    *(f"bill_amt{month}" for month in MONTHS),
    *(f"pay_amt{month}" for month in MONTHS),
    "default_payment_next_month",
)  # fmt: skip
PERSONAL = ["name", "first", "last", "dob", "c_case_number", "r_case_number"]


@dataclass(frozen=True)
class Variant:
    """Rows of a public table that a paper uses.

    ``rows`` says which; ``keep`` takes the table and returns these rows of it.
    """

    rows: str
    n_rows: int
    keep: Callable[[pd.DataFrame], pd.DataFrame] = pd.DataFrame.copy


@dataclass(frozen=True)
class PublicTable:
    """A table at its publisher, and the ways papers filter it.

    Attributes
    ----------
    title, url, file : str
        The file at ``url`` is kept under the name ``file``.
    read : callable
        Takes the path of the file and returns the table before any filter.
    variants : mapping of str to Variant
        Filters by name; the first is the default.
    note : str
        What the reader must know: licence, outcome, what was excluded.
    sha256 : str
        Of the file, where it is known.
    content : str
        `content_digest` of the whole numbers that ``read`` returns, where the file's
        sha256 is not known.
    age_bins : Subgroups, optional
        The subgroups of the ROAD paper, where it has results on the table.
    """

    title: str
    url: str
    file: str
    roles: Roles
    read: Callable[[Path], pd.DataFrame]
    variants: Mapping[str, Variant]
    note: str
    sha256: str = ""
    content: str = ""
    age_bins: Subgroups | None = None

    @property
    def subgroups(self) -> Subgroups:
        """Return the subgroups of the paper, or those that the roles describe."""
        return self.age_bins or Subgroups(columns=self.roles.subgroup_columns)


def read_adult(path: Path) -> pd.DataFrame:
    """Return both parts of Adult under one another, with the names of UCI."""
    plain = TableFormat(header=False, spaces=True)
    test = TableFormat(header=False, spaces=True, skipped=1)
    parts = [
        read_table(path, sheet="adult.data", table_format=plain),
        read_table(path, sheet="adult.test", table_format=test),
    ]
    table = _named(pd.concat(parts, ignore_index=True), ADULT, path)
    # labels of the test part end in a point
    return table.assign(income=table["income"].str.rstrip("."))


def read_german(path: Path) -> pd.DataFrame:
    """Return German credit with names, and sex as personal_status tells it."""
    plain = TableFormat(delimiter=" ", spaces=True, header=False)
    table = _named(read_table(path, table_format=plain), GERMAN, path)
    women = table["personal_status"].isin(["A92", "A95"])
    return table.assign(sex=women.map({True: "female", False: "male"}))


def read_compas(path: Path) -> pd.DataFrame:
    """Return the COMPAS records without names and case numbers."""
    # decile_score and priors_count come twice in the file, with the same values
    table = read_table(path)
    return table.drop(columns=[name for name in PERSONAL if name in table])


def read_credit(path: Path) -> pd.DataFrame:
    """Return the clients with names for X1 to X23 and Y, all as whole numbers."""
    table = _named(read_table(path), CREDIT, path)
    numbers = table.apply(pd.to_numeric, errors="coerce")
    if not (numbers % 1 == 0).all(axis=None):
        raise ValueError(f"{path.name} has a cell that is no whole number.")
    return numbers.astype("int64")


def propublica(table: pd.DataFrame) -> pd.DataFrame:
    """Return the COMPAS rows of ProPublica's analysis."""
    screened = table["days_b_screening_arrest"].between(-30, 30)
    known = (table["is_recid"] != -1) & (table["score_text"] != "N/A")
    kept = screened & known & (table["c_charge_degree"] != "O")
    return table[kept & table["score_text"].notna()]


def propublica_with_charge(table: pd.DataFrame) -> pd.DataFrame:
    """Return those of `propublica` whose charge is described."""
    return propublica(table).dropna(subset=["c_charge_desc"])


def _named(table: pd.DataFrame, names: tuple[str, ...], path: Path) -> pd.DataFrame:
    if table.shape[1] != len(names):
        message = f"{path.name} has {table.shape[1]} columns where {len(names)}"
        raise ValueError(f"{message} were expected: it is another table.")
    return table.set_axis(list(names), axis=1)


def _road_bins(*columns: str, min_size: int) -> Subgroups:
    widths = {"age": 10.0}
    return Subgroups(columns=columns, widths=widths, edges="paper", min_size=min_size)


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
            positive_name="income above 50K",
            positive_is="favourable",
        ),
        read=read_adult,
        variants={
            "all": Variant("every row of adult.data and adult.test", 48_842),
            "complete": Variant(
                "rows without a missing value, as in Rezaei et al. (2020)",
                45_222,
                pd.DataFrame.dropna,
            ),
        },
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
            positive_name="recidivated",
            positive_is="unfavourable",
        ),
        read=read_compas,
        age_bins=_road_bins("age", "sex", min_size=50),
        variants={
            "road": Variant(
                "the rows of propublica whose charge is described, as in ROAD and in "
                "Rezaei et al. (2020)",
                6_167,
                propublica_with_charge,
            ),
            "propublica": Variant(
                "screened within 30 days of the arrest, recidivism and score known, no "
                "ordinary traffic offence: ProPublica's analysis",
                6_172,
                propublica,
            ),
            "all": Variant("every row of the file", 7_214),
        },
        note="Broward County records; names and case numbers are excluded.",
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
            positive_name="passed the bar at first",
            positive_is="favourable",
        ),
        read=read_table,
        variants={
            "road": Variant(
                "every row of the file, in which about half passed, as in ROAD", 1_823
            )
        },
        age_bins=_road_bins("age", "gender", min_size=20),
        note="The subsample of the ROAD paper; its age is no age.",
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
            positive_name="good credit",
            positive_is="favourable",
        ),
        read=read_german,
        age_bins=_road_bins("age", min_size=20),
        variants={"all": Variant("every row of the file", 1_000)},
        note="CC BY 4.0. Sex is read from personal_status, which is excluded.",
    ),
    "credit": PublicTable(
        title="Default of credit card clients",
        url=f"{UCI}/static/public/350/data.csv",
        file="default_of_credit_card_clients.csv",
        content="7e48dfcaca1d35c220935dbde79244f2007cbe821c110d6a4469706e1ee347af",
        roles=Roles(
            target="default_payment_next_month",
            positive="1",
            sensitive_feature="sex",
            features=tuple(
                name for name in CREDIT if name not in ("id", "sex", CREDIT[-1])
            ),
            subgroup_columns=("age", "education"),
            preparation=(
                Remedy(
                    kind="recode",
                    column="sex",
                    changes={"1": "male", "2": "female"},
                ),
                Remedy(
                    kind="recode",
                    column="education",
                    changes={
                        "1": "graduate school",
                        "2": "university",
                        "3": "high school",
                        "4": "others",
                    },
                ),
                Remedy(
                    kind="recode",
                    column="marriage",
                    changes={"1": "married", "2": "single", "3": "others"},
                ),
            ),
            positive_name="defaulted",
            positive_is="unfavourable",
        ),
        read=read_credit,
        variants={
            "all": Variant("every row, as in Wang et al. (2020)", 30_000)
        },
        note="Taiwan 2005, CC BY 4.0. Codes of education and marriage that UCI does "
        "not explain stay codes.",
    ),
}  # fmt: skip
