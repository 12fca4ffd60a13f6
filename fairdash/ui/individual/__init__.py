"""The Individual fairness page: whether people who are alike are treated alike."""

from fairdash.ui.individual.form import pick_individual
from fairdash.ui.individual.models import (
    answer_of,
    audits_of,
    features_of,
    metric_of,
    model_of,
    people_of,
    pick_compared,
    show_certificate,
    show_consistency,
    show_metric,
)
from fairdash.ui.individual.people import show_people, what_if
