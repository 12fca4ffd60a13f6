"""What a table, a run or a sweep says to a question: one question a file.

What was computed once is kept, by names of contents: a key of a trial, an id of a data
set. A change of subgroups never retrains.
"""

from typing import TYPE_CHECKING

from fairdash._lazy import lazy

if TYPE_CHECKING:
    from fairdash.audits.answer import Answer, Drawing, Listing
    from fairdash.audits.audited_model import (
        AuditedModel,
        AuditRows,
        Scaling,
        audited,
    )
    from fairdash.audits.brief import correction_verdict
    from fairdash.audits.choices import (
        certified_words,
        model_in_question,
        models_of,
        opened_on,
        own_points,
        sweep_answer,
    )
    from fairdash.audits.counterparts import (
        Change,
        worst_counterparts,
    )
    from fairdash.audits.decisions import Audit, audit
    from fairdash.audits.drifts import (
        DriftResult,
        drift,
    )
    from fairdash.audits.groups.evaluation import (
        GAP_HELP,
        metrics_by_setting,
        readable,
    )
    from fairdash.audits.groups.local import LocalResult, not_estimable
    from fairdash.audits.groups.measured import (
        calibration_of,
        every_measure,
        local_by_measure,
        readable_measures,
        speech_of,
    )
    from fairdash.audits.groups.outcomes import outcome
    from fairdash.audits.groups.rates import (
        BaseRates,
        base_rate_kpis,
        base_rates,
        base_rates_answer,
        first_measure,
    )
    from fairdash.audits.look_alikes import (
        PairKind,
        Pairs,
        alike_answer,
        changed_people,
        flip_values,
        invented_people,
        own_units,
        similar_people,
        trained_columns,
    )
    from fairdash.audits.noisy_groups.certificates import (
        FARTHEST,
        Decisions,
        Question,
        RadiusCurve,
        decisions_of,
        points_table,
        promise_answer,
        radius_curve,
    )
    from fairdash.audits.noisy_groups.noise import (
        Noise,
        from_level,
        from_sample,
        most_assumed,
    )
    from fairdash.audits.portable import (
        PortableModel,
        exported,
        load,
        model_asked,
        predictions,
    )
    from fairdash.audits.stored import (
        audit_rows_of,
        audited_scores,
        deciding_by,
        encoding_of,
        read_model,
    )
    from fairdash.audits.subgroups import (
        FoundSubgroups,
        as_subgroups,
        find_subgroups,
        search_model,
    )
    from fairdash.audits.sweeps import (
        StoredSweep,
        finished_sweep,
        is_sweep,
    )
    from fairdash.audits.tables.adverse_impact import adverse_impact
    from fairdash.audits.tables.alternative import alternative_in_run
    from fairdash.audits.tables.audit import Source, TableAudit, audit_table
    from fairdash.audits.tables.counting import TableQuestion
    from fairdash.audits.tables.limits import PolicyCheck, check_policy
    from fairdash.audits.tables.ll144 import bias_audit
    from fairdash.audits.tables.monitor import Monitor, Watch
    from fairdash.audits.tables.outcomes import (
        OUTCOME_KINDS,
        audit_outcomes,
        complete_rows,
    )
    from fairdash.audits.tables.policy import Policy, first_policy
    from fairdash.audits.training import (
        ExpectedCost,
        curves,
        expected_cost,
        main_trials,
        run_table,
        runtime,
        seconds_left,
        trained_elsewhere,
        why_failed,
    )
    from fairdash.audits.trials.decision_rule import (
        RULE_NAMES,
        DecisionRule,
        RuleKind,
    )
    from fairdash.audits.trials.models import (
        Setting,
        beside_plain,
        ids_to_come,
        known_models,
        known_models_of,
        on_shared_seeds,
        reference_of,
        settings,
        single_values,
        trained_as,
    )
    from fairdash.audits.trials.rows import (
        OWN_NOTE,
        alike_advice,
        beside_trained,
        callable_models,
        decided_by,
        is_own,
        own_models,
        own_scores,
        part_sizes,
        rows_used,
        score_name,
        score_of_key,
        trained_on,
    )
    from fairdash.audits.weighting import (
        TopRows,
        Weighted,
        find_top_rows,
        weighted_models,
    )
else:
    __getattr__, __dir__ = lazy(__name__, __file__)
