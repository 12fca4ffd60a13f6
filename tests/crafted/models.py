"""ONNX models that are made to read a file, to grow, or to run for ever."""

from itertools import pairwise

import numpy as np
from onnx import TensorProto, helper, numpy_helper

FLOAT = TensorProto.FLOAT
INT = TensorProto.INT64
X = helper.make_tensor_value_info("x", FLOAT, [None, 1])
P = helper.make_tensor_value_info("probabilities", FLOAT, [None, 1])


def model(*nodes, inputs=(X,), outputs=(P,), initializers=(), domains=(), **fields):
    graph = helper.make_graph(
        list(nodes), "g", list(inputs), list(outputs), list(initializers)
    )
    opsets = [helper.make_opsetid(d, 1) for d in domains]
    opsets += [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8, **fields)


def sigmoid(name="x"):
    return helper.make_node("Sigmoid", [name], ["probabilities"])


def weights(name, values):
    return numpy_helper.from_array(np.asarray(values, np.float32), name)


def external():
    w = weights("w", [[1.0]])
    w.ClearField("raw_data")
    w.data_location = TensorProto.EXTERNAL
    w.external_data.add(key="location", value="/etc/passwd")
    multiply = helper.make_node("MatMul", ["x", "w"], ["z"])
    return model(multiply, sigmoid("z"), initializers=[w])


def loop():
    body = helper.make_graph([helper.make_node("Identity", ["c"], ["d"])], "b", [], [])
    return model(helper.make_node("Loop", ["x", ""], ["z"], body=body), sigmoid("z"))


def hidden_graph():
    node = sigmoid()
    body = helper.make_graph([sigmoid()], "b", [X], [P])
    node.attribute.append(helper.make_attribute("body", body))
    return model(node)


def giant_dims():
    w = TensorProto(name="w", data_type=FLOAT, dims=[10**6, 10**6], raw_data=b"1234")
    return model(helper.make_node("MatMul", ["x", "w"], ["z"]), initializers=[w])


def many_nodes(n=100_000):
    chain = [helper.make_node("Relu", [f"z{i}"], [f"z{i + 1}"]) for i in range(n)]
    chain[0].input[0] = "x"
    return model(*chain, sigmoid(f"z{n}"))


def doubling(n=40):
    names = ["x", *(f"z{i}" for i in range(n))]
    grown = [
        helper.make_node("Concat", [a, a], [b], axis=1) for a, b in pairwise(names)
    ]
    total = helper.make_node("ReduceMean", [names[-1]], ["m"], axes=[1])
    return model(*grown, total, sigmoid("m"))


def wide(n=900, *, declared=None):
    """Return a model that gives so many numbers for each row."""
    many = helper.make_node("Concat", ["x"] * n, ["probabilities"], axis=1)
    output = helper.make_tensor_value_info("probabilities", FLOAT, [None, declared])
    return model(many, outputs=[output])


def one_number():
    """Return a model that gives one number for all rows, of no dimension."""
    mean = helper.make_node("ReduceMean", ["x"], ["probabilities"], keepdims=0)
    output = helper.make_tensor_value_info("probabilities", FLOAT, None)
    return model(mean, outputs=[output])


def many_classes(n=101):
    shape = helper.make_tensor_value_info("probabilities", FLOAT, [None, n])
    linear = helper.make_node(
        "LinearClassifier",
        ["x"],
        ["label", "probabilities"],
        domain="ai.onnx.ml",
        coefficients=[0.0] * n,
        classlabels_ints=[*range(n)],
    )
    return model(linear, outputs=[shape])


def wrong_rows():
    """Return a model that fits together, and takes one row only."""
    w = weights("w", np.ones((1, 1)))
    multiply = helper.make_node("MatMul", ["w", "x"], ["z"])
    return model(multiply, sigmoid("z"), initializers=[w])


def no_input():
    """Return a model whose only input is a weight."""
    return model(sigmoid(), initializers=[weights("x", [[0.5]])])


def foreign_label():
    """Return a classifier whose labels are no UTF-8."""
    classifier = many_classes(2)
    (node,) = classifier.graph.node
    (labels,) = (a for a in node.attribute if a.name == "classlabels_ints")
    labels.CopyFrom(helper.make_attribute("classlabels_strings", [b"\xff", b"a"]))
    return classifier


def small_messages():
    """Return 2 MB in which every two bytes are an empty node."""
    n = 1_000_000
    return b"\x3a" + _varint(2 * n) + b"\x0a\x00" * n


def _varint(n):
    low = bytearray()
    while n > 127:
        low.append(n & 127 | 128)
        n >>= 7
    return bytes([*low, n])


def a_function():
    with_function = model(sigmoid())
    with_function.functions.add(name="f", domain="mine")
    return with_function


FIXED = helper.make_tensor_value_info("x", FLOAT, [1, 1])
WIDE = helper.make_tensor_value_info("x", FLOAT, [None, 3])
LABEL = helper.make_tensor_value_info("label", INT, [None, 1])
RUN = {  # refused when rows come
    "900 outputs": (wide, r"output 'probabilities' is of shape \(\d+, 900\)"),
    "one number": (one_number, r"output 'probabilities' is of shape \(\)"),
    "one row only": (wrong_rows, "does not take their values, or not so many"),
}
MODELS = {
    "external": (external, r"'w' lies in another file"),
    "loop": (loop, r"'Loop' is not among"),
    "graph in a node": (hidden_graph, "a graph of its own"),
    "custom operator": (
        lambda: model(
            helper.make_node("Run", ["x"], ["probabilities"], domain="evil"),
            domains=["evil"],
        ),
        r"'Run' is of the domain 'evil'",
    ),
    "giant tensor": (
        lambda: model(
            helper.make_node("ConstantOfShape", ["s"], ["probabilities"]),
            initializers=[numpy_helper.from_array(np.array([10**12]), "s")],
        ),
        "'ConstantOfShape' is not among",
    ),
    "giant weights": (giant_dims, r"of shape \[1000000, 1000000\]"),
    "many nodes": (many_nodes, "100,001 nodes, more than 2,000"),
    "truncated": (lambda: model(sigmoid()).SerializeToString()[:-9], "ONNX file"),
    "small messages": (small_messages, "memory|stopped|part of one|nodes"),
}
DESCRIBED = {  # refused before anything is run
    "function": (a_function, "functions, training steps"),
    "one row alone": (lambda: model(sigmoid(), inputs=[FIXED]), "must be free"),
    "labels alone": (
        lambda: model(
            helper.make_node("Cast", ["x"], ["label"], to=INT), outputs=[LABEL]
        ),
        "only labels",
    ),
    "undefined": (lambda: model(sigmoid("nowhere")), "do not fit together"),
    "900 outputs": (
        lambda: wide(declared=900),
        r"'probabilities' is of shape \(rows, 900\); what is asked for is one",
    ),
    "101 classes": (many_classes, "101 classes, more than 100"),
    "no input": (no_input, "no input"),
}
