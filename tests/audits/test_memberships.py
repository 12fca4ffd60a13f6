"""Groups that are not recorded: bounds by linear programs, certificates and tables."""

import json

import numpy as np
import pandas as pd
import pytest
from reading import ReportPage, check_schema
from scipy.optimize import linprog
from typer.testing import CliRunner

from fairdash.audits.tables import audit_memberships
from fairdash.audits.tables.memberships import MembershipRows
from fairdash.cli import app
from fairdash.methods.noisy_groups import soft_certificate


def largest_gap(p, decided, cell, first, other):
    """Return the largest gap of selection rates over all true groups."""
    # variables are masses of cell, decision and group
    n_cells = cell.max() + 1
    n_groups = p.shape[1]
    at = np.arange(n_cells * 2 * n_groups).reshape(n_cells, 2, n_groups)
    sums = []
    values = []
    for c in range(n_cells):
        in_cell = cell == c
        sums += [*at[c], *at[c].T]
        values += [(decided == d)[in_cell].sum() for d in (0, 1)]
        values += p[in_cell].sum(axis=0).tolist()
    rows = [np.isin(at.ravel(), places) for places in sums]
    cost = np.zeros(at.size)
    cost[at[:, 1, first]] = -1 / p[:, first].sum()
    cost[at[:, 1, other]] = 1 / p[:, other].sum()
    return -linprog(cost, A_eq=np.array(rows, float), b_eq=values).fun


def drawn(rng, n, n_groups, n_cells):
    cell = rng.integers(n_cells, size=n)
    p = rng.dirichlet(np.ones(n_groups), n_cells)[cell]
    return cell, p, rng.random(n) < rng.random(n_cells)[cell], rng.random(n) < 0.5


def one_half(p, cell):
    return MembershipRows(p, np.ones(len(p)), cell, None, 0 * cell)


@pytest.mark.parametrize("seed", range(12))
def test_bounds_of_a_gap_are_those_of_a_linear_program(seed):
    rng = np.random.default_rng(seed)
    n_groups = int(rng.integers(2, 5))
    cell, p, decided, _ = drawn(rng, 300, n_groups, int(rng.integers(1, 5)))
    _, gaps = one_half(p, cell).measured(decided, ~decided, 0.95)
    for gap in gaps.itertuples():
        pair = gap.group, gap.reference
        largest = largest_gap(p, decided, cell, *pair)
        least = -largest_gap(p, decided, cell, *pair[::-1])
        assert (gap.bound_low, gap.bound_high) == pytest.approx((least, largest))
    rates, _ = one_half(np.ones((300, 2)), cell).measured(decided, ~decided, 0.95)
    assert (rates[["bound_low", "bound_high"]] == decided.mean()).all(axis=None)


def test_bounds_are_the_certificate_of_soft_groups():
    """A recorded group is a proxy: P(G | recorded group) are the probabilities."""
    rng = np.random.default_rng(0)
    cell, p, decided, y = drawn(rng, 2000, 3, 4)
    matrix = np.stack([p[cell == c][0] for c in range(4)])
    for constraint, about, end in (
        ("true_positive_rate_parity", y, "bound_low"),
        ("false_positive_rate_parity", ~y, "bound_high"),
        ("demographic_parity", np.ones(2000, bool), "bound_low"),
    ):
        sides = decided & about, ~decided & about
        rates, _ = one_half(p, cell).measured(*sides, 0.95)
        certified = soft_certificate(
            y.astype(int), decided.astype(int), cell, matrix, constraints=constraint
        )
        assert rates[end].tolist() == pytest.approx(certified["worst"].tolist())


def people(n=4000, seed=0):
    """Return people of two groups, of which a place says little, with decisions."""
    rng = np.random.default_rng(seed)
    place = rng.integers(6, size=n)
    share = np.array([0.02, 0.1, 0.3, 0.6, 0.9, 0.98])[place]
    a = rng.random(n) < share
    hired = rng.random(n) < np.where(a, 0.1, 0.8)
    frame = pd.DataFrame({"place": place, "P(a)": share, "P(b)": 1 - share})
    return frame.assign(hired=np.where(hired, "yes", "no")), a, hired


def test_the_truth_lies_in_the_bounds_that_a_table_gives(tmp_path):
    frame, a, hired = people()
    frame.loc[:4, "P(a)"] = None
    frame.loc[5:6, "hired"] = None
    frame.to_csv(tmp_path / "people.csv", index=False)
    out = tmp_path / "audit.json"
    page = tmp_path / "audit.html"
    command = ["audit", str(tmp_path / "people.csv"), "--decision", "hired=yes"]
    command += ["--probabilities", "--group", "P(a)", "--group", "P(b)"]
    done = CliRunner().invoke(app, [*command, "--out", str(out), "--report", str(page)])
    assert done.exit_code == 0, done.output
    written = json.loads(out.read_text())
    check_schema(written, "audit_probabilities")
    assert [tuple(part.values()) for part in written["excluded"]] == [
        ("no value in hired", "hired", 2), ("no value in P(a)", "P(a)", 5),
    ]  # fmt: skip
    assert "5 with no value in P(a)" in done.output
    (gap,) = [row for row in written["estimates"] if row["reference"]]
    truth = hired[a].mean() - hired[~a].mean()  # weights alone are biased
    assert gap["bound_low"] < truth < gap["ci_low"]
    assert "points lower for P(a) than for P(b)." in written["verdict"]
    assert written["verdict"] in ReportPage(page.read_text()).texts["p"]


@pytest.mark.parametrize(
    ("second", "words"),
    [(1.5, "In 1 row they do not, first row 2 with 1.5"), (0.2, "0.2")],
)
def test_what_are_no_probabilities_say_the_way_out(second, words):
    table = pd.DataFrame({"a": [0.5, second], "b": 0.5})
    with pytest.raises(ValueError, match=words):
        audit_memberships(None, [0, 1], group_probabilities=table)
