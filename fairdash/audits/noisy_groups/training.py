"""What trains for a noise of groups: every approach, with what is known of it."""

from typing import Any

from fairdash._wording import number
from fairdash.audits.noisy_groups.certificates import Question
from fairdash.audits.noisy_groups.noise import Noise
from fairdash.datasets import Subgroups
from fairdash.methods import CATALOG
from fairdash.store import RunRecord, Store
from fairdash.sweep import DataSource, MethodGrid, SweepSpec

SEEDS = 3
UNCONSTRAINED = "hinge"
APPROACHES = ("noisy_naive", "noisy_dro", "noisy_soft")


def noise_spec(
    data: DataSource,
    question: Question,
    noise: Noise,
    subgroups: Subgroups,
) -> SweepSpec:
    """Return every approach, each with what is known of the noise."""
    grids = [MethodGrid(method=UNCONSTRAINED)]
    for method in APPROACHES:
        params: dict[str, Any] = question._asdict()
        if any(param.name == "auxiliary" for param in CATALOG[method].params):
            params["auxiliary"] = noise.auxiliary
        grids.append(MethodGrid(method=method, params=params))
    seeds = tuple(range(SEEDS))
    return SweepSpec(data=data, methods=tuple(grids), seeds=seeds, subgroups=subgroups)


def told_words(noise: Noise) -> str:
    """Say what DRO and Soft learn of the noise when they train."""
    assert noise.bounds is not None, "every source of noise has bounds"
    end = "general_high" if "general_high" in noise.bounds else "general"
    far = [f"{name} {number(value)}" for name, value in noise.bounds[end].items()]
    sure = ", 95% upper ends that hold together" if end == "general_high" else ""
    return f"Soft is told P(G | Ĝ), DRO the radii {', '.join(far)}{sure}."


def newest_run(store: Store, dataset_id: str, spec: SweepSpec) -> RunRecord | None:
    """Return the newest run of a data set that trains what ``spec`` does, if any."""
    methods = spec.model_dump(mode="json", exclude_none=True)["methods"]
    runs = store.runs(dataset_id)
    return next((run for run in runs if run.spec["methods"] == methods), None)
