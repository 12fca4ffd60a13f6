"""Write a finished run to MLflow: parameters, measures, report and model."""

import math
import tempfile
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from fairdash.audits import portable
from fairdash.reports import report
from fairdash.store import Store
from fairdash.sweep import SweepSpec

Tracker = Literal["mlflow"]


def tracker(name: Tracker) -> Any:
    """Return the client of a tracker, once it has answered: before a long training.

    Raises ValueError where it is not installed, or does not answer.
    """
    if find_spec(name) is None:
        raise ValueError(f"{name} is not installed: pip install 'fairdash[{name}]'.")
    client = import_module(name)
    try:
        client.search_experiments(max_results=1)
    except ModuleNotFoundError as error:
        raise ValueError(
            f"{name} needs {error.name} to write to this address. The extra "
            f"'fairdash[{name}]' brings only the client of a tracking server: "
            f"pip install {name}, or set MLFLOW_TRACKING_URI to a server."
        ) from error
    except Exception as error:  # of another package
        raise ValueError(f"{name} cannot be written to: {error}") from error
    return client


def log_run(store: Store, run_id: str, mlflow: Any) -> str:
    """Write a run and, nested in it, each of its models; return the id it has there.

    It goes where ``MLFLOW_TRACKING_URI`` says. A model has its parameters and every
    measure, with ``_low`` and ``_high`` of its interval; the run has the configuration,
    the report and the model that this is about.
    """
    snapshot = store.snapshot(run_id)
    run = snapshot.run
    config = SweepSpec.of_run(run.spec)
    with (
        tempfile.TemporaryDirectory() as name,
        mlflow.start_run(run_name=run.name) as a,
    ):
        folder = Path(name)
        mlflow.set_tags({"fairdash.run": run.id, "fairdash.data": run.dataset_name})
        for trial in snapshot.trials:
            if trial.row is None:
                continue
            title = f"{trial.method}, seed {trial.seed}"
            with mlflow.start_run(run_name=title, nested=True):
                mlflow.log_params(
                    {"method": trial.method, "seed": trial.seed, **trial.params}
                )
                mlflow.log_metrics(
                    {k: float(v) for k, v in trial.row.items() if math.isfinite(v)}
                )
        (folder / "config.yaml").write_text(config.to_yaml())
        (folder / "report.html").write_text(report(store, run_id).to_html())
        (folder / "model.zip").write_bytes(portable.exported(store, run_id).to_bytes())
        mlflow.log_artifacts(str(folder))
    return str(a.info.run_id)
