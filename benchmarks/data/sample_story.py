"""Whether fresh draws of the samples tell their story on test rows.

Draws each sample anew from seeds nobody has looked at. Before: a plain model's gap in
the planted region, and whether `fairdash.audit` is sure of it. After: the change of
that gap (`gap_change`, 95 %) by ROAD on Loans (the most accurate setting whose gap over
validation rows is at most .02), by a ramp learned on validation rows of the region on
the others. Prints the truth of the generator beside them.

With `--tour` a table instead: whether what the tour says of Loans is true of each draw.

    python benchmarks/data/sample_story.py [--seeds 5] [--first 500] [--tour]
"""

import argparse
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

import fairdash
from fairdash.datasets import SAMPLES, encode, make_dataset, split
from fairdash.methods import CATALOG, ROAD, Unconstrained
from fairdash.metrics import gap_change
from fairdash.postprocessing import RampThreshold

sys.path.insert(0, str(Path(__file__).parents[2] / "sample_data"))
import make_samples

POINTS = [{"fairness_weight": w, "tau": t} for w in (5.0, 12.0) for t in (0.05, 0.1)]
LIMIT = 0.02


def gap_of(decisions, groups):
    """Return the largest difference of mean decisions between groups."""
    rates = pd.Series(decisions).groupby(groups).mean()
    return rates.max() - rates.min()


def by_road(X, y, groups, rows):
    """Return decisions of a plain network and of the setting of ROAD that is chosen."""
    settings = CATALOG["road"].settings({}, "fast")
    train = {"sensitive_features": groups[rows.train]}
    made = {}
    for kind in (Unconstrained, ROAD):
        names = kind().get_params().keys() - POINTS[0].keys()
        made[kind] = kind(
            random_state=0, **{k: v for k, v in settings.items() if k in names}
        )
    plain = made[Unconstrained].fit(X[rows.train], y[rows.train], **train).predict(X)
    models = made[ROAD].fit_many(POINTS, X[rows.train], y[rows.train], **train)
    decided = [model.predict(X) for model in models]
    checked = rows.validation
    within = [
        after
        for after in decided
        if gap_of(after[checked], groups[checked]) <= LIMIT and 0 < after.mean() < 1
    ]
    return plain, max(within, key=lambda after: np.mean(after[checked] == y[checked]))


def by_ramp(X, y, groups, rows, inside):
    """Return decisions of a logistic model, and chances after a ramp in the region."""
    model = LogisticRegression(max_iter=2_000).fit(X[rows.train], y[rows.train])
    p = model.predict_proba(X)[:, 1]
    plain = (p > 0.5).astype(int)
    learn = rows.validation[inside[rows.validation]]
    ramp = RampThreshold(
        gamma=0.1, score_type="probability", target_rate=float(plain[learn].mean())
    )
    ramp.fit(p[learn], sensitive_features=groups[learn])
    after = plain.astype(float)
    after[inside] = ramp.predict_proba(p[inside], sensitive_features=groups[inside])
    return plain, after


def _lower(finding):
    """Return the group of a finding with the lower rate."""
    return finding.group if finding.value < 0 else finding.reference


def told_on_tour(seed):
    """Return for each claim of the tour whether it is true of a fresh draw of Loans.

    The generator's own probabilities say what was planted; a model's claims are held
    to 95 % intervals on test rows.
    """
    sample, (_, maker) = SAMPLES["loans"], make_samples.TABLES["loans"]
    frame, chances = maker(np.random.default_rng(seed))
    data = make_dataset(frame, sample.roles, name="loans", key=str(seed))
    rows, groups = split(data, 0), data.sensitive_features
    X, inside = encode(data, rows.train).X, sample.planted_rows(frame)
    settings = CATALOG["road"].settings({"fairness_weight": 6.0, "tau": 0.1}, "fast")
    train = {"sensitive_features": groups[rows.train]}
    y = data.y[rows.train]
    road = ROAD(random_state=0, **settings).fit(X[rows.train], y, **train)
    known = Unconstrained().get_params()
    settings = {name: value for name, value in settings.items() if name in known}
    plain = Unconstrained(random_state=0, **settings).fit(X[rows.train], y, **train)
    p, test = plain.predict_proba(X)[:, 1], rows.test
    before = (p > 0.5).astype(int)
    women = groups == "Female"
    fair, decided = (
        chance[inside & women].mean() - chance[inside & ~women].mean()
        for chance in chances.T
    )
    audited = fairdash.audit(
        data.y[test],
        before[test],
        sensitive_features=groups[test],
        subgroups=sample.subgroups,
        frame=frame.iloc[test],
        measures=["selection_rate"],
    )
    sure = {
        f.subgroup
        for f in audited.findings
        if f.sure and abs(f.value) > 0.1 and _lower(f) == "Female"
    }
    weight, there = road.ratio_, (inside & women)[rows.train]
    heavier = weight[there].mean() - weight[~there].mean()
    error = np.hypot(*(weight[w].std() / np.sqrt(w.sum()) for w in (there, ~there)))
    ramp = RampThreshold(gamma=0.1, score_type="probability", target_rate=p.mean())
    ramp.fit(p[rows.validation], sensitive_features=groups[rows.validation])
    of_test = {"sensitive_features": groups[test]}
    after = ramp.predict_proba(p[test], **of_test)
    thresholds = gap_change(before[test], after, **of_test)
    seen = test[inside[test]]
    of_seen = {"sensitive_features": groups[seen]}
    narrowed = gap_change(before[seen], road.predict(X)[seen], **of_seen)
    first = fairdash.find_subgroups(
        before[test],
        frame=frame.iloc[test],
        columns=list(sample.roles.features),
        n_permutations=99,
        random_state=0,
        **of_test,
    ).iloc[0]
    return {
        "officers marked them down": bool(decided < fair - 0.1),
        "a plain model learned it": {"20–24", "25–29"} <= sure,
        "weights turned to them": bool(heavier > 2 * error),
        "ROAD narrows it": bool(narrowed.high < 0),
        "thresholds narrow the gap": bool(thresholds.high < 0),
        "the search finds them": str(first["subgroup"]),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first", type=int, default=500)
    parser.add_argument("--tour", action="store_true")
    options = parser.parse_args()
    if options.tour:
        for seed in range(options.first, options.first + options.seeds):
            print(seed, told_on_tour(seed), flush=True)
        return
    for name, sample in SAMPLES.items():
        truth = sample.truth().planted
        print(f"{sample.title}, {sample.n_rows:,} rows: truth {truth:.2f}")
        for seed in range(options.first, options.first + options.seeds):
            _, maker = make_samples.TABLES[name]
            frame, _ = maker(np.random.default_rng(seed))
            data = make_dataset(frame, sample.roles, name=name, key=str(seed))
            rows, groups = split(data, 0), data.sensitive_features
            X, inside = encode(data, rows.train).X, sample.planted_rows(frame)
            how = by_road if name == "loans" else by_ramp
            more = () if name == "loans" else (inside,)
            plain, after = how(X, data.y, groups, rows, *more)
            test = rows.test
            found = fairdash.audit(
                data.y[test],
                plain[test],
                sensitive_features=groups[test],
                subgroups=sample.subgroups,
                frame=frame.iloc[test],
                measures=["selection_rate"],
            ).findings
            where = [
                f"{f.subgroup} ({f.value:+.2f})" for f in found if f.subgroup and f.sure
            ]
            seen = test[inside[test]]
            change = gap_change(
                plain[seen], after[seen], sensitive_features=groups[seen]
            )
            print(
                f"  seed {seed}: sure in {', '.join(where) or 'no subgroup'}; region "
                f"{gap_of(plain[seen], groups[seen]):.3f} to "
                f"{gap_of(after[seen], groups[seen]):.3f}, change {change.value:+.3f} "
                f"({change.low:+.3f} to {change.high:+.3f}); accuracy "
                f"{np.mean(plain[test] == data.y[test]):.3f} to "
                f"{np.mean(np.where(data.y[test], after[test], 1 - after[test])):.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
