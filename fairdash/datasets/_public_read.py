"""Publishers' files as tables: names, codes and the row filters of papers."""

from pathlib import Path

import pandas as pd

from fairdash.datasets._format import TableFormat
from fairdash.datasets._read import read_table

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
LAW_NUMBERS = (
    "decile1b", "decile3", "lsat", "ugpa", "zfygpa", "zgpa", "fulltime", "fam_inc",
    "male", "tier", "pass_bar",
)  # fmt: skip
PERSONAL = ["name", "first", "last", "dob", "c_case_number", "r_case_number"]


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
    """Return the clients with names for X1 to X23 and Y, all as whole numbers.

    Raises
    ------
    ValueError
        If the file has other columns, or a cell is no whole number.
    """
    table = _named(read_table(path), CREDIT, path)
    try:
        whole = table.astype("int64")
    except ValueError as error:
        raise ValueError(f"{path.name} has a cell that is no whole number.") from error
    if not (whole == table).all(axis=None):
        raise ValueError(f"{path.name} has a cell that is no whole number.")
    return whole


def read_law_lequy(path: Path) -> pd.DataFrame:
    """Return the complete rows of Law School, every code as a number.

    Raises
    ------
    ValueError
        If the file has other columns, or a code is no number.
    """
    table = read_table(path)
    try:
        return table.astype(dict.fromkeys(LAW_NUMBERS, "float64"))
    except (KeyError, ValueError) as error:
        raise ValueError(f"{path.name} is another table: {error}.") from error


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
