"""Check an ONNX file and run it, in the box.

`fairdash.brought.OnnxModel` sends messages: first the ONNX file, then NumPy archives of
inputs. Each is answered with JSON or an array. Nothing here unpickles.
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

from fairdash import box

TASK = f"{__name__}:open_model"
LIMITS = box.Limits(memory=2 << 30, seconds=600, written=0, idle=300)
MOST_NODES = 2_000  # onnxruntime takes time squared in them to load
MOST_VALUES = 50_000_000  # of one tensor in the file
MOST_INPUTS = 2_000
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
    if len(fed) > MOST_INPUTS:
        raise ValueError(f"it has {len(fed):,} inputs, more than {MOST_INPUTS:,}")
    metadata = {entry.key: entry.value for entry in model.metadata_props}
    labels = metadata.get("labels") == "fairdash"
    inputs = [_input(value) | {"labels": labels} for value in fed]
    classes = _cut_zip_map(graph)
    output = _probabilities(graph)
    return {"inputs": inputs, "classes": classes, "output": output}


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
                labels = [*attribute.ints, *(s.decode() for s in attribute.strings)]
                classes = labels or classes
        if node.op_type == "ZipMap" and node.output[0] in outputs:
            shown = outputs[node.output[0]]
            shown.Clear()
            shown.name = node.input[0]
            shown.type.tensor_type.elem_type = onnx.TensorProto.FLOAT
            graph.node.remove(node)
    return classes


def _probabilities(graph: onnx.GraphProto) -> str:
    real = (onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE)
    names = [o.name for o in graph.output if o.type.tensor_type.elem_type in real]
    likely = [name for name in names if "prob" in name.lower()]
    if not names:
        raise ValueError("it gives only labels; export its probabilities too")
    if len(names) > 1 and len(likely) != 1:
        raise ValueError(
            f"it has the outputs {[name[:80] for name in names[:8]]}; name the one of "
            "the probabilities 'probabilities'"
        )
    return str((likely or names)[0])


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
            raise ValueError(f"it does not fit together: {_short(error)}") from error

    def __call__(self, archive: bytes) -> np.ndarray[Any, Any]:
        """Return the probabilities of the rows in a NumPy archive of inputs."""
        with np.load(io.BytesIO(archive), allow_pickle=False) as arrays:
            rows = {
                each["name"]: arrays[f"i{i}"].astype(object)
                if each["dtype"] == "str"
                else arrays[f"i{i}"]
                for i, each in enumerate(self.facts["inputs"])
            }
        try:
            (p,) = self._session.run([self.facts["output"]], rows)
        except Exception as error:
            raise ValueError(f"it stopped at these rows: {_short(error)}") from error
        return np.asarray(p, np.float64)


def _short(error: Exception) -> str:
    if isinstance(error, MemoryError) or "bad_alloc" in str(error):
        return f"it needs more than {LIMITS.memory >> 30} GiB of memory"
    return " ".join(str(error).split())[:300]


@cache
def warm_up() -> None:
    """Read an array as messages bring them, since NumPy loads modules when needed."""
    buffer = io.BytesIO()
    np.savez(buffer, i0=np.array(["a"]))
    buffer.seek(0)
    np.load(buffer)["i0"].astype(object)


def open_model(files: Sequence[BinaryIO]) -> box.Handler:
    """Return what takes an ONNX file, and then inputs of its model."""
    runner: Runner | None = None

    def handle(message: bytes) -> bytes:
        nonlocal runner
        if runner is None:
            runner = Runner(message)
            return json.dumps(runner.facts).encode()
        buffer = io.BytesIO()
        np.save(buffer, runner(message), allow_pickle=False)
        return buffer.getvalue()

    return handle
