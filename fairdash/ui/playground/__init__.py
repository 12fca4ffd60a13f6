"""The playground: a scene and a method are chosen, the browser draws what follows."""

from fairdash.ui.playground.plane import choose, draw_plane

__all__ = ["choose", "draw_plane"]
