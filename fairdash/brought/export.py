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
    """Return whether models of a method can be written here as ONNX files."""
    is_network = not CATALOG[method].needs_groups and method not in _NO_NETWORK
    return is_network and find_spec("onnx") is not None


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
    positive = _network(graph, scorer, _encoded(graph, encoder))
    negative = graph.add("Sub", [graph.array(np.ones((1, 1))), positive])
    graph.add("Concat", [negative, positive], ["probabilities"], axis=1)
    return graph.file(encoder, facts)


class _Graph:
    """A graph of ONNX under construction; each method returns the name of its result.

    onnx is imported when needed, since it belongs to an extra.
    """

    def __init__(self) -> None:
        from onnx import helper

        self._helper = helper
        self._nodes: list[Any] = []
        self._arrays: list[Any] = []

    def array(self, values: Any) -> str:
        """Add a constant."""
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
        """Add a node and return its first output."""
        names = list(outputs) or [f"n{len(self._nodes)}"]
        node = self._helper.make_node(operator, list(inputs), names, **attributes)
        self._nodes.append(node)
        return names[0]

    def cast(self, name: str, kind: int) -> str:
        """Add a change of type."""
        return self.add("Cast", [name], to=kind)

    def file(self, encoder: Encoder, facts: object) -> bytes:
        """Return the file, with an input for each column of the encoder."""
        from onnx import TensorProto

        info = self._helper.make_tensor_value_info
        inputs = []
        for encoding in encoder.columns:
            is_number = isinstance(encoding, NumberEncoding)
            kind = TensorProto.DOUBLE if is_number else TensorProto.STRING
            inputs.append(info(encoding.column, kind, [None, 1]))
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


# Types of TensorProto.
FLOAT = 1
DOUBLE = 11


def _encoded(graph: _Graph, encoder: Encoder) -> str:
    """Add the encoding of all columns; return the scaled rows."""
    columns: list[str] = []
    names: list[str] = []
    for encoding in encoder.columns:
        if isinstance(encoding, NumberEncoding):
            columns += _encoded_number(graph, encoding)
        else:
            columns += _encoded_text(graph, encoding)
        names += encoding.names()
    dropped = set(encoder.dropped)
    used = [i for i, name in enumerate(names) if name not in dropped]
    whole = graph.add("Concat", columns, axis=1)
    chosen = graph.add("Gather", [whole, graph.array(np.array(used))], axis=1)
    shift = graph.array(np.array(encoder.shift)[used])
    scale = graph.array(np.array(encoder.scale)[used])
    scaled = graph.add("Div", [graph.add("Sub", [chosen, shift]), scale])
    # A double beyond the range of float32 would become infinite.
    smallest = graph.array(np.array(-_LARGEST))
    largest = graph.array(np.array(_LARGEST))
    clipped = graph.add("Clip", [scaled, smallest, largest])
    # Rounded once to float32, as the rows that the network was trained on.
    return graph.cast(graph.cast(clipped, FLOAT), DOUBLE)


def _encoded_number(graph: _Graph, encoding: NumberEncoding) -> list[str]:
    """Add a column with missing values filled in, and its indicator if it has one."""
    missing = graph.add("IsNaN", [encoding.column])
    fill = graph.array(np.array(encoding.fill))
    columns = [graph.add("Where", [missing, fill, encoding.column])]
    if encoding.indicator:
        columns.append(graph.cast(missing, DOUBLE))
    return columns


def _encoded_text(graph: _Graph, encoding: Any) -> list[str]:
    """Add an indicator for each level, for other values and for a missing one."""
    n_levels = len(encoding.levels)
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
    columns = []
    if n_levels:
        levels = graph.array(np.arange(n_levels))
        columns.append(graph.add("Gather", [flags, levels], axis=1))
    if encoding.other:
        # Another value has none of the flags, so 1 less their sum is its indicator.
        total = graph.add("ReduceSum", [flags, graph.array(np.array([1]))])
        columns.append(graph.add("Sub", [graph.array(np.array(1.0)), total]))
    if encoding.missing:
        last = graph.array(np.array([n_levels]))
        columns.append(graph.add("Gather", [flags, last], axis=1))
    return columns


def _network(graph: _Graph, model: Network, X: str) -> str:
    """Add the layers of a network; return P(1), of shape (n_rows, 1)."""
    last = len(model.weights) - 1
    for i, (weight, bias) in enumerate(zip(model.weights, model.biases, strict=True)):
        if i == last:
            # The first output is the logit.
            weight = weight[:, :1]
            bias = bias[:1]
        product = graph.add("MatMul", [X, graph.array(weight.astype(np.float64))])
        sums = graph.add("Add", [product, graph.array(bias.astype(np.float64))])
        X = graph.add("Sigmoid" if i == last else "Relu", [sums])
    return X
