"""What a type checker must refuse: a marked line each; no test runs this file.

`tests/cli/test_wheel.py` checks it against an installed wheel. mypy finds the mistake
in each marked line, or says that the mark is unused; pyright finds these and no other.
"""

import numpy as np
import pandas as pd

import fairdash
from fairdash.datasets import SAMPLES, Roles, encode, load_sample, read_table, split
from fairdash.methods import BROAD, CATALOG, FAD, ROAD, FairLogLoss, SenSeI
from fairdash.metrics import (
    demographic_parity_difference,
    evaluate,
    gap_change,
    local_di,
    measure_by_group,
    worst_k_di,
)
from fairdash.postprocessing import HardtThreshold, RampThreshold, ramp_threshold
from fairdash.sweep import SweepSpec, choose_certified, run_sweep

y = np.array([0, 1, 1, 0])
group = np.array(["a", "b", "a", "b"])
frame = pd.DataFrame({"y": y, "group": group})

# Right: nothing is found here.
audit = fairdash.audit(y, y, sensitive_features=group, measures="selection_rate")
words: str = audit.verdict
table: pd.DataFrame = local_di(y, sensitive_features=group, subgroups=group)
worst = worst_k_di(table, k=1)
model = ROAD("demographic_parity", fairness_weight=3, tau=0.1, n_epochs=2)
fitted: ROAD = model.fit(frame, y, sensitive_features=group)
many: list[ROAD] = model.fit_many([{"tau": 1.0}], frame, y, sensitive_features=group)
ramp = RampThreshold(gamma=0.1, target_rate="balanced")
loans = load_sample("loans")
train = split(loans, seed=0).train
rows = encode(loans, train).X[train]
label = CATALOG["road"].label + SAMPLES["loans"].title
roles = Roles(target="y", positive="1", sensitive_feature="group", features=("y",))

# Wrong.
fairdash.nonsense  # type: ignore[attr-defined]  # noqa: B018
fairdash.audit([1, 0], bogus=3)  # type: ignore[call-arg]
fairdash.audit(y, y)  # type: ignore[call-arg]
fairdash.audit(y, y, sensitive_features=group, measures=3)  # type: ignore[arg-type]
fairdash.audit(y, y, sensitive_features=group, confidence="x")  # type: ignore[arg-type]
audit.verdicts  # type: ignore[attr-defined]  # noqa: B018
audit.verdict + 1  # type: ignore[operator]
ROAD(lambda_=3)  # type: ignore[call-arg]
ROAD(tau="x")  # type: ignore[arg-type]
ROAD("demographic_parity", 3)  # type: ignore[call-arg]
BROAD(ratio_layers="standard")  # type: ignore[call-arg]
FAD(fairness_weight="much")  # type: ignore[arg-type]
FairLogLoss(C=1.0)  # type: ignore[call-arg]
SenSeI(fair_radius="x")  # type: ignore[arg-type]
model.fit(frame, y, groups=group)  # type: ignore[call-arg]
model.fit(frame, y, group)  # type: ignore[call-arg]
model.fairness_weights  # type: ignore[attr-defined]  # noqa: B018
model.predict()  # type: ignore[call-arg]
model.fit_many([1.0], frame, y)  # type: ignore[list-item]
RampThreshold(gama=0.1)  # type: ignore[call-arg]
RampThreshold(gamma="wide")  # type: ignore[arg-type]
HardtThreshold(0.1)  # type: ignore[arg-type]
ramp.fit(y, y)  # type: ignore[call-arg]
ramp_threshold(y, 0.1)  # type: ignore[call-arg]
local_di(y, group)  # type: ignore[call-arg]
local_di(y, sensitive_features=group, subgroups=group, min_size="x")  # type: ignore[arg-type]
measure_by_group(y, y, y, sensitive_features=group)  # type: ignore[arg-type]
demographic_parity_difference(y, sensitive_feature=group)  # type: ignore[call-arg]
evaluate(y)  # type: ignore[call-arg]
gap_change(y, y, sensitive_features=group).lower  # type: ignore[attr-defined]  # noqa: B018
worst_k_di(table, k="1")  # type: ignore[arg-type]
read_table(3)  # type: ignore[arg-type]
Roles(target="y", positive="1")  # type: ignore[call-arg]
split(loans, seed="a")  # type: ignore[arg-type]
load_sample("loans").rows_of_sex  # type: ignore[attr-defined]  # noqa: B018
choose_certified(table, limit=0.1)  # type: ignore[call-arg]
run_sweep("loans.yaml")  # type: ignore[arg-type]
SweepSpec.from_yaml(3)  # type: ignore[arg-type]
CATALOG["road"].nothing  # type: ignore[attr-defined]  # noqa: B018
