"""Train the finished runs that come with the samples, and write them beside them.

python sample_data/make_runs.py [HOME [SAMPLE ...]]

Ten minutes of a core for Loans, two for each of the others; what a home folder that is
given has is not trained again. To be done anew after `RESULTS_VERSION` was raised: a
test refuses older files.
"""

import sys
import tempfile
from dataclasses import dataclass

from fairdash.audits import linked, sweeps
from fairdash.datasets import SAMPLES
from fairdash.jobs import finished_file, pack_runs, queue, run_open
from fairdash.store import open_store
from fairdash.sweep import DataSource, SweepSpec, grids

# so that no model with a large λ decides alike for everyone: docs/results/road.md
WARM_UP = 0.5


@dataclass(frozen=True)
class Plan:
    """What is swept over a sample.

    Attributes
    ----------
    axes : GridAxes
        Of ROAD, and of Zhang as far as it has them.
    broad : GridAxes, optional
        Of BROAD, fewer.
    limit : float
        On the gap over all rows; the app opens the most accurate setting within it.
    """

    axes: grids.GridAxes
    broad: grids.GridAxes | None
    n_seeds: int
    limit: float


# From weights on a tenth of the rows to weights that are all alike; below λ 0.5 and
# beyond λ 7 the local gaps are those of the plain model.
PLANS = {
    "loans": Plan(
        grids.GridAxes(
            (0.5, 1.0, 2.0, 3.0, 4.5, 7.0), (0.02, 0.04, 0.08, 0.16, 0.32, 0.64)
        ),
        grids.GridAxes((1.0, 2.0, 4.5), (0.04, 0.16, 0.64)),
        n_seeds=3,
        limit=0.024,  # the most accurate setting within it is one of ROAD
    ),
    "hiring": Plan(
        grids.GridAxes((0.5, 1.0, 2.0, 4.0), (0.04, 0.16, 0.64)),
        None,
        n_seeds=1,
        limit=0.08,
    ),
    "readmission": Plan(
        grids.GridAxes((0.5, 1.0, 2.0, 4.0), (0.04, 0.16, 0.64)),
        None,
        n_seeds=1,
        limit=0.08,
    ),
}


def sweep_of(name: str) -> SweepSpec:
    """Return the sweep over a sample, all methods with the same warm-up."""
    sample, plan = SAMPLES[name], PLANS[name]
    data = DataSource(sample=name, roles=sample.roles, name=sample.title)

    def spec_of(methods: list[str], axes: grids.GridAxes) -> SweepSpec:
        return grids.grid_spec(
            data,
            methods,
            axes,
            n_seeds=plan.n_seeds,
            shared={"warm_up": WARM_UP},
            subgroups=sample.subgroups,
        )

    spec = spec_of(["road", "adversarial"], plan.axes)
    if plan.broad is not None:
        *_, broad = spec_of(["broad"], plan.broad).methods
        spec = spec.model_copy(update={"methods": (*spec.methods, broad)})
    return spec.model_copy(update={"di_limit": plan.limit})


def main(home: str, *names: str) -> None:
    """Sweep the samples and write their files."""
    store = open_store(home)
    for name in names or SAMPLES:
        title = SAMPLES[name].title
        run = queue(store, sweep_of(name), name=f"{title} · finished sweep")
        run_open(store)
        swept = sweeps.finished_sweep(store, run)
        assert swept is not None, "the run has finished"
        linked.summary(swept)  # kept with the run, so that Sweep opens at once
        pack_runs(store, [run], finished_file(name), rows=False)
    store.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        main(*(sys.argv[1:] or [folder]))
