"""Check an ONNX file and run it, in the box.

`fairdash.brought.OnnxModel` sends messages: first the ONNX file, which is answered with
JSON; then those of `fairdash.brought.onnx_request`, each answered with numbers of eight
bytes, row by row, as many for a row as it asks for. Nothing here unpickles.
"""

import io
import json
import math
from collections.abc import Sequence
from functools import cache
from typing import Any, BinaryIO

import numpy as np
import onnx
import onnxruntime
from onnxruntime.capi import onnxruntime_pybind11_state as errors

from fairdash import box
from fairdash.brought.onnx_request import LIMITS, packed, unpacked

MOST_NODES = 2_000  # onnxruntime takes time squared in them to load
MOST_VALUES = 50_000_000  # of one tensor in the file
MOST_INPUTS = 2_000
MOST_CLASSES = 100
# none that reads files, loops, holds a graph of its own or makes a tensor of a size
# that its input's values say
OPERATORS = {
    "": "Abs Add And ArgMax ArgMin BatchNormalization Cast Ceil Clip Concat Constant "
    "Div Dropout Elu Equal Erf Exp Flatten Floor Gather Gelu Gemm Greater "
    "GreaterOrEqual HardSigmoid Identity IsInf IsNaN LayerNormalization LeakyRelu Less "
    "LessOrEqual Log LogSoftmax MatMul Max Mean Min Mul Neg Not Or PRelu Pow "
    "Reciprocal ReduceL1 ReduceL2 ReduceLogSumExp ReduceMax ReduceMean ReduceMin "
    "ReduceProd ReduceSum ReduceSumSquare Relu Reshape Round Selu Shape Sigmoid Sign "
    "Slice Softmax Softplus Softsign Split Sqrt Squeeze Sub Sum Tanh ThresholdedRelu "
    "TopK Transpose Unsqueeze Where Xor",
    "ai.onnx.ml": "ArrayFeatureExtractor Binarizer CategoryMapper FeatureVectorizer "
    "Imputer LabelEncoder LinearClassifier LinearRegressor Normalizer OneHotEncoder "
    "Scaler SVMClassifier SVMRegressor TreeEnsemble TreeEnsembleClassifier "
    "TreeEnsembleRegressor ZipMap",
}
ALLOWED = {domain: set(names.split()) for domain, names in OPERATORS.items()}
_TYPES = {  # of inputs
    onnx.TensorProto.FLOAT: "float32",
    onnx.TensorProto.DOUBLE: "float64",
    onnx.TensorProto.INT64: "int64",
    onnx.TensorProto.INT32: "int32",
    onnx.TensorProto.BOOL: "bool",
    onnx.TensorProto.STRING: "str",
}
_LABELS = ("classlabels_int64s", "classlabels_ints", "classlabels_strings")


def checked(content: bytes) -> tuple[onnx.ModelProto, dict[str, Any]]:
    """Return a file's model, ready to run, and its inputs, output and classes."""
    model = onnx.ModelProto()
    try:
        model.ParseFromString(content)
    except Exception as error:
        raise ValueError("it is no ONNX file, or only a part of one") from error
    graph = model.graph
    if not graph.node or not graph.input or not graph.output:
        raise ValueError("it is no ONNX file with inputs, nodes and outputs")
    if model.functions or model.training_info or graph.sparse_initializer:
        raise ValueError(
            "it holds functions, training steps or sparse tensors of its own; export "
            "only the model"
        )
    if len(graph.node) > MOST_NODES:
        raise ValueError(f"it has {len(graph.node):,} nodes, more than {MOST_NODES:,}")
    for tensor in graph.initializer:
        _check_tensor(tensor)
    for node in graph.node:
        _check_node(node)
    return model, _facts(model)


def _check_node(node: onnx.NodeProto) -> None:
    domain = "" if node.domain == "ai.onnx" else node.domain
    if domain not in ALLOWED:
        raise ValueError(
            f"its node {node.op_type[:80]!r} is of the domain {domain[:80]!r}; only "
            "operators of ONNX and ai.onnx.ml are run"
        )
    if node.op_type not in ALLOWED[domain]:
        raise ValueError(
            f"its operator {node.op_type[:80]!r} is not among the "
            f"{sum(map(len, ALLOWED.values()))} that are run: none that loops, or "
            "makes tensors of any size"
        )
    for attribute in node.attribute:
        if attribute.HasField("g") or attribute.graphs:
            raise ValueError(f"its node {node.op_type!r} holds a graph of its own")
        if attribute.HasField("t"):
            _check_tensor(attribute.t)
        if attribute.tensors or attribute.HasField("sparse_tensor"):
            raise ValueError(f"its node {node.op_type!r} holds several tensors")


def _check_tensor(tensor: onnx.TensorProto) -> None:
    if tensor.external_data or tensor.data_location == onnx.TensorProto.EXTERNAL:
        raise ValueError(
            f"its tensor {tensor.name[:80]!r} lies in another file; save the model "
            "with all its weights in one"
        )
    size = math.prod(tensor.dims)
    if any(dim < 0 for dim in tensor.dims) or size > MOST_VALUES:
        raise ValueError(
            f"its tensor {tensor.name[:80]!r} is of shape {list(tensor.dims)[:8]}, "
            f"more than {MOST_VALUES:,} values"
        )


def _facts(model: onnx.ModelProto) -> dict[str, Any]:
    graph = model.graph
    weights = {tensor.name for tensor in graph.initializer}
    fed = [value for value in graph.input if value.name not in weights]
    if not fed:
        raise ValueError("it has no input, so it says the same of every row")
    if len(fed) > MOST_INPUTS:
        raise ValueError(f"it has {len(fed):,} inputs, more than {MOST_INPUTS:,}")
    metadata = {entry.key: entry.value for entry in model.metadata_props}
    labels = metadata.get("labels") == "fairdash"
    inputs = [_input(value) | {"labels": labels} for value in fed]
    classes = _cut_zip_map(graph)
    if len(classes) > MOST_CLASSES:
        raise ValueError(f"it has {len(classes):,} classes, more than {MOST_CLASSES}")
    n_classes = max(2, len(classes))
    output = _probabilities(graph, n_classes)
    return {
        "inputs": inputs,
        "classes": classes,
        "n_classes": n_classes,
        "output": output,
    }


def _input(value: onnx.ValueInfoProto) -> dict[str, Any]:
    kind = value.type.tensor_type
    dtype = {int(key): name for key, name in _TYPES.items()}.get(kind.elem_type)
    if dtype is None:
        raise ValueError(
            f"its input {value.name[:80]!r} takes no numbers, text or yes and no"
        )
    dims = [d.dim_value if d.HasField("dim_value") else None for d in kind.shape.dim]
    if not dims or dims[0] or dims[1:] not in ([], [1]):
        raise ValueError(
            f"its input {value.name[:80]!r} is of shape {dims[:8]}; the first "
            "dimension must be free, one row a person. Export it with an input for "
            "each column"
        )
    return {"name": value.name, "dtype": dtype, "rank": len(dims)}


def _cut_zip_map(graph: onnx.GraphProto) -> list[Any]:
    classes: list[Any] = []
    outputs = {value.name: value for value in graph.output}
    for node in list(graph.node):
        for attribute in node.attribute:
            if attribute.name in _LABELS:
                labels = [*attribute.ints, *(_text(s) for s in attribute.strings)]
                classes = labels or classes
        if node.op_type == "ZipMap" and node.output[0] in outputs:
            values = outputs[node.output[0]]
            values.Clear()
            values.name = node.input[0]
            values.type.tensor_type.elem_type = onnx.TensorProto.FLOAT
            graph.node.remove(node)
    return classes


def _text(content: bytes) -> str:
    return content.decode(errors="replace")


def _probabilities(graph: onnx.GraphProto, n_classes: int) -> str:
    real = (onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE)
    outputs = [o for o in graph.output if o.type.tensor_type.elem_type in real]
    likely = [output for output in outputs if "prob" in output.name.lower()]
    if not outputs:
        raise ValueError("it gives only labels; export its probabilities too")
    if len(outputs) > 1 and len(likely) != 1:
        raise ValueError(
            f"it has the outputs {[output.name[:80] for output in outputs[:8]]}; name "
            "the one of the probabilities 'probabilities'"
        )
    output = (likely or outputs)[0]
    shape = output.type.tensor_type.shape
    declared = [d.dim_value if d.HasField("dim_value") else None for d in shape.dim]
    widths = [1, n_classes] if n_classes == 2 else [n_classes]
    if len(declared) > 2 or any(n not in (None, *widths) for n in declared[1:]):
        raise ValueError(_not_asked_for(output.name, declared, n_classes))
    return str(output.name)


def _not_asked_for(name: str, shape: Sequence[int | None], n_classes: int) -> str:
    dimensions = ", ".join("rows" if n is None else str(n) for n in shape[:8])
    wanted = "one probability for each row, or "
    return (
        f"its output {name[:80]!r} is of shape ({dimensions}); what is asked for is "
        f"{wanted if n_classes == 2 else ''}one for each row and each of its "
        f"{n_classes} classes. Export only these"
    )


class Runner:
    """A checked model in a session of one thread."""

    def __init__(self, content: bytes) -> None:
        model, self.facts = checked(content)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4
        level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.graph_optimization_level = level
        try:
            self._session = onnxruntime.InferenceSession(
                model.SerializeToString(), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:
            raise ValueError(_why_not_loaded(error)) from error

    def __call__(self, request: bytes) -> np.ndarray[Any, Any]:
        """Return what a request of `packed` asks for, of shape (n_rows, n_columns)."""
        with np.load(io.BytesIO(request), allow_pickle=False) as arrays:
            columns = json.loads(bytes(arrays["columns"]))
            n_rows = int(arrays["n_rows"])
            rows = {
                entry["name"]: unpacked(arrays, i).reshape([n_rows, 1][: entry["rank"]])
                for i, entry in enumerate(self.facts["inputs"])
            }
        try:
            (p,) = self._session.run([self.facts["output"]], rows)
        except Exception as error:
            raise ValueError(_why_stopped(error)) from error
        p = self._by_class(np.asarray(p), n_rows)
        return np.column_stack([p[:, places].sum(1) for places in columns])

    def _by_class(self, p: np.ndarray[Any, Any], n_rows: int) -> np.ndarray[Any, Any]:
        """Return what the model gave as one column for each class."""
        n_classes = self.facts["n_classes"]
        if p.shape == (n_rows, n_classes):
            return p.astype(np.float64)
        if n_classes == 2 and p.shape in ((n_rows,), (n_rows, 1)):
            positive = p.astype(np.float64).ravel()
            return np.column_stack([1 - positive, positive])
        raise ValueError(_not_asked_for(self.facts["output"], p.shape, n_classes))


def _why_not_loaded(error: Exception) -> str:
    """Return a clause of ours; the library's words name its own source files."""
    if _lacks_memory(error):
        return f"it needs more than {LIMITS.memory >> 30} GiB of memory"
    if isinstance(error, errors.NotImplemented):
        return (
            "it uses an operator for a type of numbers, or in a version, that "
            f"onnxruntime {onnxruntime.__version__} does not run; export it for an "
            "older or a newer set of operators"
        )
    return (
        "its nodes do not fit together: one reads what no other makes, or not of the "
        "type or shape that it takes. Export it again, and see that "
        "`onnx.checker.check_model` passes it"
    )


def _why_stopped(error: Exception) -> str:
    if _lacks_memory(error):
        return f"it needs more than {LIMITS.memory >> 30} GiB of memory"
    return (
        "it stopped at these rows: one of its nodes does not take their values, or not "
        "so many of them. Run it on a few rows where it was made, and export it again"
    )


def _lacks_memory(error: Exception) -> bool:
    return isinstance(error, MemoryError) or "bad_alloc" in str(error)


@cache
def warm_up() -> None:
    """Unpack a request, since NumPy loads modules when needed."""
    request = packed([[0]], [np.array(["a"], object), np.ones(1)])
    with np.load(io.BytesIO(request)) as arrays:
        unpacked(arrays, 0)
        unpacked(arrays, 1)


def open_model(files: Sequence[BinaryIO]) -> box.Handler:
    """Return what takes an ONNX file, and then requests for numbers of rows."""
    runner: Runner | None = None

    def handle(message: bytes) -> bytes:
        nonlocal runner
        if runner is None:
            runner = Runner(message)
            return json.dumps(runner.facts).encode()
        return runner(message).tobytes()

    return handle
