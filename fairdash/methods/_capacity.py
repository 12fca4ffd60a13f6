"""Hidden widths of a network, given as such or by the name of a capacity."""

from collections.abc import Sequence

from fairdash._validation import check_one_of, check_whole

LAYERS = {
    "simple": (),
    "medium": (32,),
    "standard": (64, 32),
    "complex": (64, 32, 16),
}


def hidden_layers(
    layers: str | Sequence[int], *, name: str = "predictor_layers"
) -> tuple[int, ...]:
    """Return hidden widths given as such or by the name of a capacity."""
    if isinstance(layers, str):
        check_one_of(name, layers, LAYERS)
        return LAYERS[layers]
    for width in layers:
        check_whole(name, width, at_least=1)
    return tuple(int(width) for width in layers)
