import gc
from itertools import chain

import numpy as np
import pytest
import torch

from fairdash.methods import ROAD, AdversarialDebiasing
from fairdash.methods.network import Groups
from fairdash.methods.network.classifier import (
    CACHED_ROWS,
    GPU_SHARE,
    model_bytes,
    plan_stacks,
    stack_size,
)
from fairdash.methods.network.training import Batch

SHAPE = {"n_rows": 600, "n_features": 9}
FEW = {"n_epochs": 2, "batch_size": 128, "random_state": 0, "device": "cpu"}
WIDE = AdversarialDebiasing(**FEW | {"predictor_layers": (256, 128), "batch_size": 512})


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(SHAPE["n_rows"], SHAPE["n_features"])).astype(np.float32)
    return X, (X[:, 0] > 0).astype(int), rng.choice(["a", "b"], SHAPE["n_rows"])


def many(count):
    return [{"fairness_weight": 0.1 * i} for i in range(count)]


def with_room_for(count, monkeypatch, model):
    """Let a device have as much free memory as so many models are allowed."""
    need = model_bytes(model.get_params(), **SHAPE)
    free = int((count + 0.5) * need / GPU_SHARE)
    monkeypatch.setattr(
        "fairdash.methods.network.classifier.free_memory", lambda device: free
    )


def test_on_a_cpu_models_times_batch_rows_fit_the_cache():
    for batch_size, count in ((128, 64), (1024, 8), (100_000, 1)):
        params = AdversarialDebiasing(batch_size=batch_size).get_params()
        assert stack_size(params, free=None, **SHAPE) == count
    assert CACHED_ROWS == 128 * 64


@pytest.mark.parametrize("count", [1, 3, 50])
def test_a_stack_is_as_large_as_the_free_memory_holds(count, monkeypatch):
    model = ROAD(**FEW)
    with_room_for(count, monkeypatch, model)
    models = [ROAD(**FEW, **point) for point in many(50)]
    stacks = plan_stacks(models, ("fairness_weight", "tau"), **SHAPE)
    assert max(map(len, stacks)) == count
    assert sorted(chain(*stacks)) == list(range(50))


@pytest.mark.parametrize("model", [ROAD(**FEW), WIDE], ids=["usual", "wide"])
def test_the_memory_of_a_model_covers_the_tensors_a_stack_keeps(model, data):
    """What more models keep between two batches, over how many more they are."""
    cls = type(model)
    few, more = (kept_bytes(cls, model, data, count) for count in (4, 12))
    kept = (more - few) / 8
    need = model_bytes(model.get_params(), **SHAPE)
    assert kept <= need <= 12 * kept


def kept_bytes(cls, model, data, count):
    X, y, groups = data
    codes = torch.as_tensor((groups == "b").astype(np.int64))
    rows = Batch(
        torch.as_tensor(X),
        torch.as_tensor(y, dtype=torch.float32),
        Groups(codes, 2),
    )
    models = [model] * count
    gc.collect()
    before = storages()
    trainer = cls._trainer_class(models, rows, seeds=[0, 1, 2], device=rows.X.device)
    with torch.no_grad():
        for part in (slice(0, model.batch_size), slice(0, 88)):
            trainer.step(rows[torch.arange(SHAPE["n_rows"])[part]])
        ratios = trainer.ratios(rows)
    gc.collect()
    after = storages()
    del ratios
    return sum(size for where, size in after.items() if where not in before)


def storages():
    found = [one for one in gc.get_objects() if type(one) is torch.Tensor]
    parts = (tensor.untyped_storage() for tensor in found)
    return {part.data_ptr(): part.nbytes() for part in parts}
