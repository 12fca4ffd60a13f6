"""The form that says what the columns of a table mean, a model's scores among them."""

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias

import pandas as pd
import streamlit as st
from pandas.api.types import is_numeric_dtype

from fairdash._escaping import in_menu, plain, visible
from fairdash._validation import value_label
from fairdash._wording import amount, listing
from fairdash.datasets import (
    Cut,
    Roles,
    ScoreColumn,
    Subgroups,
    column_kinds,
    guessing,
    remedies,
)
from fairdash.ui.data import groups_form
from fairdash.ui.data.computed import guessed_features
from fairdash.ui.widgets.blocks import draw_table
from fairdash.ui.widgets.pick_models import MOST_CROSSED

Menu: TypeAlias = Callable[[str], str]  # the label of a column in a menu
_FEW = 4
_SIGNS: dict[Literal[">", ">=", "<", "<="], str] = {
    ">": ">",
    ">=": "≥",
    "<": "<",
    "<=": "≤",
}
_MISSING = {
    "keep": "Kept for models that take them",
    "impute": "Replaced for every model",
    "exclude": "Exclude rows that lack a feature",
}
_MEANINGS: dict[str, Literal["favourable", "unfavourable"] | None] = {
    "Favourable": "favourable",
    "Unfavourable": "unfavourable",
    "Neither": None,
}


def _pick_scores(
    frame: pd.DataFrame,
    roles: Roles,
    numbers: list[str],
    classes: dict[str, ScoreColumn],
    named: Menu,
    key: str,
) -> tuple[ScoreColumn, ...]:
    st.caption("An existing model is audited as it is. Its scores are never a feature.")
    current = {score.column: score for score in roles.scores}
    columns = [*numbers, *classes]
    chosen = st.multiselect(
        "Scores or decisions of an existing model",
        columns,
        default=[name for name in current if name in columns],
        format_func=named,
        help="Higher numbers must speak for the outcome. Predicted classes have the "
        "values of the outcome.",
        key=f"{key} scores",
    )
    return tuple(
        classes.get(name)
        or _pick_threshold(frame[name], current.get(name), f"{key} {name}")
        for name in chosen
    )


def _pick_threshold(
    column: "pd.Series[float]", current: ScoreColumn | None, key: str
) -> ScoreColumn:
    score = current or guessing.guess_score(column)
    if score is None:
        raise ValueError(
            f"{column.name!r} cannot be a model's score: it has missing values or the "
            "same value in all rows. Choose another column under Scores."
        )
    if score.kind == "decision":
        return score
    usual = 0.0 if score.kind == "margin" else 0.5
    threshold = st.number_input(
        plain(f"{column.name}: positive from"),
        value=usual if score.threshold is None else score.threshold,
        format="%g",
        help="Scores from here on are positive decisions.",
        key=f"{key} threshold",
    )
    if score.threshold is None and threshold == usual:
        return score  # above, as everywhere
    return ScoreColumn(column=score.column, kind=score.kind, threshold=threshold)


def _pick_positive(
    column: "pd.Series[Any]", present: str | tuple[str, ...] | Cut, key: str
) -> str | tuple[str, ...] | Cut:
    number = pd.api.types.is_numeric_dtype(column)
    if isinstance(present, Cut) or (
        number and column_kinds.count_values(column, _FEW) > _FEW
    ):
        return _pick_cut(column, present, key)
    labels = sorted(column_kinds.common_labels(column))
    if len(labels) <= 2:
        chosen: str | None = st.segmented_control(
            "Positive value",
            labels,
            default=present if present in labels else labels[-1] if labels else None,
            format_func=plain,
            required=True,
            key=f"{key} positive",
        )
        return chosen or "1"  # an empty column has no label
    named = [present] if isinstance(present, str) else list(present)
    values = st.multiselect(
        "Positive values",
        labels,
        [value for value in named if value in labels],
        format_func=visible,
        help="They count as 1, all other values as 0.",
        key=f"{key} positive set",
    )
    # with nothing chosen the table is refused, and says which values there are
    return tuple(values) or labels[-1]


def _pick_meaning(
    roles: Roles, target: str, positive: str | tuple[str, ...] | Cut, key: str
) -> tuple[str, Literal["favourable", "unfavourable"] | None]:
    name, meaning = guessing.guess_meaning(target, positive)
    if (roles.target, roles.positive) == (target, positive):
        name, meaning = roles.positive_name, roles.positive_is
    words = roles.model_copy(
        update={
            "target": target,
            "positive": positive,
            "positive_name": name,
            "positive_is": meaning,
        }
    )
    with st.popover(
        plain(f"1 = {words.positive_words()}") if name else "What does 1 mean?",
        type="tertiary",
        help="What the positive outcome means for the person; change it here.",
    ):
        name = st.text_input(
            "The outcome 1 in words",
            name,
            max_chars=40,
            placeholder=visible(f"what 1 in {target} means"),
            key=f"{key} name",
        )
        current = next(x for x, value in _MEANINGS.items() if value == meaning)
        chosen = st.segmented_control(
            "For the person it is",
            list(_MEANINGS),
            default=current,
            required=True,
            key=f"{key} meaning",
        )
    return name.strip(), _MEANINGS[chosen]


def _pick_cut(column: "pd.Series[Any]", present: object, key: str) -> str | Cut:
    start = present if isinstance(present, Cut) else None
    left, right = st.columns([1, 2], gap="xsmall")
    sign = left.selectbox(
        "Positive if",
        list(_SIGNS),
        index=list(_SIGNS).index(start.sign) if start else 0,
        format_func=_SIGNS.__getitem__,
        key=f"{key} sign",
    )
    value = right.number_input(
        "this value",
        value=start.value if start else None,
        placeholder=f"{amount(column.min())} to {amount(column.max())}",
        format="%g",
        key=f"{key} cut",
    )
    if value is None:
        return present if isinstance(present, str) else value_label(column.max())
    return Cut(sign=sign, value=value)


class Unchosen(ValueError):
    """Nothing was guessed, and outcome or sensitive column are not chosen yet."""


def roles_form(
    frame: pd.DataFrame, roles: Roles, subgroups: Subgroups, digest: str, key: str
) -> tuple[Roles, Subgroups]:
    """Draw the roles of a prepared table, filled in, and return the choice.

    ``digest`` is that of the table as it was read. Another ``key`` fills the form in
    anew. Raises ValueError if the choice makes no roles, such as one column in two
    parts.
    """
    columns = [str(column) for column in frame.columns]
    numeric = {
        str(name) for name, kind in frame.dtypes.items() if is_numeric_dtype(kind)
    }
    named = in_menu(columns)
    target = _pick_column("Outcome (y)", columns, roles.target, named, f"{key} y")
    same = target == roles.target
    present = roles.positive if same else guessing.guess_positive(frame[target])
    positive = _pick_positive(frame[target], present, f"{key} {target}")
    name, meaning = _pick_meaning(roles, target, positive, f"{key} {target} {positive}")
    others = [column for column in columns if column != target]
    sensitive = _pick_column(
        "Sensitive column", others, roles.sensitive_feature, named, f"{key} sensitive"
    )
    groups, cuts = groups_form.pick_groups(
        frame[sensitive], roles, f"{key} {sensitive}"
    )
    described = _pick_described(others, sensitive, roles, subgroups, named, key)
    with st.grid(columns=2, min_column_width=110, gap="xsmall"):
        with st.popover("Groups", width="stretch"):
            few = [
                column
                for column in others
                if column != sensitive
                and column_kinds.count_values(frame[column], groups_form.FEW_VALUES)
                <= groups_form.FEW_VALUES
            ]
            crossed = groups_form.pick_crossing(few, roles, named, key)
        with st.popover("Subgroups", width="stretch"), st.container(width=400):
            chosen_subgroups = groups_form.pick_bins(frame, described, subgroups, key)
        taken = (sensitive, *crossed)
        free = [column for column in others if column not in taken]
        numbers = [name for name in free if name in numeric]
        key = f"{key} {target} {taken}"  # of what depends on these
        with st.popover("Scores", width="stretch"), st.container(width=400):
            words = [name for name in free if name not in numeric]
            guesses = (
                guessing.guess_classes(frame[c], frame[target], positive) for c in words
            )
            classes = {guess.column: guess for guess in guesses if guess is not None}
            scores = _pick_scores(frame, roles, numbers, classes, named, key)
        scored = tuple(score.column for score in scores)
        with st.popover("Rows", width="stretch"):
            weight, unit, keep = _pick_rows(free, numbers, roles, named, key)
            missing = st.selectbox(
                "Missing numbers",
                list(_MISSING),
                index=list(_MISSING).index(roles.missing),
                format_func=_MISSING.__getitem__,
                help="Gradient boosting, LightGBM and XGBoost take missing numbers. "
                "Replaced: by the training median, and a column marks them.",
                key=f"{key} missing",
            )
        free = [c for c in free if c not in (*scored, weight, unit)]
        with st.popover("Features", width="stretch"):
            proposed, reasons = guessed_features(
                digest, roles, target, positive, sensitive
            )
            if (target, sensitive) == (roles.target, roles.sensitive_feature):
                proposed = roles.features
            features = st.multiselect(
                "Columns the model sees",
                free,
                default=[c for c in proposed if c in free],
                format_func=named,
                key=f"{key} {scored} {weight} {unit} features",
            )
            types = _pick_codes(free, numeric, roles, named, key)
            why = {c: reasons.get(c, "") for c in free if c not in features}
            _show_reasons(why | roles.left_out)
    chosen = Roles.model_validate(
        {
            **vars(roles),
            **remedies.choose_features(roles, features, columns),
            "target": target,
            "positive": positive,
            "positive_name": name,
            "positive_is": meaning,
            "sensitive_feature": sensitive,
            "groups": groups,
            "sensitive_cuts": cuts,
            "crossed_with": crossed,
            "subgroup_columns": tuple(described),
            "scores": scores,
            "sample_weight": weight,
            "unit": unit,
            "keep": keep,
            "missing": missing,
            "types": types,
            "guessed": False,
        }
    )
    if roles.guessed and chosen == roles.model_copy(update={"guessed": False}):
        chosen = roles  # nothing was changed, so it is still a guess
    return chosen, chosen_subgroups


def _pick_column(
    label: str, columns: list[str], current: str, named: Menu, key: str
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


def _pick_rows(
    free: list[str], numbers: list[str], roles: Roles, named: Menu, key: str
) -> tuple[str | None, str | None, dict[str, tuple[str, ...]]]:
    weight = _pick_optional(
        "Sampling weight",
        numbers,
        roles.sample_weight,
        named=named,
        placeholder="every row counts once",
        help="How many people of the population a row stands for, not how often it was "
        "counted. Training, measures and thresholds use it; pages say what counts "
        "every row once.",
        key=f"{key} weight",
    )
    unit = _pick_optional(
        "Rows of one person or household share",
        free,
        roles.unit,
        named=named,
        placeholder="nothing: each row is another case",
        help="An identifier that repeats. A split keeps its rows together.",
        key=f"{key} unit",
    )
    keep = roles.keep
    if keep and not st.toggle(
        plain(f"Only rows with the chosen values of {listing(keep)}"),
        True,
        key=f"{key} keep",
    ):
        keep = {}
    return weight, unit, keep


def _pick_codes(
    free: list[str], numeric: set[str], roles: Roles, named: Menu, key: str
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
        table = pd.DataFrame(reasons.items(), columns=["Excluded", "because"])
        draw_table(table, height=150)


def _pick_optional(
    label: str,
    columns: list[str],
    current: str | None,
    *,
    named: Menu,
    placeholder: str,
    help: str,
    key: str,
) -> str | None:
    # only a choice that begins with nothing can be emptied again
    st.session_state.setdefault(key, current if current in columns else None)
    chosen: str | None = st.selectbox(
        label,
        columns,
        index=None,
        format_func=named,
        placeholder=placeholder,
        help=help,
        key=key,
    )
    return chosen


def _pick_described(
    others: Sequence[str],
    sensitive: str,
    roles: Roles,
    present: Subgroups,
    named: Menu,
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
