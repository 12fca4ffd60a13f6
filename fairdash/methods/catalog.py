"""The catalog: every method with its parameters, described without loading torch.

Forms, the command line, sweeps, the documentation's table and the estimator checks are
made from these entries. A new method is one file and one entry.
"""

from fairdash.methods._adversarial_entries import ADVERSARIAL_METHODS
from fairdash.methods._base_model_entries import BASE_MODELS
from fairdash.methods._classical_entries import CLASSICAL_METHODS
from fairdash.methods._individual_entries import INDIVIDUAL_METHODS
from fairdash.methods._noisy_entries import NOISY_METHODS

CATALOG = {
    method.key: method
    for method in (
        *ADVERSARIAL_METHODS,
        *CLASSICAL_METHODS,
        *BASE_MODELS,
        *NOISY_METHODS,
        *INDIVIDUAL_METHODS,
    )
}
