"""What other searches find of the planted regions, and report where there is nothing.

Development only: none of them is a dependency. ``draw`` writes, of each sample table,
decisions of boosted trees cross-fitted on all rows, and twins whose decisions are
redrawn whatever the row. ``run`` needs NumPy, pandas, scikit-learn and the peer alone,
so each can have an environment of its own:

    python benchmarks/subgroups/peers.py draw FOLDER [--twins 20] [--rows 3000]
    pip install sliceline==0.3.0 pysubgroup==0.9.0 fairsd==0.1.0 fairlearn aif360==0.6.1
    pip install fairaudit==0.0.1  # needs another NumPy
    python benchmarks/subgroups/peers.py run FOLDER sliceline [--names loans]

Peers that know two groups are told which of them is worse off and in which direction;
fairdash is told neither. A planted region is found if at least nine of ten rows of the
first subgroup reported lie in it. Peers that look for losses of rows rather than gaps
between groups (sliceline, bias scan) see the worse-off group alone, and what each row
lost against a logistic regression of the others' decisions.
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

WORSE = {
    "loans": (["Female"], 1),
    "hiring": (["Asian", "Black"], 1),
    "readmission": (["Black or Asian"], 0),
}
BINS = 6


def draw(folder, twins, most):
    """Write the tables, with some of their rows if there are more than asked for."""
    from simulate import decisions

    from fairdash.datasets import SAMPLES, load_sample

    folder.mkdir(parents=True, exist_ok=True)
    for name in SAMPLES:
        data = load_sample(name)
        rows, decided = decisions(name, 0, "cross")
        frame = data.frame.iloc[rows][list(data.roles.features)]
        planted = SAMPLES[name].planted_rows(frame)
        table = frame.assign(_planted=planted, _group=data.sensitive_features[rows])
        rng = np.random.default_rng(20)
        if len(table) > most:
            some = np.sort(rng.permutation(len(table))[:most])
            table = table.iloc[some]
            decided = np.asarray(decided)[some]
        for twin in range(twins + 1):
            again = rng.permutation(decided) if twin else decided
            table.assign(_decided=again).to_csv(
                folder / f"{name}-{twin}.csv", index=False
            )


def run(folder, peer, most, names):
    """Print what a peer finds, and how often it reports a twin."""
    search = PEERS[peer]
    for name in names:
        groups, good = WORSE[name]
        times = []
        alarms = twins = 0
        for path in sorted(
            folder.glob(f"{name}-*.csv"), key=lambda p: int(p.stem.split("-")[1])
        ):
            number = int(path.stem.split("-")[1])
            if number > most:
                break
            table = pd.read_csv(path)
            planted = table.pop("_planted").to_numpy()
            labels = table.pop("_group")
            decided = (table.pop("_decided") == good).to_numpy(int)
            start = time.process_time()
            if peer == "fairdash":
                result = fairdash(table, labels.to_numpy(), decided)
            else:
                result = search(table, labels.isin(groups).to_numpy(), decided)
            times.append(time.process_time() - start)
            if number:
                twins += 1
                alarms += result is not None
            else:
                share = 0.0 if result is None else planted[result].mean()
                size = 0 if result is None else result.sum()
        print(
            f"{peer:10s} {name:12s} first: {size:,} rows, {share:.2f} planted; twins "
            f"reported {alarms} of {twins}; {np.median(times):.1f} s CPU",
            flush=True,
        )


def fairdash(table, groups, decided):
    """Return the first subgroup beyond chance."""
    from fairdash.audits import find_subgroups

    subgroups = find_subgroups(
        decided, sensitive_features=groups, frame=table, random_state=0
    ).iloc[0]
    if subgroups["p_adjusted"] > 0.05:
        return None
    return np.logical_and.reduce(
        [condition.holds(table) for condition in subgroups["conditions"]]
    )


def binned(table):
    """Return columns as words: quantile bins of numbers, and levels."""
    return pd.DataFrame(
        {
            name: pd.qcut(column, BINS, duplicates="drop").astype(str)
            if column.dtype.kind in "if" and column.nunique() > BINS
            else column.astype(str)
            for name, column in table.items()
        }
    )


def expected(table, worse, decided):
    """Return how the other groups' rows like these are decided."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import OneHotEncoder

    X = OneHotEncoder().fit_transform(binned(table))
    model = LogisticRegression(max_iter=200).fit(X[~worse], decided[~worse])
    return model.predict_proba(X[worse])[:, 1]


def gap_of_each(worse, decided):
    """Return numbers whose mean over a subgroup is about the gap in it.

    Decisions are less their mean: where they have nothing to do with anything the
    numbers have a mean of 0 in every subgroup, whatever its mix of groups.
    """
    share = worse.mean()
    return (decided - decided.mean()) * np.where(worse, -1 / share, 1 / (1 - share))


def on_all_rows(table, wanted):
    """Return the rows with wanted values: a subgroup found in one group alone."""
    holds = np.ones(len(table), bool)
    for name, values in wanted.items():
        holds &= table[name].isin(values).to_numpy()
    return holds


def sliceline(table, worse, decided):
    """Slices where decisions fall short of what the others would get."""
    from sliceline.slicefinder import Slicefinder

    words = binned(table)
    lost = np.maximum(expected(table, worse, decided) - decided[worse], 0)
    finder = Slicefinder(alpha=0.95, k=1, max_l=3, min_sup=50, verbose=False)
    finder.fit(words[worse].to_numpy(), lost)
    if not len(finder.top_slices_):
        return None
    chosen = zip(words, finder.top_slices_[0], strict=True)
    return on_all_rows(words, {n: [v] for n, v in chosen if v is not None})


def pysubgroup(table, worse, decided):
    """Largest sqrt(n) times mean of the gap, by exact search of depth 3."""
    import pysubgroup as ps

    data = binned(table).assign(_gap=gap_of_each(worse, decided))
    task = ps.SubgroupDiscoveryTask(
        data,
        ps.NumericTarget("_gap"),
        ps.create_nominal_selectors(data, ignore=["_gap"]),
        result_set_size=1,
        depth=3,
        qf=ps.StandardQFNumeric(0.5),
        constraints=[ps.MinSupportConstraint(100)],
    )
    result = ps.DFS(ps.NumpySetRepresentation).execute(task).results
    return result[0][1].covers(data) if result and result[0][0] > 0 else None


def fairsd(table, worse, decided):
    """Largest demographic parity difference, by beam search."""
    import logging

    import fairsd as fs

    data = table.assign(_group=np.where(worse, "worse", "others"))
    task = fs.SubgroupDiscoveryTask(
        data,
        pd.Series(decided),
        pd.Series(decided),
        sensitive_features=["_group"],
        qf="demographic_parity_difference",
        result_set_size=1,
        depth=3,
        min_support=100,
        min_support_ratio=0.01,
        logging_level=logging.ERROR,
    )
    result = fs.BeamSearch(beam_width=20).execute(task)
    if not result.descriptions_list:
        return None
    return np.asarray(result.sg_feature(0, data), bool)


def bias_scan(table, worse, decided):
    """AIF360's multi-dimensional subset scan of decisions against expectations."""
    from aif360.detectors import bias_scan as scan

    words = binned(table)
    rows = words[worse].reset_index(drop=True)
    wanted, score = scan(
        rows,
        pd.Series(decided[worse]),
        pd.Series(expected(table, worse, decided)),
        overpredicted=True,
        penalty=1.0,
    )
    return on_all_rows(words, wanted) if score > 0 else None


def fairaudit(table, worse, decided):
    """Simultaneous lower bounds of the gap in all intersections of two columns."""
    import contextlib
    import io

    from fairaudit.auditor import Auditor
    from fairaudit.groups import get_intersections
    from fairaudit.metrics import Metric

    codes = binned(table).apply(lambda column: pd.factorize(column)[0]).to_numpy()
    groups = get_intersections(codes, depth=2)
    groups = groups[:, groups.sum(0) >= 100]
    gaps = gap_of_each(worse, decided)[:, None]
    metric = Metric(
        "gap", lambda z, y: z.flatten(), lambda z, y, x=None: np.zeros(len(y))
    )
    audit = Auditor(codes, decided[:, None], gaps, metric)
    with contextlib.redirect_stdout(io.StringIO()):
        audit.calibrate_groups(
            0.05, "upper", groups, bootstrap_params={"B": 100, "student": "mad"}
        )
        bounds = [audit.query_group(i)[0][0] for i in range(groups.shape[1])]
    best = int(np.argmax(bounds))
    return groups[:, best] if bounds[best] > 0 else None


PEERS = {
    "fairdash": fairdash,
    "sliceline": sliceline,
    "pysubgroup": pysubgroup,
    "fairsd": fairsd,
    "bias_scan": bias_scan,
    "fairaudit": fairaudit,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["draw", "run"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("peer", nargs="?", choices=list(PEERS))
    parser.add_argument("--twins", type=int, default=20)
    parser.add_argument("--rows", type=int, default=10**9, help="at most, drawn")
    parser.add_argument("--names", nargs="+", default=list(WORSE), choices=list(WORSE))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.what == "draw":
        draw(options.folder, options.twins, options.rows)
    else:
        run(options.folder, options.peer, options.twins, options.names)


if __name__ == "__main__":
    main()
