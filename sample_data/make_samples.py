"""Write the sample tables: synthetic, seeded, each with a planted local bias.

Run ``python sample_data/make_samples.py`` from the repository root. Each function
returns a table and the probabilities of the outcome without and with the planted
mechanism, from which the true size of the gap follows: ``truth.csv`` holds it.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit, logit

from fairdash.datasets import SAMPLES, make_dataset

Sample = tuple[pd.DataFrame, NDArray[np.float64]]
Maker = Callable[..., Sample]  # of a generator and a number of rows
HERE = Path(__file__).parent
SECTORS = ["care", "education", "office", "retail", "industry", "transport", "building"]
SECTORS_OF_WOMEN = [0.28, 0.16, 0.22, 0.20, 0.08, 0.03, 0.03]
SECTORS_OF_MEN = [0.05, 0.05, 0.15, 0.13, 0.24, 0.18, 0.20]
NEW_SECTOR = "delivery"
ETHNICITIES = ["White", "Asian", "Black", "Mixed or other"]
SITES = ["Head office", "North depot", "South depot", "Port", "Airport"]
DISTRICTS = ["Canal", "Mill", "Old town", "Park", "Hill", "Villages"]
PATIENTS = ["White", "Black", "Asian"]
RECORDING_ERROR = 0.15


def loans(rng: np.random.Generator, n: int = 30_000, *, later: bool = False) -> Sample:
    """Applications for a bank loan, decided by officers who mark young women down.

    Some years later they have stopped, and other people apply for other amounts.
    """
    woman = rng.random(n) < 0.46
    age = 20 + np.floor(40 * rng.beta(1.0, 2.4 if later else 1.5, n)).astype(int)
    young = age < 30
    sectors = [*SECTORS, NEW_SECTOR] if later else SECTORS
    sector = np.where(
        woman,
        rng.choice(sectors, n, p=_with_new(SECTORS_OF_WOMEN, 0.06 * later)),
        rng.choice(sectors, n, p=_with_new(SECTORS_OF_MEN, 0.14 * later)),
    )
    part_time = rng.random(n) < np.where(woman, 0.36, 0.07)
    employment = rng.choice(
        ["permanent", "temporary", "self-employed"], n, p=[0.68, 0.20, 0.12]
    )
    breaks = [0.9, 0.35] if later else [0.45, 0.18]
    on_leave = rng.random(n) < np.where(
        woman, np.select([young, age < 40], breaks, 0.04), 0.04
    )
    months_out = np.where(on_leave, rng.integers(3, 25, n) + 12 * later, 0)
    years_employed = np.round(rng.gamma(1.4, 0.16, n) * (age - 17), 1)
    income = np.exp(
        rng.normal(10.15, 0.3, n)
        + 0.010 * np.minimum(age - 19, 26)
        + np.where(part_time, -0.22, 0)
        + np.where(employment == "temporary", -0.1, 0)
    )
    housing = np.where(
        rng.random(n) < expit((age - 38) / 8),
        rng.choice(["owner", "mortgage"], n, p=[0.4, 0.6]),
        rng.choice(["rent", "with family"], n, p=[0.75, 0.25]),
    )
    debt = income * rng.gamma(1.1, 0.28, n) * (rng.random(n) < 0.8)
    amount = income * rng.gamma(3.0, 0.17 if later else 0.14, n)
    missed = rng.poisson(0.45, n)
    creditworthiness = (
        0.9
        - 2.6 * (debt / income - 0.25)
        - 2.4 * (amount / income - 0.42)
        - 0.85 * missed
        + 0.9 * np.log(income / 28_000)
        + 0.05 * np.minimum(years_employed, 12)
        - 0.7 * (employment == "temporary")
        - 0.2 * (employment == "self-employed")
        + 0.35 * np.isin(housing, ["owner", "mortgage"])
    )
    fair = expit(1.25 * creditworthiness)
    marked_down = woman & young & (not later)
    decided = np.where(marked_down, expit(logit(fair) - 1.3 - 1.5 * on_leave), fair)
    frame = pd.DataFrame(
        {
            "application": np.arange(n) + (300_001 if later else 100_001),
            "sex": np.where(woman, "Female", "Male"),
            "age": age,
            "region": rng.choice(["north", "south", "east", "west"], n),
            "sector": sector,
            "employment": employment,
            "part_time": np.where(part_time, "yes", "no"),
            "months_out_of_work": months_out,
            "years_at_employer": years_employed,
            "income": np.round(income, -2).astype(int),
            "debt": np.round(debt, -2).astype(int),
            "missed_payments": missed,
            "housing": housing,
            "purpose": rng.choice(["car", "home", "education", "other"], n),
            "amount": np.round(amount, -2).astype(int),
            "approved": (rng.random(n) < decided).astype(int),
        }
    )
    return frame, np.column_stack([fair, decided])


def loans_later(rng: np.random.Generator, n: int = 10_000) -> Sample:
    """Draw the drifted companion of `loans`: its columns, some years later."""
    return loans(rng, n, later=True)


def _with_new(shares: list[float], new: float) -> list[float]:
    """Return the shares of sectors when a new one takes ``new`` from all alike."""
    return [*(share * (1 - new) for share in shares), new] if new else shares


def hiring(rng: np.random.Generator, n: int = 24_000) -> Sample:
    """Job applications at five sites, one of which interviews some groups unfairly."""
    group = rng.choice(len(ETHNICITIES), n, p=[0.52, 0.20, 0.17, 0.11])
    minority = np.isin(group, [1, 2])
    site = np.where(
        minority,
        rng.choice(SITES, n, p=[0.30, 0.20, 0.16, 0.18, 0.16]),
        rng.choice(SITES, n, p=[0.24, 0.20, 0.18, 0.20, 0.18]),
    )
    outreach = minority & (site == "Head office")
    role = rng.choice(["sales", "support", "warehouse", "office"], n)
    experience = np.round(rng.gamma(1.6, 3.2, n) + 0.5 * outreach, 1)
    degree = rng.choice(
        ["none", "vocational", "bachelor", "master"], n, p=[0.30, 0.30, 0.28, 0.12]
    )
    level = pd.Series(degree).map(
        {"none": 0.0, "vocational": 0.3, "bachelor": 0.6, "master": 0.8}
    )
    ability = rng.normal(0, 1, n) + 0.5 * level.to_numpy() + 0.3 * outreach
    test_score = np.clip(np.round(58 + 11 * ability + rng.normal(0, 7, n)), 0, 100)
    interview = 5.2 + 1.1 * ability + rng.normal(0, 1.0, n)
    marked_down = minority & (site == "North depot")
    biased_interview = interview - 2.2 * marked_down

    def hired_with(score: NDArray[np.float64]) -> NDArray[np.float64]:
        merit = (
            1.05 * (score - 5.9)
            + 0.045 * (test_score - 62)
            + 0.09 * (np.minimum(experience, 12) - 5)
            + 0.25 * level.to_numpy()
        )
        return expit(1.15 * merit)

    second_language = rng.random(n) < np.array([0.07, 0.72, 0.38, 0.30])[group]
    district = np.where(
        minority,
        rng.choice(DISTRICTS, n, p=[0.32, 0.26, 0.16, 0.12, 0.08, 0.06]),
        rng.choice(DISTRICTS, n, p=[0.08, 0.10, 0.16, 0.20, 0.22, 0.24]),
    )
    decided = hired_with(biased_interview)
    frame = pd.DataFrame(
        {
            "candidate": np.arange(1, n + 1),
            "ethnicity": np.array(ETHNICITIES)[group],
            "site": site,
            "role": role,
            "district": district,
            "second_language": np.where(second_language, "yes", "no"),
            "degree": degree,
            "years_experience": experience,
            "test_score": test_score.astype(int),
            "interview_score": np.round(np.clip(biased_interview, 0, 10), 1),
            "referred": np.where(rng.random(n) < 0.15, "yes", "no"),
            "hired": (rng.random(n) < decided).astype(int),
        }
    )
    return frame, np.column_stack([hired_with(interview), decided])


def readmission(rng: np.random.Generator, n: int = 24_000) -> Sample:
    """Hospital discharges; one clinic type leaves some old patients without visits."""
    group = rng.choice(len(PATIENTS), n, p=[0.62, 0.22, 0.16])
    minority = group > 0
    age = 30 + np.floor(65 * rng.beta(2.2, 1.9, n)).astype(int)
    clinic = rng.choice(["university", "general", "community"], n, p=[0.28, 0.36, 0.36])
    diagnosis = rng.choice(
        ["heart", "lung", "diabetes", "hip or knee", "other"],
        n,
        p=[0.24, 0.18, 0.17, 0.16, 0.25],
    )
    severity = pd.Series(diagnosis).map(
        {"heart": 0.5, "lung": 0.4, "diabetes": 0.1, "hip or knee": -0.5, "other": -0.2}
    )
    earlier = rng.poisson(0.7 + 0.5 * (age > 70), n)
    medications = rng.poisson(3 + 0.05 * (age - 30) + earlier, n)
    stay = np.ceil(rng.gamma(1.5, 2.2, n) + 0.6 * earlier).astype(int)
    emergency = rng.random(n) < 0.45
    alone = rng.random(n) < np.where(age > 65, 0.38, 0.22)
    interpreter = rng.random(n) < np.array([0.02, 0.12, 0.40])[group]
    deprivation = np.clip(np.round(rng.normal(5 + 1.4 * minority, 2.2)), 1, 10)
    visits_due = rng.poisson(np.where(age >= 65, 2.4, 0.8) + 0.3 * alone, n)
    passed_over = minority & (clinic == "community") & (age >= 65) & (age < 75)
    visits = np.where(passed_over & (rng.random(n) < 0.85), 0, visits_due)

    def back_with(home_visits: NDArray[np.int64]) -> NDArray[np.float64]:
        risk = (
            -0.9
            + severity.to_numpy()
            + 0.55 * (earlier - 0.8)
            + 0.030 * (age - 62)
            + 0.08 * (medications - 5)
            + 0.5 * emergency
            + 0.35 * alone
            + 0.03 * (stay - 4)
            - 0.75 * (np.minimum(home_visits, 4) - 1.5)
        )
        return expit(1.2 * risk)

    happened = back_with(visits)
    wrong = rng.random(n) < RECORDING_ERROR
    other = (group + rng.integers(1, len(PATIENTS), n)) % len(PATIENTS)
    names = np.array(PATIENTS)
    frame = pd.DataFrame(
        {
            "discharge": np.arange(500_001, 500_001 + n),
            "ethnicity_recorded": names[np.where(wrong, other, group)],
            "ethnicity_true": names[group],
            "age": age,
            "clinic": clinic,
            "diagnosis": diagnosis,
            "emergency": np.where(emergency, "yes", "no"),
            "days_in_hospital": stay,
            "earlier_admissions": earlier,
            "medications": medications,
            "lives_alone": np.where(alone, "yes", "no"),
            "interpreter": np.where(interpreter, "yes", "no"),
            "deprivation": deprivation.astype(int),
            "home_visits": visits,
            "readmitted": (rng.random(n) < happened).astype(int),
        }
    )
    return frame, np.column_stack([back_with(visits_due), happened])


# seed and maker of each table
TABLES: dict[str, tuple[int, Maker]] = {
    "loans": (2, loans),
    "loans_later": (11, loans_later),
    "hiring": (3, hiring),
    "readmission": (5, readmission),
}


def make(name: str) -> Sample:
    """Return a table and its probabilities without and with the mechanism."""
    seed, maker = TABLES[name]
    return maker(np.random.default_rng(seed))


def true_rates(name: str, n: int = 1_000_000) -> pd.DataFrame:
    """Return the true rates of a sample by subgroup and group, of many fresh rows.

    Columns: sample, subgroup, planted, group, rows, fair, decided. The last two are
    mean probabilities of the outcome without and with the mechanism.
    """
    sample, (seed, maker) = SAMPLES[name], TABLES[name]
    frame, probabilities = maker(np.random.default_rng([seed, 1]), n)
    cells = pd.DataFrame(
        {
            "subgroup": sample.subgroups.label(frame).astype(str),
            "planted": sample.planted_rows(frame),
            "group": make_dataset(
                frame, sample.roles, name=name, key=name
            ).sensitive_features,
            "fair": probabilities[:, 0],
            "decided": probabilities[:, 1],
        }
    )
    by = ["subgroup", "planted", "group"]
    rates = cells.groupby(by).agg(
        rows=("fair", "size"), fair=("fair", "mean"), decided=("decided", "mean")
    )
    return rates.round(5).reset_index().assign(sample=name)


if __name__ == "__main__":
    rates = pd.concat([true_rates(name) for name in SAMPLES])
    rates.to_csv(HERE / "truth.csv", index=False)
    for name in TABLES:
        frame, _ = make(name)
        # no time stamp, so that the same table gives the same file
        compression = {"method": "gzip", "mtime": 0}
        frame.to_csv(HERE / f"{name}.csv.gz", index=False, compression=compression)
