"""What trains for a noise of groups: every approach, each told what is known of it."""

from collections.abc import Mapping
from typing import Any

from fairdash._wording import number, percent
from fairdash.audits.certificates import Question
from fairdash.audits.noise import Noise
from fairdash.datasets import Dataset, Subgroups
from fairdash.methods import CATALOG
from fairdash.store import RunRecord, Store
from fairdash.sweep import DataSource, MethodGrid, SweepSpec

SEEDS = 3
UNCONSTRAINED = "hinge"
APPROACHES = ("noisy_naive", "noisy_dro", "noisy_soft")


def noise_spec(
    data: DataSource,
    dataset: Dataset,
    question: Question,
    noise: Noise,
    subgroups: Subgroups,
) -> SweepSpec:
    """Return every approach, each told what is known of the noise.

    Raises ValueError where the noisy groups are not those of the data.
    """
    if not noise.taught:
        raise ValueError(
            "Methods train on the table's own groups, which are the true ones here. "
            "Make the column with the recorded groups the sensitive one on Data, and "
            "send this table as the sample."
        )
    grids = [MethodGrid(method=UNCONSTRAINED)]
    for method in APPROACHES:
        if method == "noisy_dro" and noise.bounds is None:
            continue  # it needs the same groups on both sides
        told = declared_by(method, noise.taught)
        params: dict[str, Any] = {**question._asdict(), **told}
        grids.append(MethodGrid(method=method, params=params))
    seeds = tuple(range(SEEDS))
    return SweepSpec(data=data, methods=tuple(grids), seeds=seeds, subgroups=subgroups)


def declared_by(method: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that are of a parameter of the method."""
    names = {param.name for param in CATALOG[method].params}
    return {name: value for name, value in values.items() if name in names}


def told_words(noise: Noise) -> str:
    """Say what DRO and Soft are told of the noise when they train."""
    if "simulated_noise" in noise.taught:
        share = percent(float(noise.taught["tv_radius"]))
        return (
            f"Groups of {share} of the training rows are replaced at random; DRO and "
            "Soft are told how many."
        )
    if noise.bounds is None:
        return (
            "Soft is told P(G | Ĝ). DRO is excluded: it needs true groups of the "
            "recorded names."
        )
    end = "general_high" if "general_high" in noise.bounds else "general"
    far = [f"{name} {number(value)}" for name, value in noise.bounds[end].items()]
    sure = ", 95% upper ends that hold together" if end == "general_high" else ""
    return f"Soft is told P(G | Ĝ), DRO the radii {', '.join(far)}{sure}."


def newest_run(store: Store, dataset_id: str, spec: SweepSpec) -> RunRecord | None:
    """Return the newest run of a data set that trains what ``spec`` does, if any."""
    methods = spec.model_dump(mode="json", exclude_none=True)["methods"]
    runs = store.runs(dataset_id)
    return next((run for run in runs if run.spec["methods"] == methods), None)
