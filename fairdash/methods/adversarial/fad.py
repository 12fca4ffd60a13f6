"""FAD and CUMA: an adversary of the hidden layer, without and with alike curvature."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from fairdash._arrays import FloatArray
from fairdash._validation import check_non_negative
from fairdash.methods.adversarial.zhang import AdversarialDebiasing, AdversarialTrainer
from fairdash.methods.declare import Method, param
from fairdash.methods.lazy import torch
from fairdash.methods.network import Batch, Groups, binary_cross_entropy, sigmoid
from fairdash.methods.params import ADVERSARY_EFFORTS, hidden_layers

if TYPE_CHECKING:
    from torch import Tensor

STEP = 1.0  # how far a row is moved, the paper's h
WIDTHS = (16.0, 8.0, 4.0, 2.0, 1.0)  # of the Gaussian kernels


class FadTrainer(AdversarialTrainer):
    """Predictor f against an adversary g of its last hidden layer."""

    def width_read(self) -> int:
        """Return the width of f's last hidden layer."""
        return self.predictor.sizes[-2]

    def fit_predictor(
        self, logits: Tensor, slope: Tensor, log_ratio: Tensor | None, batch: Batch
    ) -> Tensor:
        """Let f descend mean L_Y - lambda mean L_S; return L_Y row by row."""
        n = len(batch)
        loss, gradient = binary_cross_entropy(logits, batch.y)
        # The columns beyond the hidden layer are the target: it does not move f.
        n_hidden = self.predictor.sizes[-2]
        hidden_slope = self.adversary.input_gradient(slope)[..., :n_hidden]
        weight = self.fairness_weight[..., None] / n
        self.predictor.backward(
            gradient[..., None] / n, at_hidden=-weight * hidden_slope
        )
        self.predictor.step()
        return loss

    def _adversary_inputs(self, logits: Tensor, batch: Batch) -> Tensor:
        hidden = self.predictor.hidden
        if not self.knows_target:
            return hidden
        target = batch.y.expand_as(logits)[..., None]
        return torch.cat([hidden, target], dim=-1)


class FAD(AdversarialDebiasing):
    r"""Network whose last hidden layer an adversary cannot tell the group from.

    As :class:`AdversarialDebiasing`, with :math:`g` reading the last hidden layer
    :math:`h` of the predictor instead of its output,

    .. math:: \min_f \max_g \; E[L_Y] - \lambda E[L_S(g(h(x)), s)] .

    With ``constraints="equalized_odds"`` g reads the target as well. A linear predictor
    has no hidden layer to read.

    Source: Adel, Valera, Ghahramani and Weller, *One-network adversarial fairness*
    (AAAI 2019), as compared by Grari et al., *On the fairness ROAD* (ICLR 2024).
    """

    _trainer_class = FadTrainer

    def _read_by_adversary(self, rows: FloatArray) -> FloatArray:
        return self.network_.hidden(rows)

    def _check_params(self) -> None:
        super()._check_params()
        if not hidden_layers(self.predictor_layers):
            raise ValueError(
                "`predictor_layers` has no hidden layer, which is what FAD's adversary "
                "reads; use 'medium' or more, or AdversarialDebiasing."
            )


FAD_METHOD = Method.of(
    FAD,
    key="fad",
    label="FAD",
    title="Fair adversarial debiasing of the hidden layer",
    summary="Hides the group from an adversary that reads the network's last hidden "
    "layer instead of its output.",
    source="Adel, Valera, Ghahramani and Weller, One-network adversarial fairness "
    "(AAAI 2019)",
    efforts=ADVERSARY_EFFORTS,
)


class CumaTrainer(FadTrainer):
    """FAD's two players; f also makes the groups' curvatures alike."""

    def prepare(self, rows: Batch) -> None:
        """Make the adversary."""
        super().prepare(rows)
        self.curvature_weight = self.per_model("curvature_weight")

    def step(self, batch: Batch) -> dict[str, Tensor]:
        """Take FAD's step with the new term; return its size as well."""
        losses = super().step(batch)
        return losses | {"curvature_gap": self.curvature_gap}

    def fit_predictor(
        self, logits: Tensor, slope: Tensor, log_ratio: Tensor | None, batch: Batch
    ) -> Tensor:
        r"""Let f descend mean L_Y - lambda mean L_S + gamma MMD^2; return L_Y.

        With :math:`G(x) = \nabla_x L_Y`, :math:`P` the slope of the last term in G and
        :math:`J` the Jacobian of f, that term moves f by what
        :math:`\sum \langle P, G \rangle = \sum L_Y'(f)\, J P` moves it: through
        :math:`L_Y''\, J P` as any output's gradient, and through the weights in J.
        """
        n = len(batch)
        net = self.predictor
        loss, gradient = binary_cross_entropy(logits, batch.y)
        hidden_slope = self.adversary.input_gradient(slope)[..., : net.sizes[-2]]
        # G at the rows gives the direction v of the shift. One forward pass then takes
        # the rows and after them the shifted rows.
        input_slope = net.input_gradient(gradient[..., None])
        shifted = batch.X + STEP * unit_signs(input_slope)
        inputs = torch.cat([batch.X.expand_as(shifted), shifted], dim=1)
        outputs = net.forward(inputs)[..., 0]
        _, slopes = binary_cross_entropy(outputs, torch.cat([batch.y, batch.y]))
        input_slopes = net.input_gradient(slopes[..., None])
        direction, self.curvature_gap = self._pull(input_slopes, batch.groups)
        tangents = net.tangents(direction)
        # The second derivative of the cross-entropy in a logit is p (1 - p).
        p = sigmoid(outputs)
        output_slope = tangents[-1][..., 0] * p * (1 - p)
        # L_Y and L_S are of the rows themselves, the first half.
        output_slope[:, :n] += gradient / n
        weight = self.fairness_weight[..., None] / n
        at_rows = -weight * hidden_slope
        at_hidden = torch.cat([at_rows, torch.zeros_like(at_rows)], dim=1)
        net.backward(output_slope[..., None], at_hidden=at_hidden)
        net.add_backward_of_slopes(slopes[..., None], tangents)
        net.step()
        return loss

    def _pull(self, input_slopes: Tensor, groups: Groups) -> tuple[Tensor, Tensor]:
        """Return gamma times the slope of MMD^2 in both halves of G, and MMD^2."""
        n = len(groups.codes)
        change = input_slopes[:, n:] - input_slopes[:, :n]
        length = (change * change).sum(-1).sqrt()
        gap, slope = group_mmd(length / STEP, groups)
        # The slope of a length is the unit vector; a length may be 0.
        scale = self.curvature_weight * slope / (STEP * length.clamp(min=1e-12))
        pull = change * scale[..., None]
        return torch.cat([-pull, pull], dim=1), gap


def unit_signs(gradient: Tensor) -> Tensor:
    """Return sign(G) / |sign(G)| row by row; zero where G is."""
    signs = gradient.sign()
    return signs / signs.abs().sum(-1, keepdim=True).sqrt().clamp(min=1)


def group_mmd(values: Tensor, groups: Groups) -> tuple[Tensor, Tensor]:
    r"""Return how far apart the groups' distributions are, and the slope in values.

    The biased estimate :math:`\mathrm{MMD}^2 = w^T K w` with
    :math:`w_i = 1[s_i = a] / n_a - 1[s_i = b] / n_b` and K the sum of Gaussian kernels
    of widths 1, 2, 4, 8, 16; of more than two groups the mean over pairs. A group
    without rows here is skipped.

    Values and slope are of shape (n_models, n_rows), the gap (n_models,).
    """
    gap = values.new_zeros(len(values))
    slope = torch.zeros_like(values)
    shares = (groups.indicator / groups.sizes).T
    present = [g for g in range(groups.n_groups) if bool(groups.indicator[:, g].any())]
    pairs = list(combinations(present, 2))
    # Model by model: a kernel has n_rows x n_rows entries, and only one stays in the
    # cache.
    for model, row in enumerate(values):
        kernel, derivative = kernels(row)
        for a, b in pairs:
            w = shares[a] - shares[b]
            gap[model] += (w * (kernel * w).sum(-1)).sum() / len(pairs)
            slope[model] += 2 * w * (derivative * w).sum(-1) / len(pairs)
    return gap, slope


def kernels(values: Tensor) -> tuple[Tensor, Tensor]:
    """Return K and its derivative in the first value, (n_rows, n_rows) each.

    Each width is half of the one before, so each bump is the fourth power of the last.
    """
    difference = values[:, None] - values
    bump = (difference * difference).mul_(-0.5 / WIDTHS[0] ** 2).exp_()
    kernel = bump.clone()
    derivative = bump * (-1 / WIDTHS[0] ** 2)
    for width in WIDTHS[1:]:
        bump.square_().square_()
        kernel += bump
        derivative.add_(bump, alpha=-1 / width**2)
    return kernel, derivative.mul_(difference)


class CUMA(FAD):
    r"""FAD whose loss is curved alike in all groups, so that shifts hit them alike.

    .. math::

        \min_f \max_g \; E[L_Y] - \lambda E[L_S(g(h(x)), s)]
        + \gamma\, \mathrm{MMD}^2\big(C(x) \mid s = 0,\; C(x) \mid s = 1\big),
        \qquad
        C(x) = \frac{\lVert \nabla_x L_Y(x + h v) - \nabla_x L_Y(x) \rVert}{h}

    with :math:`v` the normalised sign of :math:`\nabla_x L_Y` and :math:`h = 1`;
    :math:`\mathrm{MMD}^2` as in `group_mmd`, over the rows of a minibatch.

    Source: Wang, Hu, Xu, Yin and others, *How robust is your fairness? Evaluating and
    sustaining fairness under unseen distribution shifts* (TMLR 2023), as compared by
    Grari et al., *On the fairness ROAD* (ICLR 2024). There the adversary reads the
    trunk of a network with two heads; here f's last hidden layer, as in :class:`FAD`.
    """

    _trainer_class = CumaTrainer

    curvature_weight: float = param(
        1.0,
        "Curvature weight",
        letter="γ",
        high=10.0,
        step=0.1,
        stackable=True,
        check=check_non_negative,
        help="How much it counts that the loss is curved alike in all groups; 0 is "
        "FAD.",
        doc="The :math:`\\gamma` above; 0 is FAD.",
    )


CUMA_METHOD = Method.of(
    CUMA,
    key="cuma",
    label="CUMA",
    title="Curvature matching beside an adversary",
    summary="FAD that also gives all groups the same curvature of the loss. So a "
    "shift of the data hits them alike.",
    source="Wang et al., How robust is your fairness? (TMLR 2023), as in Grari et al., "
    "On the fairness ROAD (ICLR 2024)",
    efforts=ADVERSARY_EFFORTS,
)
