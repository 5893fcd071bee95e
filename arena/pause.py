"""Interrupted games as files: everything that is needed to take a game up again (Travel: "at any moment").

The file is JSON: the game's specification, what has been played, where the bots are, and where the result belongs. The
bots are started again when the game goes on; each is told its set-up and the events that it had been told, and the
clocks stand where they stood.
"""

import os
from dataclasses import replace
from pathlib import Path

import msgspec

from arena.bots import BotSpec, load_bot
from arena.confine.levels import Confinement
from arena.hostfile import FileError, read_file
from arena.limits import MIB, Limits
from arena.model import GameSpec, Past, Player, TimeControl, UsageError
from arena.printable import printable
from arena.rules.ruleset import RulesetError, ruleset_from_lines

PAUSE_FORMAT = 1
LARGEST_FILE = 64 * MIB
"""Bytes; a game of a million plies with notes has less."""


class PausedGame(msgspec.Struct, frozen=True):
    """A game that was interrupted. Pairs are red, then blue; `bots` are paths, `store` is where the result belongs.

    `sandbox`, `limits`, `pondering` and `interpreters` are what the game is played under: see `arena.confine.levels`.
    """

    id: str
    ruleset: str
    rules: tuple[tuple[str, str], ...]
    time: TimeControl
    players: tuple[Player, Player]
    seeds: tuple[int, int]
    pair_seed: int
    past: Past
    bots: tuple[str, str]
    store: str
    sandbox: str = "default"
    limits: tuple[Limits, Limits] = (Limits(), Limits())
    pondering: bool = True
    format: int = PAUSE_FORMAT
    interpreters: tuple[str, ...] = ()

    def spec(self) -> GameSpec:
        """The game's specification. Raises `UsageError` if its rules cannot be read."""
        try:
            ruleset = ruleset_from_lines(self.ruleset, self.rules)
        except RulesetError as error:
            raise UsageError(str(error)) from None
        return GameSpec(self.id, ruleset, self.time, self.players, self.seeds, self.pair_seed)

    def load_bots(self) -> tuple[BotSpec, BotSpec]:
        """Both bots, under their names of then. Raises `UsageError` if one is gone or has changed."""
        red, blue = (_same_bot(Path(path), player) for path, player in zip(self.bots, self.players, strict=True))
        return red, blue


def _same_bot(path: Path, player: Player) -> BotSpec:
    bot = load_bot(path)
    if bot.digest != player.digest:
        raise UsageError(
            f"{path}: expected the bot that began the game, {player.name}, but its files have changed since"
        )
    return replace(bot, name=player.name)


def paused_game(
    spec: GameSpec, past: Past, bots: tuple[BotSpec, BotSpec], store: Path, *, held: Confinement, pondering: bool
) -> PausedGame:
    """A game that has just been interrupted, as it is to be saved."""
    red, blue = bots
    return PausedGame(
        id=spec.id,
        ruleset=spec.ruleset.name,
        rules=tuple(spec.ruleset.lines()),
        time=spec.time,
        players=spec.players,
        seeds=spec.seeds,
        pair_seed=spec.pair_seed,
        past=past,
        bots=(str(red.path.resolve()), str(blue.path.resolve())),
        store=str(store.resolve()),
        sandbox=held.level.value,
        limits=(held.limits_of(red), held.limits_of(blue)),
        pondering=pondering,
        interpreters=tuple(os.path.abspath(path) for path in held.interpreters),
    )


def save_paused(paused: PausedGame, path: Path) -> None:
    """Write the file, whole or not at all. Raises `UsageError` if that cannot be done."""
    draft = path.with_name(path.name + ".part")
    try:
        draft.write_bytes(msgspec.json.format(msgspec.json.encode(paused), indent=2))
        draft.replace(path)
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror}") from None


def load_paused(path: Path) -> PausedGame:
    """Read the file. Raises `UsageError`, with what was expected, if it is not one."""
    try:
        paused = msgspec.json.decode(read_file(path, most=LARGEST_FILE), type=PausedGame)
    except FileError as error:
        raise UsageError(str(error)) from None
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: expected a paused game, made by 'arena match --pause': {error}") from None
    if not all(player.name.isprintable() for player in paused.players):
        raise UsageError(f"{printable(str(path))}: expected printable names of bots, got others")
    if paused.format != PAUSE_FORMAT:
        raise UsageError(f"{path}: expected a paused game of format {PAUSE_FORMAT}, got format {paused.format}")
    return paused
