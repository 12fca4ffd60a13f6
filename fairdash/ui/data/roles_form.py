"""The form that says what the columns of a table mean, as three questions."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st
from pandas.api.types import is_numeric_dtype

from fairdash._escaping import in_menu, plain
from fairdash._record import NAME_LETTERS, cut
from fairdash._wording import listing
from fairdash.datasets import Roles, Subgroups, column_kinds, guessing, remedies
from fairdash.ui.data import groups_form, outcome_form, rows_form
from fairdash.ui.data.computed import few_valued, guessed_features
from fairdash.ui.widgets.blocks import draw_table
from fairdash.ui.widgets.pick_models import MOST_CROSSED


class Unchosen(ValueError):
    """Nothing was guessed, and outcome or sensitive column are not chosen yet."""


def roles_form(
    frame: pd.DataFrame,
    roles: Roles,
    subgroups: Subgroups,
    digest: str,
    key: str,
    counts: rows_form.LiveCounts,
) -> tuple[Roles, Subgroups]:
    """Draw the roles of a prepared table, filled in, and return the choice.

    Parameters
    ----------
    digest : str
        Of the table as it was read.
    key : str
        Another one fills the form in anew.
    counts : LiveCounts
        Gets room below each question, to be filled in once rows are counted.

    Raises
    ------
    ValueError
        If the choice makes no roles, such as one column in two parts.
    """
    columns = [str(column) for column in frame.columns]
    numeric = {
        str(name) for name, kind in frame.dtypes.items() if is_numeric_dtype(kind)
    }
    named = in_menu(columns)
    _question("Which rows?")
    rows, keep = rows_form.pick_conditions(frame, roles, named, key)
    counts.place("rows")
    more_rows = st.expander("Weights, repeats, missing numbers")

    _question("What happened?")
    target = _pick_column("Outcome (y)", columns, roles.target, named, f"{key} y")
    same = target == roles.target
    present = outcome_form.Sides(roles.positive, roles.negative)
    if not same:
        present = outcome_form.Sides(guessing.guess_positive(frame[target]))
    sides = outcome_form.pick_sides(frame[target], present, f"{key} {target}")
    name, meaning = outcome_form.pick_meaning(
        roles, target, sides, f"{key} {target} {sides.positive}"
    )
    counts.place("outcome")
    more_outcome = st.expander("An existing model's scores")

    _question("To whom?")
    others = [column for column in columns if column != target]
    sensitive = _pick_column(
        "Sensitive column", others, roles.sensitive_feature, named, f"{key} sensitive"
    )
    groups, cuts = groups_form.pick_groups(
        frame[sensitive], roles, f"{key} {sensitive}"
    )
    counts.place("groups")
    described = _pick_described(others, sensitive, roles, subgroups, named, key)
    with st.expander("Crossed groups, bins of subgroups"):
        few = [
            column
            for column in few_valued(digest, roles, groups_form.FEW_VALUES)
            if column not in (target, sensitive)
        ]
        crossed = groups_form.pick_crossing(few, roles, named, key)
        chosen_subgroups = groups_form.pick_bins(frame, described, subgroups, key)

    taken = (sensitive, *crossed)
    free = [column for column in others if column not in taken]
    numbers = [name for name in free if name in numeric]
    key = f"{key} {target} {taken}"  # of what depends on these
    with more_outcome:
        words = [name for name in free if name not in numeric]
        guesses = (
            guessing.guess_classes(frame[c], frame[target], sides.positive)
            for c in words
        )
        classes = {guess.column: guess for guess in guesses if guess is not None}
        scores = outcome_form.pick_scores(frame, roles, numbers, classes, named, key)
    scored = tuple(score.column for score in scores)
    with more_rows:
        stands_for = rows_form.pick_stands_for(free, numbers, roles, named, key)
        missing = rows_form.pick_missing(roles, key)
    free = [c for c in free if c not in (*scored, *stands_for.columns)]
    with st.expander("What a model may see"):
        proposed, reasons = guessed_features(
            digest, roles, target, sides.positive, sensitive
        )
        if (target, sensitive) == (roles.target, roles.sensitive_feature):
            proposed = roles.features
        features = st.multiselect(
            "Columns the model sees",
            free,
            default=[c for c in proposed if c in free],
            format_func=named,
            key=f"{key} {scored} {stands_for.columns} features",
        )
        types = _pick_codes(free, numeric, roles, named, key)
        why = {c: reasons.get(c, "") for c in free if c not in features}
        _show_reasons(why | roles.left_out)
    chosen = Roles.model_validate(
        {
            **vars(roles),
            **remedies.choose_features(roles, features, columns),
            "target": target,
            "positive": sides.positive,
            "negative": sides.negative,
            "positive_name": name,
            "positive_is": meaning,
            "sensitive_feature": sensitive,
            "groups": groups,
            "sensitive_cuts": cuts,
            "crossed_with": crossed,
            "subgroup_columns": tuple(described),
            "scores": scores,
            "sample_weight": stands_for.weight,
            "count": stands_for.count,
            "unit": stands_for.unit,
            "rows": rows,
            "keep": keep,
            "missing": missing,
            "types": types,
            "guessed": False,
        }
    )
    if roles.guessed and chosen == roles.model_copy(update={"guessed": False}):
        chosen = roles  # nothing was changed, so it is still a guess
    return chosen, chosen_subgroups


def _question(text: str) -> None:
    st.markdown(f"**{text}**")


def _pick_column(
    label: str, columns: list[str], current: str, named: rows_form.Menu, key: str
) -> str:
    chosen: str | None = st.selectbox(
        label,
        columns,
        index=columns.index(current) if current in columns else None,
        format_func=named,
        placeholder="Choose a column",
        key=key,
    )
    if chosen is None:
        raise Unchosen("Choose the outcome and the sensitive column.")
    return chosen


def _pick_codes(
    free: list[str], numeric: set[str], roles: Roles, named: rows_form.Menu, key: str
) -> dict[str, column_kinds.ColumnKind]:
    codes = [c for c, kind in roles.types.items() if kind == "category"]
    chosen = st.multiselect(
        "Numbers that are codes",
        [c for c in free if c in codes or c in numeric],
        default=[c for c in codes if c in free],
        format_func=named,
        help="Each of their values is a category, as of a region or a branch.",
        key=f"{key} codes",
    )
    rest = {c: kind for c, kind in roles.types.items() if c not in codes}
    return rest | dict.fromkeys(chosen, "category")


def _show_reasons(reasons: dict[str, str]) -> None:
    if reasons:
        # a cell has no room for more, and a file may have thousands of long names
        names = [cut(name, NAME_LETTERS) for name in reasons]
        table = pd.DataFrame({"Excluded": names, "because": list(reasons.values())})
        draw_table(table, height=150)


def _pick_described(
    others: Sequence[str],
    sensitive: str,
    roles: Roles,
    present: Subgroups,
    named: rows_form.Menu,
    key: str,
) -> list[str]:
    field, note = f"{key} subgroups", f"{key} freed"
    crossed = st.session_state.get(f"{key} crossed", roles.crossed_with)
    taken = {sensitive, *crossed}
    now = st.session_state.get(field, [c for c in present.columns if c in others])
    if freed := [column for column in now if column in taken]:
        st.session_state[note] = freed
    st.session_state[field] = [column for column in now if column not in taken]
    described = st.multiselect(
        "Subgroup columns",
        [column for column in others if column not in taken],
        max_selections=max(MOST_CROSSED, len(now)),
        format_func=named,
        help="Crossed, they make the subgroups in which fairness is looked at.",
        key=field,
    )
    if freed := [c for c in st.session_state.get(note, ()) if c in taken]:
        st.caption(plain(f"Makes the groups now, no subgroups: {listing(freed)}."))
    return described
