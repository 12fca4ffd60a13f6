"""Applications as mortgage lenders in the US file them (HMDA): columns and codes.

The names and codes are those of the public loan-level file; every row is invented.
"""

import numpy as np
import pandas as pd

_NUMBERED = {
    "applicant_ethnicity": ("1", "2", "3", "4"),
    "co_applicant_ethnicity": ("2", "4", "5"),
    "applicant_race": ("1", "2", "21", "3", "5", "6", "7"),
    "co_applicant_race": ("3", "5", "7", "8"),
    "aus": ("1", "2", "3", "6"),
    "denial_reason": ("1", "3", "4", "9", "10"),
}
_FIVE = 5
_CODES = {
    "purchaser_type": 10, "preapproval": 2, "loan_type": 4, "lien_status": 2,
    "reverse_mortgage": 2, "open_end_line_of_credit": 2, "hoepa_status": 3,
    "business_or_commercial_purpose": 2, "negative_amortization": 2,
    "interest_only_payment": 2, "balloon_payment": 2, "construction_method": 2,
    "other_nonamortizing_features": 2, "occupancy_type": 3,
    "manufactured_home_secured_property_type": 3,
    "manufactured_home_land_property_interest": 5, "applicant_credit_score_type": 9,
    "co_applicant_credit_score_type": 10, "applicant_ethnicity_observed": 3,
    "co_applicant_ethnicity_observed": 4, "applicant_race_observed": 3,
    "co_applicant_race_observed": 4, "applicant_sex": 4, "co_applicant_sex": 5,
    "applicant_sex_observed": 3, "co_applicant_sex_observed": 4,
    "submission_of_application": 3, "initially_payable_to_institution": 3,
}  # fmt: skip
_SEXES = ["Male", "Female", "Joint", "Sex Not Available"]
_AGES = ["<25", "25-34", "35-44", "45-54", "55-64", "65-74", ">74", "8888"]
_RATIOS = [
    "<20%",
    "20%-<30%",
    "30%-<36%",
    "36",
    "41",
    "45",
    "50%-60%",
    ">60%",
    "Exempt",
]
_MONEY = (
    "loan_to_value_ratio", "interest_rate", "rate_spread", "total_loan_costs",
    "total_points_and_fees", "origination_charges", "discount_points",
    "lender_credits", "loan_term", "prepayment_penalty_term", "intro_rate_period",
    "property_value", "multifamily_affordable_units",
)  # fmt: skip
_TRACT = (
    "tract_population", "tract_minority_population_percent",
    "ffiec_msa_md_median_family_income", "tract_to_msa_income_percentage",
    "tract_owner_occupied_units", "tract_one_to_four_family_homes",
    "tract_median_age_of_housing_units",
)  # fmt: skip


def mortgages(n_rows: int = 200_000, seed: int = 0) -> pd.DataFrame:
    """Return applications with the 99 published columns and their codes.

    Black applicants of one region are denied more often; withdrawn and incomplete
    files, unknown groups and exempt values are as frequent as in the public file.
    """
    rng = np.random.default_rng(seed)
    race = rng.choice(
        ["White", "Black or African American", "Asian", "Joint", "Race Not Available",
         "Free Form Text Only"],
        n_rows,
        p=[0.58, 0.1, 0.07, 0.02, 0.22, 0.01],
    )  # fmt: skip
    state = rng.choice(["CA", "TX", "OH", "GA"], n_rows)
    denied = 0.2 + 0.15 * ((race == "Black or African American") & (state == "OH"))
    uniform = rng.random(n_rows)
    action = np.where(rng.random(n_rows) < denied, 3, 1)
    action = np.where(uniform < 0.03, 2, action)
    for code, start in ((4, 0.70), (5, 0.82), (6, 0.88), (7, 0.98), (8, 0.99)):
        action = np.where(uniform > start, code, action)
    incomes = rng.integers(20, 400, n_rows)
    columns: dict[str, object] = {
        "activity_year": np.full(n_rows, 2023),
        "lei": rng.choice(["549300A", "549300B", "549300C"], n_rows),
        "derived_msa_md": rng.integers(10_000, 49_000, n_rows),
        "state_code": state,
        "county_code": rng.integers(1_001, 56_000, n_rows),
        "census_tract": rng.integers(10**10, 5 * 10**10, n_rows),
        "conforming_loan_limit": rng.choice(["C", "NC", "U"], n_rows),
        "derived_loan_product_type": rng.choice(["Conventional:First Lien"], n_rows),
        "derived_dwelling_category": rng.choice(["Single Family (1-4 Units)"], n_rows),
        "derived_ethnicity": rng.choice(
            ["Not Hispanic or Latino", "Ethnicity Not Available"], n_rows
        ),
        "derived_race": race,
        "derived_sex": rng.choice(
            ["Male", "Female", "Joint", "Sex Not Available"], n_rows
        ),
        "action_taken": action,
        "loan_purpose": rng.choice([1, 2, 31, 32, 4, 5], n_rows),
        "loan_amount": rng.integers(3, 90, n_rows) * 10_000.0,
        "income": np.where(rng.random(n_rows) < 0.1, np.nan, incomes),
        "debt_to_income_ratio": rng.choice(_RATIOS, n_rows),
        "applicant_age": rng.choice(_AGES, n_rows),
        "co_applicant_age": rng.choice([*_AGES, "9999"], n_rows),
        "applicant_age_above_62": rng.choice(["Yes", "No"], n_rows),
        "co_applicant_age_above_62": rng.choice(["Yes", "No"], n_rows),
        "total_units": rng.choice(["1", "2", "5-24"], n_rows),
    }
    for name, n_codes in _CODES.items():
        columns[name] = rng.integers(1, n_codes + 1, n_rows)
    for name, values in _NUMBERED.items():
        n_columns = 4 if name == "denial_reason" else _FIVE
        for place in range(1, n_columns + 1):
            cells = rng.choice(values, n_rows)
            empty = rng.random(n_rows) < (0 if place == 1 else 0.95)
            columns[f"{name}_{place}"] = np.where(empty, None, cells)
    for name in _MONEY:
        cells = rng.integers(1, 500, n_rows).astype(str)
        columns[name] = np.where(rng.random(n_rows) < 0.05, "Exempt", cells)
    for name in _TRACT:
        columns[name] = rng.integers(1, 9_000, n_rows)
    # a reason is recorded of a denial only
    for place in range(1, 5):
        name = f"denial_reason_{place}"
        columns[name] = np.where(
            action == 3, columns[name], "10" if place == 1 else None
        )
    return pd.DataFrame(columns)


def approved_by_hand(table: pd.DataFrame) -> pd.Series:
    """Return the share approved of those decided, White and Black, by pandas alone."""
    decided = table[table["action_taken"].isin([1, 2, 3])]
    complete = decided[
        decided["derived_race"].isin(["White", "Black or African American"])
    ]
    return (
        complete["action_taken"].isin([1, 2]).groupby(complete["derived_race"]).mean()
    )
