"""The public tables: where they come from, how they are filtered, what columns mean."""

import pandas as pd

from fairdash.datasets._public_read import (
    ADULT,
    CREDIT,
    GERMAN,
    propublica,
    propublica_with_charge,
    read_adult,
    read_compas,
    read_credit,
    read_german,
    read_law_lequy,
)
from fairdash.datasets._public_table import PublicTable, Variant
from fairdash.datasets._read import read_table
from fairdash.datasets._remedy import Remedy
from fairdash.datasets._roles import Roles

UCI = "https://archive.ics.uci.edu"
GITHUB = "https://raw.githubusercontent.com"

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
            positive_name="passed the bar at first",
            positive_is="favourable",
        ),
        read=read_table,
        variants={
            "road": Variant(
                "every row of the file, in which about half passed, as in ROAD", 1_823
            )
        },
        note="The subsample of the ROAD paper; its age is no age.",
    ),
    "law_lequy": PublicTable(
        title="Law school, complete",
        url=f"{GITHUB}/tailequy/fairness_dataset/main/experiments/data/"
        "law_school_clean.csv",
        file="law_school_clean.csv",
        content="3f2c4d38b9441eb7bc6071cc097fdc7fb7131fd8475309b6de32fa2c9dd91742",
        roles=Roles(
            target="pass_bar",
            positive="1",
            sensitive_feature="race",
            features=(
                "decile1b", "decile3", "lsat", "ugpa", "zfygpa", "zgpa", "fulltime",
                "fam_inc", "male", "tier",
            ),
            subgroup_columns=("male", "fam_inc"),
            positive_name="passed the bar at first",
            positive_is="favourable",
        ),
        read=read_law_lequy,
        variants={
            "lequy": Variant(
                "every row of the file: the complete ones, as in Le Quy et al. (2022)",
                20_798,
            )
        },
        note="The survey's table: pass_bar means the first attempt.",
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
        variants={"all": Variant("every row of the file", 1_000)},
        note="CC BY 4.0. Sex is read from personal_status, which is left out.",
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
