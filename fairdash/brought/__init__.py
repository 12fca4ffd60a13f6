"""A model brought along: any object with predict_proba, or an ONNX file; and out."""

from typing import TYPE_CHECKING

from fairdash._lazy import lazy

__all__ = [
    "LARGEST_ONNX",
    "OnnxModel",
    "TableModel",
    "as_onnx",
    "can_be_onnx",
    "model_columns",
    "positive_scores",
]

if TYPE_CHECKING:
    from fairdash.brought.export import as_onnx, can_be_onnx
    from fairdash.brought.model import (
        LARGEST_ONNX,
        OnnxModel,
        TableModel,
        model_columns,
        positive_scores,
    )
else:
    __getattr__, __dir__ = lazy(__name__, __file__)
