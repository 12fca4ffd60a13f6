"""The form that says what the columns of a table mean, as three questions."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st
from pandas.api.types import is_numeric_dtype

from fairdash._escaping import in_menu, plain
from fairdash._record import NAME_LETTERS, cut
from fairdash._wording import listing
from fairdash.datasets import (
    Roles,
    ScoreColumn,
    Subgroups,
    column_kinds,
    guessing,
    remedies,
)
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
    numeric = set()
    for name, kind in frame.dtypes.items():
        if is_numeric_dtype(kind):
            numeric.add(str(name))
    named = in_menu(columns)
    _question("Which rows?")
    rows, keep = rows_form.pick_conditions(frame, roles, named, key)
    counts.place("rows")
    more_rows = st.expander("Weights, repeats, missing numbers")

    _question("What happened?")
    target = _pick_column("Outcome (y)", columns, roles.target, named, f"{key} y")
    present = outcome_form.Sides(roles.positive, roles.negative)
    if target != roles.target:
        present = outcome_form.Sides(guessing.guess_positive(frame[target]))
    sides = outcome_form.pick_sides(frame[target], present, f"{key} {target}")
    name, meaning = outcome_form.pick_meaning(
        roles, target, sides, f"{key} {target} {sides.positive}"
    )
    counts.place("outcome")
    more_outcome = st.expander("An existing model's scores")

    _question("To whom?")
    not_outcome = [column for column in columns if column != target]
    sensitive = _pick_column(
        "Sensitive column",
        not_outcome,
        roles.sensitive_feature,
        named,
        f"{key} sensitive",
    )
    groups, cuts = groups_form.pick_groups(
        frame[sensitive], roles, f"{key} {sensitive}"
    )
    counts.place("groups")
    described = _pick_described(not_outcome, sensitive, roles, subgroups, named, key)
    with st.expander("Crossed groups, bins of subgroups"):
        few = [
            column
            for column in few_valued(digest, roles)
            if column not in (target, sensitive)
        ]
        crossed = groups_form.pick_crossing(few, roles, named, key)
        chosen_subgroups = groups_form.pick_bins(frame, described, subgroups, key)

    grouping = (sensitive, *crossed)
    free = [column for column in not_outcome if column not in grouping]
    numbers = [column for column in free if column in numeric]
    # Streamlit remembers a widget by its key: those below are filled in anew when the
    # columns that they leave free change.
    key = f"{key} {target} {grouping}"
    with more_outcome:
        words = [column for column in free if column not in numeric]
        classes = _guess_classes(frame, words, target, sides)
        scores = outcome_form.pick_scores(frame, roles, numbers, classes, named, key)
    scored = tuple(score.column for score in scores)
    with more_rows:
        stands_for = rows_form.pick_stands_for(free, numbers, roles, named, key)
        missing = rows_form.pick_missing(roles, key)
    not_features = (*scored, *stands_for.columns)
    free = [column for column in free if column not in not_features]
    with st.expander("What a model may see"):
        proposed, reasons = guessed_features(
            digest, roles, target, sides.positive, sensitive
        )
        if (target, sensitive) == (roles.target, roles.sensitive_feature):
            proposed = roles.features
        features = st.multiselect(
            "Columns the model sees",
            free,
            default=[column for column in proposed if column in free],
            format_func=named,
            key=f"{key} {scored} {stands_for.columns} features",
        )
        types = _pick_codes(free, numeric, roles, named, key)
        excluded = [column for column in free if column not in features]
        why = {column: reasons.get(column, "") for column in excluded}
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
    # With nothing changed the roles are still a guess.
    if roles.guessed and chosen == roles.model_copy(update={"guessed": False}):
        chosen = roles
    return chosen, chosen_subgroups


def _guess_classes(
    frame: pd.DataFrame, words: list[str], target: str, sides: outcome_form.Sides
) -> dict[str, ScoreColumn]:
    """Return the columns of words that may hold predicted classes of the outcome."""
    classes = {}
    for column in words:
        guess = guessing.guess_classes(frame[column], frame[target], sides.positive)
        if guess is not None:
            classes[column] = guess
    return classes


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
    """Draw which numbers are codes; return the kinds of columns with these."""
    codes = [column for column, kind in roles.types.items() if kind == "category"]
    chosen = st.multiselect(
        "Numbers that are codes",
        [column for column in free if column in codes or column in numeric],
        default=[column for column in codes if column in free],
        format_func=named,
        help="Each of their values is a category, as of a region or a branch.",
        key=f"{key} codes",
    )
    kinds = {
        column: kind for column, kind in roles.types.items() if column not in codes
    }
    return kinds | dict.fromkeys(chosen, "category")


def _show_reasons(reasons: dict[str, str]) -> None:
    if reasons:
        # A cell has no room for more, and a file may have thousands of long names.
        names = [cut(name, NAME_LETTERS) for name in reasons]
        table = pd.DataFrame({"Excluded": names, "because": list(reasons.values())})
        draw_table(table, height=150)


def _pick_described(
    not_outcome: Sequence[str],
    sensitive: str,
    roles: Roles,
    present: Subgroups,
    named: rows_form.Menu,
    key: str,
) -> list[str]:
    """Draw the columns of subgroups, without those that make the groups.

    A column that becomes a group's leaves the subgroups, and a line below says so as
    long as it is one.
    """
    field = f"{key} subgroups"
    note = f"{key} freed"
    # Drawn further down: what was clicked there is in the session state already.
    crossed = st.session_state.get(f"{key} crossed", roles.crossed_with)
    grouping = {sensitive, *crossed}
    free = [column for column in not_outcome if column not in grouping]
    filled_in = [column for column in present.columns if column in not_outcome]
    current = st.session_state.get(field, filled_in)
    freed = [column for column in current if column in grouping]
    if freed:
        st.session_state[note] = freed
    st.session_state[field] = [column for column in current if column not in grouping]
    described = st.multiselect(
        "Subgroup columns",
        free,
        max_selections=max(MOST_CROSSED, len(current)),
        format_func=named,
        help="Crossed, they make the subgroups in which fairness is looked at.",
        key=field,
    )
    freed = [column for column in st.session_state.get(note, ()) if column in grouping]
    if freed:
        st.caption(plain(f"Makes the groups now, no subgroups: {listing(freed)}."))
    return described
