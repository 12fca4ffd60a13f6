"""A model against a question: changed people, and groups recorded wrongly."""

from typing import TYPE_CHECKING

from fairdash._lazy import lazy

if TYPE_CHECKING:
    from fairdash.audits.certificates import (
        Certificate,
        Decisions,
        Question,
        RadiusCurve,
        certificate_table,
        certificates_answer,
        certify_decisions,
        radius_curve,
    )
    from fairdash.audits.counterparts import (
        Change,
        Counterparts,
        columns_by_effect,
        compare_people,
        counterpart_of,
        number_step,
        search_counterparts,
        worst_counterparts,
    )
    from fairdash.audits.decisions import Audit, audit, cross_validated_scores
    from fairdash.audits.drifts import (
        DRIFT_MEASURES,
        MEASURE_LABELS,
        DriftResult,
        columns_of_parts,
        drift,
        drift_over_seeds,
        gap_changes,
    )
    from fairdash.audits.fair_metrics import (
        FairMetricSpec,
        UploadedPairs,
        Yardstick,
        fair_radius_yardstick,
        pair_counts,
    )
    from fairdash.audits.individual import (
        Certified,
        audit_counterparts,
        audit_flips,
        audit_run,
        audits_table,
        certificate_caption,
        certificate_kpis,
        certify,
        counterparts_caption,
        counterparts_headline,
        flip_values,
        individual_kpis,
        individual_verdict,
        nobody_alike,
        yardstick_caption,
    )
    from fairdash.audits.models import (
        AuditedModel,
        AuditRows,
        Flips,
        Scaling,
        audited,
        rule_table,
    )
    from fairdash.audits.noise import (
        Noise,
        NoisyRows,
        columns_of_groups,
        from_estimate,
        from_levels,
        from_sample,
    )
    from fairdash.audits.noise_training import newest_run, noise_spec, told_words
    from fairdash.audits.portable import (
        PortableModel,
        exported,
        load,
        model_asked,
        predictions,
    )
    from fairdash.audits.stored import (
        encoding_of,
        first_rule_list,
        own_model,
        read_model,
        rows_of,
    )
    from fairdash.audits.subgroups import (
        FoundSubgroups,
        Guarantee,
        as_subgroups,
        certified_model,
        find_subgroups,
        guarantee,
        offered,
        refinements,
        rows_inside,
        search_for_guarantee,
        search_model,
    )
else:
    __getattr__, __dir__ = lazy(__name__, __file__)
