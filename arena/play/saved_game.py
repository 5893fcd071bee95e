"""Interrupted games as files: everything that is needed to resume a game.

The file is JSON: the game's specification and history, the paths of the bots, and the store for the result. On
resuming, the bots are started again, each receives its set-up and its earlier events, and the clocks continue.

A file is checked completely before any process starts: its history is replayed. Its checksum guards against mistakes in
an editor; it is no signature, and does not cover the paths of the bots and the store.
"""

import os
from collections.abc import Mapping
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec

from arena.bots.asked import AskedBot
from arena.bots.entering import as_player, may_be
from arena.bots.limits import MIB, SMALLEST_MEMORY, Limits
from arena.bots.loading import NotThereError, load_bot
from arena.bots.samples import bot_path
from arena.bots.spec import BotSpec, person_spec
from arena.errors import UsageError
from arena.game.game_spec import GameSpec, Player, is_person
from arena.game.recheck import check_course, check_time
from arena.game.record import History, RecordError
from arena.game.registry import NoSuchGameError
from arena.game.time_control import TimeControl
from arena.processes.runnable import PlaySettings
from arena.sandbox.levels import Level
from arena.system.printable import counted, printable
from arena.system.user_files import FileError, read_file, written_whole
from protocol.seats import Color

PAUSE_FORMAT = 1
CHECKSUM = "checksum"
MAY_MOVE = ("bots", "store")
"""The keys that a host may edit: paths of files."""
MOST = 2**60
"""Above all limits, and accepted by the system."""
LONGEST_NAME = 1000
A_PAUSED_GAME = "a paused game, as 'arena match --pause' and 'arena play' write it"
LARGEST_FILE = 64 * MIB
"""Bytes; a game of a million plies with notes has less."""


class SavedGame(msgspec.Struct, frozen=True):
    """An interrupted game. Pairs are red, then blue; `bots` are paths, `store` is the store for the result.

    `persons` tells which of the two are people, with their names in `bots`. `arguments` are those of the bots'
    commands, `programs` are digests of the programs of their builds: nothing is built on resuming. `usual_time` is
    the time control of the match if a bot has its own. `seed` is that of the settings.
    """

    spec: GameSpec
    history: History = msgspec.field(name="past")
    bots: tuple[str, str]
    store: str
    format: int
    seed: int
    sandbox: str = "basic"
    limits: tuple[Limits, Limits] = (Limits(), Limits())
    pondering: bool = True
    interpreters: tuple[str, ...] = ()
    usual_time: TimeControl | None = None
    arguments: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    persons: tuple[bool, bool] = (False, False)
    programs: tuple[str, str] = ("", "")

    @property
    def goes_on_with(self) -> str:
        return "arena play --resume" if any(self.persons) else "arena resume"

    def load_bots(self, named: Mapping[Color, str] = MappingProxyType({})) -> tuple[BotSpec, BotSpec]:
        """Load both bots under their names in the game; `named` are new paths by colour.

        Raises `UsageError` if one is gone or has changed.
        """

        def load(color: Color, player: Player) -> BotSpec:
            if self.persons[color]:
                return person_spec(player.name)
            word = named.get(color, self.bots[color])
            bot = _same_bot(color, word, player, self.arguments[color], is_alone=any(self.persons))
            if _program_of(bot) != self.programs[color]:
                raise UsageError(
                    f"{printable(str(bot.path))}: expected the program that its build had made when the game began; "
                    "another is there, or none: put that back, or play the game again"
                )
            return bot

        red, blue = self.spec.players
        return load(Color.RED, red), load(Color.BLUE, blue)


def _program_of(bot: BotSpec) -> str:
    return bot.look.made.decode() if bot.look and bot.look.made else ""


def _same_bot(color: Color, word: str, player: Player, arguments: tuple[str, ...], *, is_alone: bool) -> BotSpec:
    path = bot_path(word)
    try:
        bot = load_bot(path, AskedBot(word, arguments=arguments) if arguments else None)
    except NotThereError as error:
        how = "with its path before --resume" if is_alone else f"with --bot {color.word}=PATH"
        raise UsageError(
            f"{error}\nexpected {player.name} there, who plays {color.word}; if it has moved, say where {how}, or "
            'in the saved game, under "bots"'
        ) from None
    except (OSError, ValueError) as error:
        raise UsageError(f"{printable(str(path), LONGEST_NAME)}: expected the path of a bot: {error}") from None
    if not may_be(bot, player):
        raise UsageError(
            f"{path}: expected the bot that began the game, {player.name}, but its files have changed since: restore "
            f"them, or play the game again with '{'arena play' if is_alone else 'arena match'}'"
        )
    return replace(as_player(bot, player.digest), name=player.name)


def saved_game(
    spec: GameSpec,
    history: History,
    bots: tuple[BotSpec, BotSpec],
    store: Path,
    *,
    settings: PlaySettings,
    seed: int,
    usual_time: TimeControl | None = None,
) -> SavedGame:
    red, blue = bots
    return SavedGame(
        spec=spec,
        history=history,
        bots=(_place_of(red), _place_of(blue)),
        store=str(store.resolve()),
        format=PAUSE_FORMAT,
        sandbox=settings.level.value,
        limits=(settings.limits_of(red), settings.limits_of(blue)),
        pondering=settings.pondering,
        seed=seed,
        interpreters=tuple(os.path.abspath(path) for path in settings.interpreters),
        usual_time=usual_time,
        arguments=(red.arguments, blue.arguments),
        persons=(red.is_person, blue.is_person),
        programs=(_program_of(red), _program_of(blue)),
    )


def _place_of(bot: BotSpec) -> str:
    return bot.name if bot.is_person else str(bot.path.resolve())


def save_game(paused: SavedGame, path: Path) -> None:
    """Write the file atomically and durably. Raises `ArenaError` if that fails."""
    fields = msgspec.to_builtins(paused)
    data = msgspec.json.format(msgspec.json.encode({**fields, CHECKSUM: _checksum(fields)}), indent=2)
    with written_whole(path, replace=True) as file:
        file.write(data)


def refuse_to_overwrite(path: Path) -> None:
    try:
        if not path.exists() or (path.is_file() and path.stat().st_size == 0):
            return
        paused = load_saved(path) if path.is_file() else None
    except (UsageError, OSError, ValueError):
        paused = None
    if paused is None:
        raise UsageError(f"{path}: expected a new file to save the game in; this is another, and is not overwritten")
    done = counted(len(paused.history.actions), "ply", "plies")
    raise UsageError(
        f"{path}: a game is saved here already, {paused.spec.names}, after {done}; resume it with "
        f"'{paused.goes_on_with} {path}', or name another file"
    )


def load_saved(path: Path) -> SavedGame:
    """Read a saved game and check all of it. Raises `UsageError`.

    `arena.league.resumed` checks that its ids and seeds are those of a league.
    """
    try:
        data = read_file(path, most=LARGEST_FILE)
    except FileError as error:
        raise UsageError(str(error)) from None
    try:
        fields = msgspec.json.decode(data)
        paused = msgspec.json.decode(data, type=SavedGame)
    except msgspec.ValidationError as error:
        raise UsageError(f"{path}: expected {A_PAUSED_GAME}: {error}") from None
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"{path}: expected {A_PAUSED_GAME}, got a file of another kind: {error}") from None
    if paused.format != PAUSE_FORMAT:
        newer = "; it was saved by a newer version of arena" if paused.format > PAUSE_FORMAT else ""
        raise UsageError(f"{path}: expected a paused game of format {PAUSE_FORMAT}, got {paused.format}{newer}")
    if fields.get(CHECKSUM, "") not in ("", _checksum(fields)):
        raise UsageError(
            f"{path}: this paused game was changed after it was saved; only {' and '.join(map(repr, MAY_MOVE))}, where "
            "the bots and the store lie, may be edited"
        )
    try:
        _check(paused)
    except NoSuchGameError as error:
        raise NoSuchGameError(f"{path}: {error}") from None
    except (UsageError, RecordError) as error:
        raise UsageError(f"{path}: expected {A_PAUSED_GAME}: {error}") from None
    return paused


def _checksum(fields: dict[str, Any]) -> str:
    """Return a checksum of the content, independent of layout, with unknown keys."""
    summed = {key: value for key, value in fields.items() if key not in (CHECKSUM, *MAY_MOVE)}
    return blake2b(msgspec.json.encode(summed, order="deterministic"), digest_size=16).hexdigest()


def _check(paused: SavedGame) -> None:
    """Raise `UsageError` or `RecordError` unless a game can have been interrupted so."""
    spec, history = paused.spec, paused.history
    spec.kind.check_variant(spec.variant)
    if spec.kind.completed(spec.variant) != spec.variant or (spec.opening, spec.time_percent) != (None, None):
        raise UsageError("no game is saved with some of its rules, an opening or scaled clocks")
    names = (spec.variant.name, *(text for player in spec.players for text in (player.name, player.digest)))
    for text in (*names, *paused.bots, paused.store, *paused.interpreters):
        if not text or len(text) > LONGEST_NAME or printable(text) != text:
            raise UsageError(f"not a name or a path: {printable(text, 40)!r}")
    if any("\0" in word for words in paused.arguments for word in words):
        raise UsageError("an argument with NUL in it")
    if " " in spec.variant.name or not spec.variant.name.isascii():
        raise UsageError(f"not the name of a ruleset: {spec.variant.name!r}")
    for player, is_said in zip(spec.players, paused.persons, strict=True):
        if is_person(player) is not is_said:
            raise UsageError(f"{player.name}: the file contradicts itself about who is a person")
    if spec.kind.settled(spec.variant, spec.pair_seed) != spec.variant:
        raise UsageError("its rules do not say who begins")
    if not all(0 <= number < 2**64 for number in (*spec.seeds, spec.pair_seed, paused.seed)):
        raise UsageError("an invalid seed")
    if paused.sandbox not in [level.value for level in Level]:
        raise UsageError(f"an unknown sandbox level: {printable(paused.sandbox, 40)!r}")
    for limits in paused.limits:
        if not (SMALLEST_MEMORY <= limits.memory < MOST and 1 <= limits.processes < MOST and 1 <= limits.tmp < MOST):
            raise UsageError(f"impossible limits: {limits.text}")
    for time in (*spec.times, *([paused.usual_time] if paused.usual_time else [])):
        check_time(time)
    state, _ = check_course(spec, history, history.setups)
    if state.outcome is not None:
        raise UsageError("the game is over")
