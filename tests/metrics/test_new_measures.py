"""A measure is one entry: what it must say, and what says so where it does not."""

import documents
import numpy as np
import pytest

import fairdash
from fairdash.metrics import Finding, Speech, catalog, clause


def toy(**changes):
    entry = {
        "key": "absolute_error",
        "name": "Absolute error",
        "symbol": "mean |score − y|",
        "clause": "the absolute error is {decimals} {higher} for {group}",
        "values": lambda y, score: np.abs(score - y),
        "takes": "probability",
        "better": "low",
        "in_points": False,
    }
    return catalog.Measure(**entry | changes)


@pytest.fixture
def added(monkeypatch):
    """The toy in the catalog, as long as a test lasts."""
    monkeypatch.setattr(catalog, "_CATALOG", dict(catalog._CATALOG))
    return catalog.add(toy())


def test_a_measure_of_probabilities_is_in_audits_and_in_the_docs(added):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 400)
    sex = rng.choice(["f", "m"], 400)
    p = np.clip(rng.normal(0.3 + 0.4 * y, 0.2), 0, 1)
    audit = fairdash.audit(y, scores=p, sensitive_features=sex)
    error = np.abs(p - y)[sex == "f"].mean()
    assert audit.table.loc[added.key, "f"] == pytest.approx(error)
    deciles = np.ceil(10 * p.clip(0.01))
    graded = fairdash.audit(y, scores=deciles, threshold=5, sensitive_features=sex)
    assert added.key in set(graded.by_group["measure"])
    assert catalog.RECALIBRATED in graded.rows
    assert "|Absolute error|`absolute_error`|" in documents.tables().filled("audit.md")


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"key": "absolute error"}, "`key` must be a name.*'absolute error'"),
        ({"clause": "{group} errs {oftn}"}, r"'absolute_error' names \['oftn'\]"),
        ({"values": None}, "must have `about` and `counted`, for a rate, or `values`"),
        ({"better": "less"}, "`better` must be one of.*'less'"),
        ({"outcome": "class"}, "`outcome` must be one of.*'class'"),
    ],
)
def test_what_an_entry_forgets_is_said_when_it_is_made(changes, message):
    with pytest.raises(ValueError, match=message):
        toy(**changes)


def test_a_key_that_is_taken_is_refused(added):
    with pytest.raises(ValueError, match=r"'absolute_error' already.*another `key`"):
        catalog.add(toy(name="Another"))


def test_each_word_that_a_clause_may_name_is_filled(added, monkeypatch):
    words = " ".join(f"{{{word}}}" for word in sorted(catalog.CLAUSE_WORDS))
    monkeypatch.setitem(catalog._CATALOG, added.key, toy(clause=words))
    women = Finding(added.key, None, "women", "men", -0.24, -0.3, -0.18)
    assert "women" in clause(women, Speech("approved"))
