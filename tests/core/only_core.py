"""What works with NumPy, SciPy, pandas and scikit-learn alone; run in a new process."""

import sys
import tempfile
from pathlib import Path

ALLOWED = {
    "numpy", "scipy", "pandas", "sklearn", "fairdash", "joblib", "cloudpickle",
    "narwhals", "threadpoolctl", "dateutil", "six", "tzdata", "pytz",
}  # fmt: skip


class Blocker:
    """Refuses every import of a package outside the core."""

    def find_spec(self, name, path=None, target=None):
        """Raise for a name that is none of Python's or of the core."""
        top = name.partition(".")[0]
        if top not in sys.stdlib_module_names | ALLOWED and not top.startswith("_"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.meta_path.insert(0, Blocker())

import numpy as np  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402

import fairdash  # noqa: E402
from fairdash import (  # noqa: E402
    audits,
    datasets,
    methods,
    metrics,
    postprocessing,
)

data = datasets.load_sample("loans")
assert datasets.guess_roles(data.frame, "loans.csv").target == "approved"
train = datasets.split(data, 0).train
encoded = datasets.encode(data, train)
X = encoded.X[:2000]
sex = data.sensitive_features[:2000]
y = data.y[:2000]
frame = data.frame[:2000]
model = LogisticRegression().fit(X, y)
scores = model.predict_proba(X)[:, 1]
decisions = (scores >= 0.5).astype(int)

report = fairdash.audit(
    y, decisions, sensitive_features=sex, subgroups=frame["employment"]
)
assert report.verdict, report
table = metrics.measure_by_group("selection_rate", y, decisions, sensitive_features=sex)
assert table["value"].notna().all()
assert metrics.demographic_parity_difference(decisions, sensitive_features=sex) >= 0
assert len(metrics.local_di(decisions, sensitive_features=sex, subgroups=frame["age"]))
ramp = postprocessing.RampThreshold(gamma=0.05, target_rate=0.5)
ramp.fit(2 * scores - 1, sensitive_features=sex)
learned = ramp.thresholds().to_json()
again = postprocessing.Thresholds.from_json(learned)
assert len(again.predict(2 * scores - 1, sensitive_features=sex)) == len(y)
subgroups = audits.find_subgroups(
    decisions, sensitive_features=sex, frame=frame[["age", "employment"]]
)
assert "p_adjusted" in subgroups
metric = metrics.ignore_columns(["a"], ["a", "b"])
Z = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
small = LogisticRegression(C=100).fit(Z, [0, 0, 1, 1])
worst = audits.worst_counterparts(small, Z, metric=metric, fair_radius=0.0)
assert worst["decision_changed"].all()
assert datasets.Subgroups(columns=("age",)).label(frame) is not None
table = datasets.read_table(b"age,sex\n31,female\n45,male\n")
assert list(table["age"]) == [31, 45]

for use, extra in (
    (lambda: datasets.read_table(b"PAR1" + bytes(16) + b"PAR1"), "app"),
    (lambda: fairdash.load("model.zip"), "model"),
    (lambda: __import__("fairdash.store"), "app"),
    (lambda: __import__("fairdash.plots"), "app"),
    (lambda: fairdash.ROAD(n_epochs=1).fit(X, y, sensitive_features=sex), "train"),
):
    try:
        use()
        message = "works without it"
    except ImportError as missing:
        message = str(missing)
    assert f'pip install "fairdash[{extra}]"' in message, (extra, message)

# of the extra "model"; the others are only asked whether they are installed
ALLOWED.update({"safetensors", "lightgbm", "xgboost"})
try:
    import safetensors  # noqa: F401
except ImportError:
    sys.exit()  # of the oldest versions, which are tried without an extra
network = methods.Network(
    [np.full((encoded.X.shape[1], 1), 0.1, np.float32)], [np.zeros(1, np.float32)]
)
made = audits.PortableModel(network, encoded.encoder, data.roles, data.group_names)
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "model.zip"
    path.write_bytes(made.to_bytes())
    again = fairdash.load(path)
assert (again.predict_proba(frame) == made.predict_proba(frame)).all()
