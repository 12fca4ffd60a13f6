"""Every column as a line of a table: to read, and to edit the roles by."""

from typing import Any

import pandas as pd

from fairdash._validation import value_label
from fairdash.datasets._columns import COLUMN_KINDS, ColumnKind, infer_kind, is_number
from fairdash.datasets._remedies import apply_remedy, set_type, undo_remedy
from fairdash.datasets._roles import Remedy, Roles

EXAMPLES = 3
PROBED_ROWS, MANY_VALUES = 1000, 20  # more different values are shown by their range
KIND_NAMES: dict[ColumnKind, str] = {
    kind: kind.replace("_", "/") for kind in COLUMN_KINDS
}
BY_HAND = "excluded by hand"


def column_facts(frame: pd.DataFrame, roles: Roles) -> pd.DataFrame:
    """Return what the cells of each column hold, whatever its role is.

    Returns
    -------
    DataFrame
        One row per column, by name: ``kind``, ``Missing`` (percent), ``Different
        values`` and ``Values`` (the commonest, or a range).
    """
    facts = {
        str(name): {
            "kind": roles.types.get(str(name)) or infer_kind(column)[0],
            "Missing": column.isna().mean() * 100,
            "Different values": column.nunique(),
            "Values": _examples(column),
        }
        for name, column in frame.items()
    }
    return pd.DataFrame.from_dict(facts, orient="index")


def column_table(
    facts: pd.DataFrame, roles: Roles, reasons: dict[str, str]
) -> pd.DataFrame:
    """Return one row per column: role, kind, why it is no feature, values.

    ``facts`` are of `column_facts`, ``reasons`` of `left_out_reasons`.
    """
    names = [str(name) for name in facts.index]
    table = pd.DataFrame(
        {
            "Column": names,
            "Role": [_role(name, roles) for name in names],
            "Feature": [name in roles.features for name in names],
            "Kind": [KIND_NAMES[kind] for kind in facts["kind"]],
            "Not a feature because": [reasons.get(name, "") for name in names],
        },
        index=facts.index,
    )
    return table.join(facts.drop(columns="kind")).reset_index(drop=True)


def edited_roles(roles: Roles, before: pd.DataFrame, after: pd.DataFrame) -> Roles:
    """Return roles with the edits of a table of columns in them.

    What differs in ``Feature`` and ``Kind`` of two `column_table` was edited. Raises
    ValueError if outcome or sensitive column was made a feature, or no feature is left.
    """
    kinds = {name: kind for kind, name in KIND_NAMES.items()}
    for old, new in zip(
        before.to_dict("records"), after.to_dict("records"), strict=True
    ):
        name = str(new["Column"])
        kind = kinds[str(new["Kind"])]
        if new["Kind"] != old["Kind"] and (kind != "date" or old["Feature"]):
            roles = set_type(roles, name, kind)
        if old["Feature"] and not new["Feature"]:
            roles = apply_remedy(
                roles, Remedy(kind="leave_out", column=name, reason=BY_HAND)
            )
        if new["Feature"] and not old["Feature"]:
            roles = _with_feature(roles, name, kind)
    return roles


def _with_feature(roles: Roles, name: str, kind: ColumnKind) -> Roles:
    taken = {roles.target: "outcome"}
    taken |= dict.fromkeys(roles.sensitive_columns(), "sensitive column")
    taken |= {score.column: "score of a model" for score in roles.scores}
    if name in taken:
        raise ValueError(f"{name!r} is the {taken[name]}, so it cannot be a feature.")
    if any(r.kind == "date_parts" and r.column == name for r in roles.preparation):
        raise ValueError(f"Year, month and weekday of {name!r} are features already.")
    if kind == "date":
        return apply_remedy(roles, Remedy(kind="date_parts", column=name))
    if name in roles.left_out:
        reason = roles.left_out[name]
        excluded = Remedy(kind="leave_out", column=name, reason=reason)
        return undo_remedy(roles, excluded)
    return roles.model_copy(update={"features": (*roles.features, name)})


def _role(name: str, roles: Roles) -> str:
    parts = {
        "outcome": name == roles.target,
        "sensitive": name in roles.sensitive_columns(),
        "feature": name in roles.features,
        "subgroup": name in roles.subgroup_columns,
        "score of a model": name in [score.column for score in roles.scores],
        "row filter": name in roles.keep,
    }
    return ", ".join(part for part, is_so in parts.items() if is_so) or "not used"


def _examples(column: "pd.Series[Any]") -> str:
    """Return the commonest values, or from where to where most-varied numbers go."""
    if is_number(column) and column.head(PROBED_ROWS).nunique() > MANY_VALUES:
        return f"{column.min():,g} to {column.max():,g}"
    values = column.value_counts().head(EXAMPLES).index
    return ", ".join(value_label(value) for value in values)
