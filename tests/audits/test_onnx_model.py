"""An ONNX file says what its maker's model says, or is refused by a sentence."""

import os
import resource
import time
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from onnx import TensorProto, helper, numpy_helper  # noqa: E402

from fairdash.brought import OnnxInput, OnnxModel  # noqa: E402
from fairdash.brought._child import SECONDS, Runner  # noqa: E402

FLOAT, INT = TensorProto.FLOAT, TensorProto.INT64
X = helper.make_tensor_value_info("x", FLOAT, [None, 1])
P = helper.make_tensor_value_info("probabilities", FLOAT, [None, 1])
ONES = pd.DataFrame({"x": np.ones(64)})


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


def external_in_a_node():
    w = external().graph.initializer[0]
    return model(helper.make_node("Constant", [], ["w"], value=w), sigmoid("w"))


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
REFUSED = {
    "external": (external, r"'w' lies in another file"),
    "external in a node": (external_in_a_node, r"'w' lies in another file"),
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
    "no protobuf": (lambda: b"PK\x03\x04 this is a zip", "ONNX file"),
    "empty": (lambda: b"", "ONNX file"),
    "small messages": (small_messages, "memory|stopped|part of one|nodes"),
}
DESCRIBED = {  # refused before anything is run
    "function": (a_function, "functions, training steps"),
    "one row alone": (lambda: model(sigmoid(), inputs=[FIXED]), "must be free"),
    "labels alone": (
        lambda: model(
            helper.make_node("Cast", ["x"], ["label"], to=INT), outputs=[LABEL]
        ),
        "labels alone",
    ),
    "undefined": (lambda: model(sigmoid("nowhere")), "does not fit together"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_file_that_is_not_run_is_refused_by_a_sentence(case):
    make, why = REFUSED[case]
    made = make()
    content = made if isinstance(made, bytes) else made.SerializeToString()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    with pytest.raises(ValueError, match=why):
        OnnxModel(content)
    assert time.perf_counter() - start < 30
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 100_000  # kB: the file is never read in this process
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 3_000_000


@pytest.mark.parametrize("case", DESCRIBED)
def test_what_cannot_be_fed_or_read_is_said(case):
    make, why = DESCRIBED[case]
    with pytest.raises(ValueError, match=why):
        Runner(make().SerializeToString())


def test_a_model_that_grows_while_it_runs_is_stopped_and_the_next_one_works():
    grown = OnnxModel(doubling().SerializeToString(), "grow.onnx")
    with pytest.raises(ValueError, match=r"grow\.onnx cannot be used: it"):
        grown.predict_proba(ONES)
    fine = OnnxModel(model(sigmoid()).SerializeToString())
    np.testing.assert_allclose(fine.predict_proba(ONES)[:, 1], 1 / (1 + np.exp(-1.0)))


def test_a_model_that_takes_too_long_is_stopped(monkeypatch):
    monkeypatch.setattr("fairdash.brought.model.SECONDS", 0.2)
    with pytest.raises(ValueError, match=r"longer than 0\.2 s and was stopped"):
        OnnxModel(many_nodes(1_900).SerializeToString())


def test_what_a_process_took_before_is_not_held_against_the_next_rows():
    kept = OnnxModel(model(sigmoid()).SerializeToString())
    kept.predict_proba(ONES)
    most, _ = resource.prlimit(kept._process.pid, resource.RLIMIT_CPU)
    kept.close()
    assert SECONDS < most < SECONDS + 60


def test_columns_without_a_value_are_refused_by_a_sentence():
    text = OnnxInput("a", "str", 1, ("a",), 1, labels=False)
    with pytest.raises(ValueError, match=r"'a' holds no value.* takes text"):
        text.values(pd.DataFrame({"a": [np.nan, np.nan]}), {"a": "a"})


def test_a_model_runs_where_many_files_are_open():
    few, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(2_000, most), most))
    taken = [os.dup(0) for _ in range(1_024)]
    try:
        found = OnnxModel(model(sigmoid()).SerializeToString()).inputs
    finally:
        for one in taken:
            os.close(one)
        resource.setrlimit(resource.RLIMIT_NOFILE, (few, most))
    assert len(found) == 1


def test_too_large_a_file_starts_no_process(monkeypatch):
    monkeypatch.setattr("fairdash.brought.model.LARGEST_ONNX", 10)
    monkeypatch.setattr("subprocess.Popen", None)
    with pytest.raises(ValueError, match="larger than"):
        OnnxModel(b"0" * 11)


def test_one_input_of_several_numbers_needs_their_names():
    total = helper.make_node("ReduceMean", ["x"], ["m"], axes=[1])
    made = model(total, sigmoid("m"), inputs=[WIDE])
    with pytest.raises(ValueError, match="'x' takes 3 numbers that have no names"):
        OnnxModel(made.SerializeToString())
    made.metadata_props.add(key="feature_names", value='["a", "b", "hours per week"]')
    found = OnnxModel(made.SerializeToString())
    frame = pd.DataFrame({"b": [2.0], "hours_per_week": [6], "a": [1], "c": [9]})
    assert list(found.columns(frame).values()) == ["a", "b", "hours_per_week"]
    np.testing.assert_allclose(
        found.predict_proba(frame)[0, 1], 1 / (1 + np.exp(-3)), rtol=1e-6
    )
    with pytest.raises(ValueError, match="several of that name"):
        found.columns(frame.assign(**{"hours-per-week": 1}))
