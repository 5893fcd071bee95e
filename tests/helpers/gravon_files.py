"""Files of games as Gravon's archives have them, written by hand and from random games."""

from pathlib import Path
from random import Random
from zipfile import ZIP_DEFLATED, ZipFile

from random_play import lively, random_rows

from arena.stratego.gravon import KINDS, PIECES, rules_of
from arena.stratego.rules.engine import EngineGame
from protocol.seats import Color

LAKES = "AA__AA__AA" * 2
FIELD = (
    "MBAAAAAAAA" "CEAAAAAAAA" "AAAAAAAAAA" "DAAALKAAAD"  # Red: the flag on a1, scouts on a4 and j4
    f"{LAKES}"
    "PAAAXWAAPA" "AAAAAAAAAA" "AAAAAAAOQA" "AAAAAAAANY"  # Blue: the flag on j10, scouts on a7 and i7
)  # fmt: skip
MOVES = ("A4-A5", "A7-A6", "K4-K10")
"""Red's scout takes the flag with the third ply."""


def xml(
    moves: tuple[str, ...] = MOVES, result: str = "1 1", field: str = FIELD, kind: str = "barrage", head: str = ""
) -> bytes:
    ending, winner = result.split()
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f'{head}<stratego>\n <game type="{kind}">']
    lines += [f'  <field content="{field}"/>'] if field else []
    for number, move in enumerate(moves, 1):
        source, target = move.split("-")
        lines.append(f'  <move id="{number}" source="{source}" target="{target}"/>')
    lines += ['  <player id="1">Player 1</player>', '  <player id="2">Player 2</player>']
    lines += [f'  <result type="{ending}" winner="{winner}"/>', " </game>\n</stratego>\n"]
    return "\n".join(lines).encode()


def gsn(
    moves: tuple[str, ...] = MOVES, result: str = "1 0", field: str = FIELD, kind: str = "barrage", end: str = "\r\n"
) -> bytes:
    ending, winner = result.split()
    lines = ["#X38FA11 Stratego-Notation v2", f"type {KINDS.index(kind)}", *filter(None, [field])]
    lines += [move.replace("10", "0") for move in moves]
    lines += ["END", f"Player 1 vs Player 2 result {ending} winner {winner}", ""]
    return end.join(lines).encode()


def random_game(kind: str, seed: int, most: int) -> tuple[tuple[str, ...], str, str]:
    """Play at random; return the moves, the result and the field as `xml` takes them."""
    rng, rules = Random(seed), rules_of(kind)
    red, blue = random_rows(rules, rng), random_rows(rules, rng)
    game, moves = EngineGame(rules, red, blue), []
    while game.outcome is None and game.ply < most:
        action = lively(game, rng)
        moves.append("-".join(_written(square) for square in action.text.split("-")))
        game.play(action)
    if game.outcome is None:
        result = f"3 {2 - game.to_move}"  # who is to move gives up
    else:
        winner = game.outcome.winner
        result = f"{int(game.outcome.reason.value == 'flag')} {3 if winner is None else winner + 1}"
    return tuple(moves), result, _letters(red, Color.RED) + LAKES + _letters(blue[::-1], Color.BLUE)


def _written(square: str) -> str:
    return square.upper().replace("J", "K")


def _letters(rows: tuple[str, ...], color: Color) -> str:
    first = ord("N" if color else "B")
    return "".join("A" if piece == "." else chr(first + PIECES.index(piece)) for row in rows for piece in row)


def archive(path: Path, files: dict[str, bytes]) -> Path:
    with ZipFile(path, "w", ZIP_DEFLATED) as made:
        for name, data in files.items():
            made.writestr(name, data)
    return path
