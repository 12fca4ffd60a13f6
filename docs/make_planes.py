"""Draw each method in the plane for docs/methods.md, as the page Playground does.

python docs/make_planes.py

A picture has a plane for both ends of the slider and its middle: the surface P(1), the
people, and the line at one half, for each group where a method reads the group.
"""

from io import BytesIO
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from fairdash.audits import playground
from fairdash.audits.playground import Example
from fairdash.audits.playground.people import EDGE, GROUPS
from fairdash.methods import CATALOG
from fairdash.plots import theme

FOLDER = Path(__file__).parent / "pictures" / "methods"
SIZE = 132  # pixels of a plane
GAP = 8  # between two planes
FINER = 4  # times, while it is drawn
TINT = np.array([74, 104, 170])
INK = (40, 44, 52)
MOST_TINT = 0.45


def picture(example: Example) -> Image.Image:
    """Return the planes of an example side by side."""
    planes = [plane(example, surfaces) for surfaces in example.surfaces]
    width = len(planes) * (SIZE + GAP) - GAP
    whole = Image.new("RGBA", (width, SIZE))
    for i, drawn in enumerate(planes):
        whole.paste(drawn, (i * (SIZE + GAP), 0))
    return whole


def plane(example: Example, surfaces: NDArray[np.uint8]) -> Image.Image:
    """Return one plane: surface, people and lines."""
    side = SIZE * FINER
    images = [Image.fromarray(np.flipud(levels)) for levels in surfaces]
    shares = [
        np.asarray(image.resize((side, side), Image.Resampling.BICUBIC)) / 255
        for image in images
    ]
    depth = MOST_TINT * shares[0][..., None]
    tinted = Image.fromarray((255 * (1 - depth) + TINT * depth).astype(np.uint8))
    colours = theme.group_colours_of(GROUPS, "light")
    draw_people(tinted, example, colours)
    for share, colour in zip(shares, colours, strict=False):
        draw_line(tinted, share, colour if len(shares) > 1 else INK)
    pen = ImageDraw.Draw(tinted)
    pen.rectangle((0, 0, side - 1, side - 1), outline="#9aa0a8", width=FINER)
    return tinted.resize((SIZE, SIZE), Image.Resampling.LANCZOS)


def draw_people(image: Image.Image, example: Example, colours: list[str]) -> None:
    """Draw group A round and B square, filled where the outcome is 1."""
    pen = ImageDraw.Draw(image)
    people = example.people
    places = (people.X * [1, -1] + EDGE) / (2 * EDGE) * image.width
    radius = 1.3 * FINER
    for place, group, outcome in zip(places, people.group, people.outcome, strict=True):
        box = (*(place - radius), *(place + radius))
        draw = pen.rectangle if group else pen.ellipse
        fill = colours[group] if outcome else None
        draw(box, fill=fill, outline=colours[group], width=FINER // 2)


def draw_line(
    image: Image.Image, share: NDArray[np.floating], colour: str | tuple[int, ...]
) -> None:
    """Draw where a surface crosses one half."""
    above = share > 0.5
    edge = np.zeros_like(above)
    edge[:, 1:] |= above[:, 1:] != above[:, :-1]
    edge[1:] |= above[1:] != above[:-1]
    pen = ImageDraw.Draw(image)
    for y, x in np.argwhere(edge):
        pen.rectangle((x - FINER, y - FINER, x + FINER, y + FINER), fill=colour)


def packed(image: Image.Image) -> bytes:
    """Return a picture as the small file that it becomes."""
    file = BytesIO()
    image.save(file, "WEBP", quality=60, method=6)
    return file.getvalue()


def main() -> None:
    """Write a picture per method."""
    FOLDER.mkdir(exist_ok=True)
    for name, method in CATALOG.items():
        content = packed(picture(playground.example_of(method)))
        (FOLDER / f"{name}.webp").write_bytes(content)


if __name__ == "__main__":
    main()
