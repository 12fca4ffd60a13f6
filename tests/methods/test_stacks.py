from itertools import chain

from fairdash.methods import AdversarialDebiasing
from fairdash.methods.network.classifier import CACHED_ROWS, plan_stacks


def test_on_a_cpu_models_times_batch_rows_fit_the_cache():
    for batch_size, size in ((128, 64), (1024, 8), (100_000, 1)):
        models = [
            AdversarialDebiasing(batch_size=batch_size, fairness_weight=i, device="cpu")
            for i in range(70)
        ]
        stacks = plan_stacks(models, ("fairness_weight",))
        assert max(map(len, stacks)) == size
        assert sorted(chain(*stacks)) == list(range(70))
    assert CACHED_ROWS == 128 * 64
