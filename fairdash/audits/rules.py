"""A rule list in the words of the table, with what each rule does on the test rows."""

import numpy as np
import pandas as pd

from fairdash.audits.models import AuditedModel, read_model, rows_of
from fairdash.datasets import Encoder, NumberEncoding
from fairdash.methods import RuleList
from fairdash.store import Snapshot, Store
from fairdash.sweep import SweepSpec

_METHOD = "rule_list"


def first_rule_list(store: Store, snapshot: Snapshot) -> AuditedModel | None:
    """Return the first finished rule list of a run, or None.

    Raises ValueError when an earlier version trained it and encoded otherwise.
    """
    for trial in snapshot.trials:
        if trial.method == _METHOD and trial.status == "finished":
            dataset = store.dataset(snapshot.run.dataset_id)
            spec = SweepSpec.of_run(snapshot.run.spec)
            return read_model(store, trial, rows_of(dataset, trial, spec))
    return None


def rule_table(model: AuditedModel) -> pd.DataFrame:
    """Return the rules of a list in order, with the test rows that each decides.

    Parameters
    ----------
    model : AuditedModel
        Whose ``scorer`` is a rule list.

    Returns
    -------
    DataFrame
        One row per rule and a last one for all other rows: ``rule`` as "if age is above
        45", ``decision`` 1 or 0, ``rows`` that it decides, and of these ``right``, the
        share whose outcome is the decision, and the share of each group, "of Female";
        NaN where it decides none.
    """
    rules: RuleList = model.scorer  # type: ignore[assignment]
    rows = model.rows
    which = rules.first(rows.test.X)
    words = rule_words(rules, rows.encoder)
    table = pd.DataFrame({"rule": words, "decision": rules.decisions.astype(int)})
    table["rows"] = np.bincount(which, minlength=len(words))
    right = rules.decisions[which] == rows.y
    by_rule = pd.Series(right).groupby(which).mean()
    table["right"] = by_rule.reindex(table.index)
    names = np.unique(rows.dataset.sensitive_features)
    for code, name in enumerate(names):
        here = rows.test.group == code
        share = np.bincount(which[here], minlength=len(words)) / max(here.sum(), 1)
        table[f"of {name}"] = share if here.any() else np.nan
    return table


def rule_words(rules: RuleList, encoder: Encoder) -> list[str]:
    """Return the rules as text, in the units and levels of the table.

    A missing number was taken as the training median: where that meets a rule, the
    rule says so.
    """
    places = [(one, i) for one in encoder.columns for i in range(len(one.names()))]
    dropped = set(encoder.dropped)
    kept = [i for i, (one, k) in enumerate(places) if one.names()[k] not in dropped]
    words: list[str] = []
    for feature, threshold, above in zip(
        rules.features, rules.rule_thresholds, rules.above, strict=True
    ):
        place = kept[feature]
        column, k = places[place]
        if isinstance(column, NumberEncoding) and k == 0:
            value = threshold * encoder.scale[place] + encoder.shift[place]
            filled = column.indicator and (column.fill > value) == bool(above)
            side = "above" if above else "at most"
            what = f"is {side} {value:,.6g}{' or missing' if filled else ''}"
        else:
            level = column.names()[k].removeprefix(f"{column.column}=").strip("()")
            what = f"{'is' if above else 'is not'} {level}"
        words.append(f"{'else if' if words else 'if'} {column.column} {what}")
    return [*words, "else" if words else "always"]
