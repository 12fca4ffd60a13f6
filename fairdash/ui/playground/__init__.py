"""The playground: a scene and methods are chosen, the browser draws what follows."""

from fairdash.ui.playground.choice import choose
from fairdash.ui.playground.plane import draw_plane

__all__ = ["choose", "draw_plane"]
