"""The rules of a rule list in the words of the table, and whom they decide."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from fairdash._wording import count, distinct_labels
from fairdash.audits.answer import Listing
from fairdash.audits.audited_model import AuditedModel
from fairdash.audits.stored import audit_rows_of, read_model
from fairdash.audits.trials.models import Setting
from fairdash.datasets import MISSING, OTHER, Encoder, NumberEncoding
from fairdash.methods import RuleList
from fairdash.store import Snapshot, Store
from fairdash.sweep import SweepSpec

METHOD = "rule_list"


def rules_of(
    store: Store, snapshot: Snapshot, models: Sequence[Setting]
) -> Listing | None:
    """Return the rules of the last rule list among some models, of its first seed.

    None where there is no rule list. Raises ValueError when an earlier version trained
    it and encoded otherwise.
    """
    lists = [model for model in models if model.method == METHOD]
    if not lists:
        return None
    trial = lists[-1].trials[0]
    dataset = store.dataset(snapshot.run.dataset_id)
    rows = audit_rows_of(dataset, trial, SweepSpec.of_run(snapshot.run.spec))
    note = (
        f"{lists[-1].label}, seed {trial.seed}, {count(rows.n)} test rows. The first "
        f"rule that applies decides. 1 is {dataset.roles.outcome()}."
    )
    return Listing("The rules", rule_table(read_model(store, trial, rows)), note)


def rule_table(model: AuditedModel) -> pd.DataFrame:
    """Return what the rules of a list decide on the test rows.

    Parameters
    ----------
    model : AuditedModel
        Whose ``scorer`` is a rule list.

    Returns
    -------
    DataFrame
        One row per rule and a last one for all other rows: ``Rule`` as "if age is above
        45", ``Decision`` 1 or 0, ``Rows`` that it decides, ``Right``, the share of
        these whose outcome is the decision (NaN where it decides none), and for each
        group the share of it that the rule decides.
    """
    rules = model.scorer
    rows = model.rows
    assert isinstance(rules, RuleList)
    first = rules.first(rows.test.X)
    words = rule_words(rules, rows.encoder)
    table = pd.DataFrame({"Rule": words, "Decision": rules.decisions.astype(int)})
    table["Rows"] = np.bincount(first, minlength=len(words))
    right = pd.Series(rules.decisions[first] == rows.y).groupby(first).mean()
    table["Right"] = right.reindex(table.index)
    names = np.unique(rows.dataset.sensitive_features).tolist()
    feature = rows.dataset.roles.group_prefix()
    for code, label in enumerate(distinct_labels(feature, names, table.columns)):
        inside = rows.test.group == code
        table[label] = np.bincount(first[inside], minlength=len(words)) / inside.sum()
    return table


def rule_words(rules: RuleList, encoder: Encoder) -> list[str]:
    """Return the rules as text, in the units and levels of the table.

    A missing number was taken as the training median: where that meets a rule, the
    rule says so.
    """
    places = [
        (encoding, i)
        for encoding in encoder.columns
        for i in range(len(encoding.names()))
    ]
    dropped = set(encoder.dropped)
    columns = [
        place
        for place, (encoding, i) in enumerate(places)
        if encoding.names()[i] not in dropped
    ]
    conditions = []
    for feature, threshold, above in zip(
        rules.features, rules.rule_thresholds, rules.above, strict=True
    ):
        place = columns[feature]
        encoding, i = places[place]
        if isinstance(encoding, NumberEncoding) and i == 0:
            value = threshold * encoder.scale[place] + encoder.shift[place]
            side = "above" if above else "at most"
            condition = f"is {side} {value:,.6g}"
            if encoding.indicator and (encoding.fill > value) == bool(above):
                condition += " or missing"
        else:
            # The second column of a number says that it is missing.
            level = MISSING
            if not isinstance(encoding, NumberEncoding):
                level = encoding.labels[i]
            verb = "is" if above else "is not"
            name = {OTHER: "other", MISSING: "missing"}.get(level, level)
            condition = f"{verb} {name}"
        conditions.append(f"{encoding.column} {condition}")
    if not conditions:
        return ["always"]
    first, *later = conditions
    return [f"if {first}", *(f"else if {condition}" for condition in later), "else"]
