"""The Individual fairness page: whether people who are alike are treated alike."""

from fairdash.ui.individual.form import pick_individual
from fairdash.ui.individual.models import (
    asked_pairs,
    consistency_answer,
    differ_by,
    features_of,
    metric_of,
    model_of,
)
from fairdash.ui.individual.people import edit_person
