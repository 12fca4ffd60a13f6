"""Tell whether less discriminatory alternatives hold on fresh rows.

Thirty models learn on a third of a table: logistic regression and gradient boosting,
each with the group's rows reweighed towards equal rates in fifteen strengths. The model
in use is gradient boosting without. Then the other rows are divided anew, 200 times:
one half is searched, a quarter confirms, a quarter is fresh. A found alternative holds
if on fresh rows its gap is smaller and its accuracy at most .01 lower.

    OMP_NUM_THREADS=1 python benchmarks/certified/alternatives.py FOLDER [REPEATS]

FOLDER has adult.parquet; Loans is the sample of the app.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

from fairdash.audits.tables.alternative import less_discriminatory
from fairdash.datasets import Dataset, encode, guess_roles, load_sample, make_dataset

STRENGTHS = np.linspace(0, 1.4, 15)
LOSS = 0.01
SEED = 20_261_126


def adult(folder: Path) -> Dataset:
    """Return Adult with the group sex."""
    frame = pd.read_parquet(folder / "adult.parquet")
    roles = guess_roles(frame, "adult")
    features = tuple(name for name in frame if name not in ("income", "sex"))
    change = {
        "target": "income",
        "positive": ">50K",
        "sensitive_feature": "sex",
        "features": features,
        "groups": None,
    }
    return make_dataset(frame, roles.model_copy(update=change), name="Adult")


def decisions(data, train):
    """Return the decisions of every model on all rows."""
    X = np.asarray(encode(data, train).X, dtype=np.float64)
    y = data.y
    groups = np.asarray(data.sensitive_features, dtype=str)
    cells = pd.DataFrame({"y": y[train], "group": groups[train]})
    share = cells.groupby("group")["y"].transform("mean")
    share = np.where(y[train] == 1, share, 1 - share)
    whole = np.where(y[train] == 1, y[train].mean(), 1 - y[train].mean())
    for strength in STRENGTHS:
        weight = (whole / share) ** strength
        for name, model in (
            ("boosting", HistGradientBoostingClassifier(max_iter=60, random_state=0)),
            ("logistic", LogisticRegression(max_iter=300)),
        ):
            model.fit(X[train], y[train], sample_weight=weight)
            yield f"{name} {strength:.1f}", model.predict(X)


def main(folder, repeats=200):
    """Print how many alternatives are found, and how many hold."""
    for name, data in (("Adult", adult(folder)), ("Loans", load_sample("loans"))):
        rng = np.random.default_rng(SEED)
        order = rng.permutation(data.n_rows)
        train = order[: len(order) // 3]
        rest = order[len(order) // 3 :]
        models = dict(decisions(data, train))
        present = models.pop("boosting 0.0")
        y = data.y
        groups = np.asarray(data.sensitive_features, dtype=str)
        first, other = np.unique(groups)[:2]

        def gap(decided, rows, groups=groups, first=first, other=other):
            rates = [decided[rows][groups[rows] == g].mean() for g in (first, other)]
            return abs(rates[0] - rates[1])

        found = held = 0
        for _ in range(repeats):
            rows = rng.permutation(rest)
            half = len(rows) // 2
            end = 3 * len(rows) // 4
            result = less_discriminatory(
                y,
                present,
                models,
                sensitive_features=groups,
                search_rows=rows[:half],
                confirm_rows=rows[half:end],
                loss=LOSS,
            )
            if result.name is None:
                continue
            fresh = rows[end:]
            model = models[result.name]
            change = (model[fresh] == y[fresh]).mean()
            change -= (present[fresh] == y[fresh]).mean()
            found += 1
            held += gap(model, fresh) < gap(present, fresh) and change >= -LOSS
        share = held / max(found, 1)
        print(f"{name}: {found} of {repeats} found, {held} hold ({share:.3f})")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:]))
