"""Every claim of speed in the documents, as a paired ratio with its interval.

Both sides of a claim run in turn, in rounds, the order turning about. The first call of
either is not timed, and a side that takes less than .2 s runs several times a round.
Told is the geometric mean of rival over ours with its 95 % interval (Student's t over
the logs). An interval whose ends are more than half apart is no figure: the machine is
too noisy.

    python benchmarks/claims.py [--quick] [--only WORDS ...] [--data FOLDER]

Claims on Adult need ``--data`` or ``FAIRDASH_DATA``; without it they are named and
passed over, and SenSeI has made-up rows. Run it on an idle machine: `make bench`.
"""

import argparse
import math
import os
import sys
import time
from argparse import Namespace
from importlib.util import find_spec
from itertools import product
from pathlib import Path

import numpy as np
import torch
from scipy.stats import ttest_1samp

HERE = Path(__file__).parent
FOLDERS = ("fair_log_loss", "individual", "noisy_groups", "post_processing")
sys.path += [str(HERE / folder) for folder in FOLDERS]
MOST_APART = 1.5  # largest over smallest end of an interval that is a figure
SHORTEST = 0.2  # seconds of a side of a round
FEWEST = 3  # rounds, below which nothing is said


def seconds(work):
    """Return how long it took."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def paired(ours, rival, rounds):
    """Return rival over ours by round; the first of each pair turns about."""
    calls = {work: calls_a_round(work) for work in (ours, rival)}
    ratios = []
    for turn in range(rounds):
        times = {}
        for work in (ours, rival) if turn % 2 == 0 else (rival, ours):
            whole = seconds(lambda work=work: [work() for _ in range(calls[work])])
            times[work] = whole / calls[work]
        ratios.append(times[rival] / times[ours])
    return np.array(ratios)


def calls_a_round(work):
    """Return how many calls make a round; the first imports, and is not timed."""
    took = seconds(work)
    if took < 5 * SHORTEST:
        took = seconds(work)
    return math.ceil(SHORTEST / took)


def told(ratios):
    """Return the mean ratio with its interval, or that it is no figure."""
    if len(ratios) < FEWEST:
        return "too few rounds"
    logs = np.log(ratios)
    low, high = np.exp(ttest_1samp(logs, 0).confidence_interval())
    if not high / low <= MOST_APART:
        return f"too noisy ({low:.2g} to {high:.2g})"
    return f"{np.exp(logs.mean()):.2f} ({low:.2f} to {high:.2f})"


def sweeps(options):
    """Compare a sweep on two cores with the plain loop in threads or processes."""
    import bench_sweep

    tables = {"made up": bench_sweep.synthetic(10_000, 12)}
    if options.data:
        for name in ("law", "compas"):
            tables[name] = bench_sweep.public(name, options.data)
    how = Namespace(
        models=16 if options.quick else 64, epochs=1, rounds=options.rounds, cores=2
    )
    for (name, table), batch_size in product(tables.items(), (1024, 128)):
        times = bench_sweep.measure(table, how, batch_size)
        for rival in ("threads", "processes"):
            words = f"sweep against two {rival}, {name}, batch {batch_size}"
            yield words, times[rival] / times["stacked"]


def stacks(options):
    """Compare a stack of models of ROAD with the plain loop, one thread."""
    from bench_training import plain_fit, stack

    rng = np.random.default_rng(0)
    s = rng.integers(2, size=6_000)
    X = rng.normal(size=(6_000, 12)).astype(np.float32)
    y = (X[:, 0] + s + rng.logistic(size=6_000) > 0).astype(int)
    tensors = torch.tensor(X), torch.tensor(y).float(), torch.tensor(s).float()
    n_models = 8 if options.quick else 64
    for batch_size in (1024, 128):
        road, points = stack(n_models, batch_size)
        ratios = paired(
            lambda road=road, points=points: road.fit_many(
                points, X, y, sensitive_features=s
            ),
            lambda batch_size=batch_size: plain_fit(
                *tensors,
                fairness_weight=1.0,
                tau=0.3,
                n_epochs=1,
                batch_size=batch_size,
            ),
            options.rounds,
        )
        words = f"stack of {n_models} against plain loop, batch {batch_size}"
        yield words, n_models * ratios


def log_loss(options):
    """Compare fair log-loss with descent, reductions and plain regression."""
    from bench_fair_log_loss import ALPHA, lbfgs, make_data
    from sklearn.linear_model import LogisticRegression

    from fairdash.methods import FairLogLoss
    from fairdash.methods.classical.reductions import Reductions

    n_rows, n_features = (5_000, 40) if options.quick else (45_222, 100)
    X, y, group = make_data(n_rows, n_features)

    def fair(constraints="demographic_parity"):
        model = FairLogLoss(constraints, alpha=ALPHA)
        return model.fit(X, y, sensitive_features=group)

    def plain():
        return LogisticRegression(C=1 / (ALPHA * len(y))).fit(X, y)

    rivals = {
        "exponentiated gradient": lambda: Reductions(alpha=ALPHA).fit(
            X, y, sensitive_features=group
        ),
        "L-BFGS": lambda: lbfgs(X, y, group),
    }
    for name, rival in rivals.items():
        yield f"fair log-loss against {name}", paired(fair, rival, options.rounds)
    for constraints in ("demographic_parity", "equalized_odds"):
        words = f"plain logistic regression against fair log-loss, {constraints}"
        ratios = paired(
            plain, lambda constraints=constraints: fair(constraints), options.rounds
        )
        yield words, ratios


def thresholds(options):
    """Compare the exact ramp and thresholds with descent and fairlearn."""
    from bench_ramp import GivenScores, people, published_sgd, tuned_sgd
    from fairlearn.postprocessing import ThresholdOptimizer

    from fairdash.postprocessing import HardtThreshold, RampThreshold

    margins, y, group = people(45_222, 0, piled_up=False)
    gamma = 0.01
    data = {"y": y, "sensitive_features": group}
    rate = RampThreshold(gamma, "accuracy").fit(margins, **data).target_rate_
    fairlearn = ThresholdOptimizer(
        estimator=GivenScores(),
        constraints="demographic_parity",
        prefit=True,
        predict_method="decision_function",
    )
    ours = {
        "ramp, given rate": RampThreshold(gamma, rate),
        "Hardt, exact": HardtThreshold(),
    }
    rivals = {
        "published SGD": lambda: published_sgd(margins, group, gamma, rate),
        "tuned SGD": lambda: tuned_sgd(margins, group, gamma, rate),
        "fairlearn": lambda: fairlearn.fit(margins[:, None], **data),
    }
    for name, method in ours.items():
        for second, rival in rivals.items():
            ratios = paired(
                lambda method=method: method.fit(margins, **data),
                rival,
                options.rounds,
            )
            yield f"{name}, against {second}", ratios


def noisy(options):
    """Compare training under noisy groups with the paper's algorithm."""
    if not options.data:
        yield "noisy groups: needs --data", None
        return
    from bench_noisy_groups import cases
    from noisy_groups_data import adult

    cases_known = cases(adult(), 100 if options.quick else 750)
    _, rival = cases_known["dense projected loop"]
    for name in ("naive", "DRO"):
        words = f"{name} against the dense projected loop"
        yield words, paired(cases_known[name][1], rival, options.rounds)


def sensei(options):
    """Compare SenSeI with the same two phases with autograd."""
    from bench_sensei import ROWS, adult, library_fit, own, plain_fit, synthetic

    from fairdash.metrics import group_directions

    X, names, y = adult(Path(options.data)) if options.data else synthetic()
    rows = np.random.default_rng(0).permutation(len(X))
    rows = rows[: ROWS // 10 if options.quick else ROWS]
    X = X[rows]
    y = y[rows]
    male = X[:, names.index("male")]
    metric = group_directions(X, male, names, columns=["male", "white"])
    basis = torch.as_tensor(np.ascontiguousarray(metric.basis, np.float32))
    tensors = torch.as_tensor(X), torch.as_tensor(y.astype(np.float32))
    sigma = torch.as_tensor(metric.sigma.astype(np.float32))
    rivals = {"autograd": lambda: plain_fit(*tensors, basis, 1)}
    if find_spec("inFairness"):
        rivals["inFairness"] = lambda: library_fit(*tensors, sigma, 1)
    for name, rival in rivals.items():
        ratios = paired(
            lambda: own(metric, names, 1).fit(X, y, sensitive_features=male),
            rival,
            options.rounds,
        )
        yield f"SenSeI against {name}", ratios


CLAIMS = {
    "stack": stacks,
    "sweep": sweeps,
    "log-loss": log_loss,
    "thresholds": thresholds,
    "noisy": noisy,
    "sensei": sensei,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="less work, three rounds")
    parser.add_argument("--rounds", type=int, help="by default 3 or 7")
    parser.add_argument("--only", nargs="+", choices=list(CLAIMS), default=CLAIMS)
    parser.add_argument("--data", default=os.environ.get("FAIRDASH_DATA"))
    options = parser.parse_args()
    options.rounds = options.rounds or (FEWEST if options.quick else 7)
    if options.data:
        os.environ["FAIRDASH_DATA"] = str(options.data)
    torch.set_num_threads(1)
    print(f"{options.rounds} rounds, load {os.getloadavg()[0]:.1f} at the start")
    for name in options.only:
        for words, ratios in CLAIMS[name](options):
            text = "" if ratios is None else told(ratios)
            print(f"{words:62s} {text}", flush=True)


if __name__ == "__main__":
    main()
