"""How often a promise is broken where thresholds are a further knob, and what it gains.

    python benchmarks/certified/certified_thresholds.py --data FOLDER --splits 1000

Nine networks are trained on 40 % of Adult as in `certified_choice.py`; validation and
test rows of every split are drawn from the rest, with replacement, and the rest is the
population in which a promise is kept or broken. Limits, confidence and subgroups are
those of that script.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from certified_choice import CONFIDENCE, LIMITS, trained_on_adult

from fairdash.metrics import wilson_interval
from fairdash.sweep import THRESHOLDS, Part, candidate_table, choose_certified


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--splits", type=int, default=1000)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    scores, y, group, young = trained_on_adult(args.data)
    _, group = np.unique(group, return_inverse=True)

    def part(at: np.ndarray) -> Part:
        return Part(y[at], group[at], {"under 40": young[at], "older": ~young[at]})

    everyone = part(np.arange(len(y)))
    for kind in THRESHOLDS:
        rng = np.random.default_rng(args.seed)
        found = []
        for _ in range(args.splits):
            seen, unseen = rng.integers(0, len(y), (2, args.rows))
            table = candidate_table(
                range(len(scores)),
                lambda place, a=seen, b=unseen: (scores[place][a], scores[place][b]),
                (part(seen), part(unseen)),
                limits=LIMITS,
                thresholds=kind,
            )
            model = choose_certified(table, limits=LIMITS, confidence=CONFIDENCE).model
            if model is not None:
                decided = model.decide(scores[model.place], group)
                overall, *local = (g[0] for g in everyone.gaps(decided[None]).values())
                kept = overall <= LIMITS["demographic_parity_difference"]
                kept &= max(local) <= LIMITS["worst_1_di"]
                found.append((kept, (decided == y).mean()))
        kept, accuracy = pd.DataFrame(found, columns=["kept", "accuracy"]).T.to_numpy()
        broken = int((kept == 0).sum())
        low, high = wilson_interval(broken, args.splits)
        print(
            f"{kind:9s} broken {broken / args.splits:.3f} ({low:.3f}–{high:.3f}), "
            f"no answer {1 - len(found) / args.splits:.3f}, "
            f"accuracy {np.mean(accuracy.astype(float)):.4f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
