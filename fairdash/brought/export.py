"""A trained model as an ONNX file: first the encoding of the columns of a table."""

import json
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np

from fairdash.datasets import Encoder, NumberEncoding
from fairdash.methods import CATALOG, Network, Scorer

_NO_NETWORK = (
    "forest",
    "gradient_boosting",
    "reductions",
    "grid_reductions",
    "noisy_ideal",
    "rule_list",
)
_LARGEST = float(np.finfo(np.float32).max)


def can_be_onnx(method: str) -> bool:
    """Tell whether models of a method can be written here as ONNX files."""
    apart = CATALOG[method].needs_groups or method in _NO_NETWORK
    return not apart and find_spec("onnx") is not None


def as_onnx(encoder: Encoder, scorer: Scorer, facts: object = None) -> bytes:
    """Return a model as an ONNX file that reads the columns of a prepared table.

    It has an input for each feature, of shape (n_rows, 1): a number is double, and NaN
    where missing; anything else is text, the label of the value (`1` for yes, "" where
    missing). Its output ``probabilities``, (n_rows, 2), is double. Rows are encoded in
    double, rounded once to float32 as in training, and scored in double.

    Parameters
    ----------
    encoder, scorer
        Of a stored network, such as a logistic regression.
    facts : object, optional
        Plain data that goes along as metadata.

    Raises
    ------
    ValueError
        When a model is of another kind, or onnx is not installed.
    """
    if find_spec("onnx") is None:
        raise ValueError(
            "ONNX files need onnx; install it: pip install 'fairdash[onnx]'."
        )
    if not isinstance(scorer, Network):
        raise ValueError(
            "This model cannot be written as ONNX. It reads the group or its training "
            "rows, or is made of several models. Export it for fairdash.load."
        )
    graph = _Graph()
    p = _network(graph, scorer, _encoded(graph, encoder))
    other = graph.add("Sub", [graph.array(np.ones((1, 1))), p])
    graph.add("Concat", [other, p], ["probabilities"], axis=1)
    return graph.file(encoder, facts)


class _Graph:
    def __init__(self) -> None:
        from onnx import helper

        self._helper, self._nodes, self._arrays = helper, [], []  # type: ignore[var-annotated]

    def array(self, values: Any) -> str:
        from onnx import numpy_helper

        name = f"a{len(self._arrays)}"
        self._arrays.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def add(
        self,
        operator: str,
        inputs: Sequence[str],
        outputs: Sequence[str] = (),
        **attributes: Any,
    ) -> str:
        named = list(outputs) or [f"n{len(self._nodes)}"]
        node = self._helper.make_node(operator, list(inputs), named, **attributes)
        self._nodes.append(node)
        return named[0]

    def cast(self, name: str, kind: int) -> str:
        return self.add("Cast", [name], to=kind)

    def file(self, encoder: Encoder, facts: object) -> bytes:
        from onnx import TensorProto

        info = self._helper.make_tensor_value_info
        inputs = [
            info(
                encoding.column,
                TensorProto.DOUBLE
                if isinstance(encoding, NumberEncoding)
                else TensorProto.STRING,
                [None, 1],
            )
            for encoding in encoder.columns
        ]
        output = info("probabilities", TensorProto.DOUBLE, [None, 2])
        graph = self._helper.make_graph(
            self._nodes, "fairdash", inputs, [output], self._arrays
        )
        opsets = [
            self._helper.make_opsetid("", 17),
            self._helper.make_opsetid("ai.onnx.ml", 3),
        ]
        model = self._helper.make_model(graph, opset_imports=opsets, ir_version=8)
        metadata = {"labels": "fairdash", "fairdash": json.dumps(facts, default=str)}
        self._helper.set_model_props(model, metadata)
        return model.SerializeToString()


FLOAT, DOUBLE, BOOL = 1, 11, 9  # of TensorProto


def _encoded(graph: _Graph, encoder: Encoder) -> str:
    parts: list[str] = []
    for encoding in encoder.columns:
        if isinstance(encoding, NumberEncoding):
            missing = graph.add("IsNaN", [encoding.column])
            fill = graph.array(np.array(encoding.fill))
            parts.append(graph.add("Where", [missing, fill, encoding.column]))
            if encoding.indicator:
                parts.append(graph.cast(missing, DOUBLE))
            continue
        texts = [*encoding.levels, ""]  # a missing text comes last
        hot = graph.add(
            "OneHotEncoder",
            [encoding.column],
            domain="ai.onnx.ml",
            cats_strings=texts,
            zeros=1,
        )
        flat = graph.add("Reshape", [hot, graph.array(np.array([-1, len(texts)]))])
        flags = graph.cast(flat, DOUBLE)
        n = len(encoding.levels)
        if n:
            levels = graph.array(np.arange(n))
            parts.append(graph.add("Gather", [flags, levels], axis=1))
        if encoding.other:
            total = graph.add("ReduceSum", [flags, graph.array(np.array([1]))])
            parts.append(graph.add("Sub", [graph.array(np.array(1.0)), total]))
        if encoding.missing:
            last = graph.array(np.array([n]))
            parts.append(graph.add("Gather", [flags, last], axis=1))
    names = [name for encoding in encoder.columns for name in encoding.names()]
    used = [i for i, name in enumerate(names) if name not in set(encoder.dropped)]
    whole = graph.add("Concat", parts, axis=1)
    chosen = graph.add("Gather", [whole, graph.array(np.array(used))], axis=1)
    shift = graph.array(np.array(encoder.shift)[used])
    scale = graph.array(np.array(encoder.scale)[used])
    scaled = graph.add("Div", [graph.add("Sub", [chosen, shift]), scale])
    ends = [graph.array(np.array(end)) for end in (-_LARGEST, _LARGEST)]
    clipped = graph.add("Clip", [scaled, *ends])
    return graph.cast(graph.cast(clipped, FLOAT), DOUBLE)


def _network(graph: _Graph, model: Network, X: str) -> str:
    for i, (weight, bias) in enumerate(zip(model.weights, model.biases, strict=True)):
        last = i == len(model.weights) - 1
        w, b = (weight[:, :1], bias[:1]) if last else (weight, bias)
        product = graph.add("MatMul", [X, graph.array(w.astype(np.float64))])
        X = graph.add("Add", [product, graph.array(b.astype(np.float64))])
        X = graph.add("Sigmoid" if last else "Relu", [X])
    return X
