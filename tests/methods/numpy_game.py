"""One training step of Zhang, ROAD and BROAD for one model, in float64 NumPy.

Written from the papers' formulas, sharing nothing with the package: plain layers,
plain loops over groups and rows, Adam as published.
"""

import copy

import numpy as np


class Net:
    def __init__(self, network, learning_rate):
        self.W = [w.astype(float) for w in network.weights]
        self.b = [b.astype(float) for b in network.biases]
        self.start = copy.deepcopy(self)
        self.rate = learning_rate
        self.moments = [
            [np.zeros_like(p), np.zeros_like(p)]
            for p in (p for pair in zip(self.W, self.b, strict=True) for p in pair)
        ]
        self.n_steps = 0

    def forward(self, x):
        self.a = [x]
        for i, (W, b) in enumerate(zip(self.W, self.b, strict=True)):
            z = self.a[-1] @ W + b
            self.a.append(np.maximum(z, 0) if i < len(self.W) - 1 else z)
        return self.a[-1]

    def backward(self, gradient):
        """Return the gradients of all parameters and of the inputs."""
        grads = []
        for i in reversed(range(len(self.W))):
            grads[:0] = [self.a[i].T @ gradient, gradient.sum(0)]
            gradient = gradient @ self.W[i].T
            if i:
                gradient = gradient * (self.a[i] > 0)
        return grads, gradient

    def adam(self, grads):
        self.n_steps += 1
        params = [p for pair in zip(self.W, self.b, strict=True) for p in pair]
        for p, g, moment in zip(params, grads, self.moments, strict=True):
            moment[0] = 0.9 * moment[0] + 0.1 * g
            moment[1] = 0.999 * moment[1] + 0.001 * g**2
            mean = moment[0] / (1 - 0.9**self.n_steps)
            square = moment[1] / (1 - 0.999**self.n_steps)
            p -= self.rate * mean / (np.sqrt(square) + 1e-8)


def softmax(z):
    e = np.exp(z - z.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def group_loss(outputs, s, n_groups):
    """Cross-entropy of the group, row by row, and its gradient in the outputs."""
    if n_groups == 2:
        p = 1 / (1 + np.exp(-outputs[:, 0]))
        loss = -np.where(s == 1, np.log(p), np.log(1 - p))
        return loss, (p - s)[:, None]
    p = softmax(outputs)
    return -np.log(p[np.arange(len(s)), s]), p - np.eye(n_groups)[s]


def normalise(h, cells):
    """Weights exp(h) scaled to mean one within each cell."""
    r = np.empty_like(h)
    for cell in np.unique(cells):
        e = np.exp(h[cells == cell])
        r[cells == cell] = e / e.mean()
    return r


def step(method, f, g, r, X, y, s, *, n_groups, lam, tau, odds, conditional, k_g, k_r):
    n = len(X)
    cells = s if conditional else np.zeros(n, dtype=int)
    logits = f.forward(X)
    seen = np.column_stack([logits, y]) if odds else logits
    for _ in range(k_g):
        _, slope = group_loss(g.forward(seen), s, n_groups)
        g.adam(g.backward(slope / n)[0])
    loss_s, slope = group_loss(g.forward(seen), s, n_groups)

    ratio = np.ones(n)
    if method == "broad":
        ratio = normalise(-loss_s / tau, cells)
    if method == "road":
        code = s[:, None] if n_groups == 2 else np.eye(n_groups)[s]
        inputs = np.column_stack([X, code, y] if odds else [X, code])
        for _ in range(k_r):
            ratio = normalise(r.forward(inputs)[:, 0], cells)
            # d/dh of mean(r L + tau r log r) through the softmax of each cell
            cost = loss_s + tau * (np.log(ratio) + 1)
            slope_h = np.zeros(n)
            for cell in np.unique(cells):
                rows = np.flatnonzero(cells == cell)
                p = ratio[rows] / len(rows)
                jacobian = len(rows) * (np.diag(p) - np.outer(p, p))
                slope_h[rows] = jacobian @ cost[rows]
            r.adam(r.backward(slope_h[:, None] / n)[0])
        ratio = normalise(r.forward(inputs)[:, 0], cells)

    _, through = g.backward(ratio[:, None] * slope / n)
    p = 1 / (1 + np.exp(-logits))
    gradient = (p - y[:, None]) / n - lam * through[:, :1]
    f.forward(X)
    f.adam(f.backward(gradient)[0])
    return ratio
