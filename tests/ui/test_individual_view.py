"""What the page says of models that are excluded."""

from fairdash.ui.individual.models import _reasons


def test_reasons_stand_once_with_few_names_or_the_number_of_many():
    left_out = {"A": "kept no model", "B": "kept no model"}
    left_out |= {f"ROAD {i}": "only 40 are compared" for i in range(30)}
    assert _reasons(left_out) == (
        "A, B: kept no model; 30 models: only 40 are compared"
    )
    assert _reasons({}) == ""
