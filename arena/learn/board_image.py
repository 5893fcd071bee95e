"""A board as text, or as an image that numpy draws: every rank is shown, so it is for people who watch."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from arena.stratego.shown.boards import board_text
from protocol.notation import BOARD_SIZE, LAKE_SQUARES, Color

Image = NDArray[np.uint8]

RENDER_MODES = ["human", "ansi", "rgb_array"]
SQUARE_PIXELS = 32
DOT_PIXELS = 3
"""The size of a dot of a letter."""
BORDER_PIXELS = 3
LAND, OTHER_LAND, WATER, WHITE = (222, 211, 178), (211, 198, 160), (124, 164, 196), (255, 255, 255)
PIECES = {"r": (178, 43, 43), "b": (38, 70, 140)}
LETTERS = {
    "F": "### #.. ##. #.. #..",
    "B": "##. #.# ##. #.# ##.",
    "S": ".## #.. .#. ..# ##.",
    "2": "##. ..# .#. #.. ###",
    "3": "##. ..# .#. ..# ##.",
    "4": "#.# #.# ### ..# ..#",
    "5": "### #.. ##. ..# ##.",
    "6": ".## #.. ### #.# ###",
    "7": "### ..# .#. .#. .#.",
    "8": "### #.# ### #.# ###",
    "9": "### #.# ### ..# ##.",
    "M": "#.# ### ### #.# #.#",
    "I": "### .#. .#. .#. ###",
}
"""Five rows of three dots for the letter of each rank."""


def board_image(cells: Sequence[str]) -> Image:
    """Return an image (height, width, 3) of a board's cells as Red sees them, rank 10 at the top."""
    image = np.zeros((BOARD_SIZE, SQUARE_PIXELS, BOARD_SIZE, SQUARE_PIXELS, 3), np.uint8)
    for square, cell in enumerate(cells):
        row, file = divmod(square, BOARD_SIZE)
        image[BOARD_SIZE - 1 - row, :, file] = _square_image(square, cell)
    return image.reshape(BOARD_SIZE * SQUARE_PIXELS, BOARD_SIZE * SQUARE_PIXELS, 3)


def _square_image(square: int, cell: str) -> Image:
    picture = np.empty((SQUARE_PIXELS, SQUARE_PIXELS, 3), np.uint8)
    row, file = divmod(square, BOARD_SIZE)
    picture[:] = WATER if square in LAKE_SQUARES else (LAND, OTHER_LAND)[(row + file) % 2]
    if cell[0] in PIECES:
        picture[BORDER_PIXELS:-BORDER_PIXELS, BORDER_PIXELS:-BORDER_PIXELS] = PIECES[cell[0]]
        letter = np.array([[dot == "#" for dot in row] for row in LETTERS[cell[1]].split()])
        dots = letter.repeat(DOT_PIXELS, 0).repeat(DOT_PIXELS, 1)
        top, left = ((SQUARE_PIXELS - size) // 2 for size in dots.shape)
        picture[top : top + dots.shape[0], left : left + dots.shape[1]][dots] = WHITE
    return picture


def rendered(mode: str | None, cells: Sequence[str], acting: Sequence[Color]) -> Image | str | None:
    """Render a board as Gymnasium and PettingZoo name the modes: `human` prints the text of `ansi`."""
    if mode == "rgb_array":
        return board_image(cells)
    turn = " and ".join(color.word for color in acting)
    text = "\n".join((board_text(cells), f"to act: {turn}" if turn else "the game is over"))
    if mode == "human":
        print(text)
    return text if mode == "ansi" else None
