"""Multicalibration: probabilities that are right in every subgroup a tree can find."""

from typing import Any

import numpy as np
from scipy.special import expit, logit
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.tree import DecisionTreeRegressor

from fairdash._arrays import Codes, FloatArray
from fairdash._validation import check_positive
from fairdash.methods.base import GroupedClassifier, TrainingRows, Weighted
from fairdash.methods.classical.bases import (
    as_scorer,
    fit_base,
    joined_trees,
    row_checks,
)
from fairdash.methods.classical.plain import CarriesBase
from fairdash.methods.declare import Method, param
from fairdash.methods.scorers import EXTREME, Recalibrated, audited_rows

DEPTH = 4  # of the trees that look for subgroups
FOLDS = 5
PATIENCE = 10  # rounds without a gain on held-out rows
MOST = 2.0  # log odds that a leaf can move a row by


class Multicalibration(Weighted, CarriesBase, GroupedClassifier):
    r"""Correct the probabilities of a base model in the subgroups where they are wrong.

    Each round fits a shallow tree to what is left over, :math:`y - \sigma(z)`, by the
    features, the group and the log odds :math:`z`, and moves the log odds of its leaves
    by a share :math:`\eta` of Newton's step:

    .. math::

        z \leftarrow z + \eta\,
        \frac{\sum_{leaf} (y - \sigma(z))}{\sum_{leaf} \sigma(z) (1 - \sigma(z))}

    A leaf is a subgroup within a range of scores, so what remains is calibrated there.
    The residuals are of rows that the base model did not see, by five folds; a fifth of
    the training rows has no part in the trees and ends the rounds at the smallest log
    loss. The base model is then fitted to all training rows.

    Attributes
    ----------
    n_iter_ : int
        Rounds that were kept; 0 where no correction lowers the log loss.
    network_ : Recalibrated
        Base model and corrections as plain arrays.

    References
    ----------
    Hébert-Johnson et al., Multicalibration (ICML 2018), Algorithm 1; Kim, Ghorbani and
    Zou, Multiaccuracy (AIES 2019), with trees as auditors.
    """

    max_iter: int = param(
        50,
        "Rounds",
        high=200,
        advanced=True,
        help="Most corrections; held-out rows end them earlier.",
    )
    learning_rate: float = param(
        0.3,
        "Step",
        letter="η",
        low=0.05,
        high=1.0,
        step=0.05,
        check=check_positive,
        help="Share of each correction that is made.",
    )
    min_size: int = param(
        50,
        "Smallest subgroup",
        low=10,
        high=1000,
        step=10,
        help="Rows that a subgroup needs to be corrected.",
    )

    def _row_checks(self) -> dict[str, Any]:
        if isinstance(self.estimator, str):
            return row_checks(self.estimator)
        # The trees read numbers, whatever the base model takes.
        return {"dtype": np.float64, "ensure_all_finite": "allow-nan"}

    def _learn(self, rows: TrainingRows) -> FloatArray:
        X, target, codes, _ = rows
        n_folds = min(FOLDS, int(np.bincount(target).min()))
        if n_folds < 2:
            raise ValueError("`y` has one row of an outcome; folds need two of each.")
        folds = StratifiedKFold(n_folds, shuffle=True, random_state=self.random_state)
        parts = list(folds.split(X, target))
        # Scores of rows that the model did not see: on rows it has seen, residuals are
        # too small to show where it is wrong.
        scores = np.empty(len(target))
        for training, held_out in parts:
            model = self._fitted(rows.only(training))
            scores[held_out] = model.predict_proba(X[held_out])[:, 1]
        trees = self._rounds(rows, scores, *parts[0])
        self.n_iter_ = len(trees)
        base = as_scorer(self._fitted(rows))
        values = [values for _, values in trees]
        forest = joined_trees([tree for tree, _ in trees], values)
        self.network_ = Recalibrated(base, np.array([len(self.groups_)]), forest)
        return self._positive(X, codes)

    def _fitted(self, rows: TrainingRows) -> Any:
        return fit_base(self._base(rows), rows.X, rows.target, rows.weight)

    def _rounds(
        self, rows: TrainingRows, p: FloatArray, training: Codes, held_out: Codes
    ) -> list[tuple[Any, FloatArray]]:
        """Return the trees that lower the held-out log loss, with their leaves' values.

        ``p`` are scores to correct, ``training`` and ``held_out`` indices of rows.
        """
        X, target, codes, _ = rows
        row_weights = rows.row_weights

        def held_loss(z: FloatArray) -> float:
            return log_loss(
                target[held_out],
                expit(z[held_out]),
                sample_weight=row_weights[held_out],
            )

        z = logit(p.clip(EXTREME, 1 - EXTREME))
        least = held_loss(z)
        best = 0
        trees = []
        for _ in range(self.max_iter):
            table = audited_rows(X, codes, len(self.groups_), z)
            p = expit(z)
            tree = DecisionTreeRegressor(
                max_depth=DEPTH, min_samples_leaf=self.min_size, random_state=0
            ).fit(table[training], (target - p)[training], row_weights[training])
            leaf = tree.apply(table)
            n = tree.tree_.node_count
            training_leaf = leaf[training]
            residual = np.bincount(
                training_leaf, (row_weights * (target - p))[training], n
            )
            curvature = np.bincount(
                training_leaf, (row_weights * p * (1 - p))[training], n
            )
            step = residual / np.where(curvature > 0, curvature, 1)
            values = self.learning_rate * step.clip(-MOST, MOST)
            z = z + values[leaf]
            trees.append((tree.tree_, values))
            loss = held_loss(z)
            if loss < least:
                least = loss
                best = len(trees)
            elif len(trees) - best >= PATIENCE:
                break
        return trees[:best]

    def _positive(self, rows: Any, group: Codes) -> FloatArray:
        network: Recalibrated = self.network_
        return network.positive(rows, group)


METHOD = Method.of(
    Multicalibration,
    key="multicalibration",
    label="Multicalibration",
    title="Probabilities calibrated in every subgroup",
    summary="Corrects the probabilities of a base model in the subgroups where they "
    "are wrong. It must know the group to predict.",
    source="Hébert-Johnson et al. (ICML 2018); Kim, Ghorbani and Zou (AIES 2019)",
    needs_groups=True,
)
