"""Interrupted games as files: everything that is needed to take a game up again (Travel: "at any moment").

The file is JSON: the game's specification, what has been played, where the bots are, and where the result belongs. The
bots are started again when the game goes on; each is told its set-up and the events that it had been told, and the
clocks stand where they stood.

Such a file is checked as a whole before anything is started: what was played is played again. It has a checksum against
slips of an editor. That is no signature, and does not cover where the bots and the store lie, which may have moved.
"""

import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
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
from arena.bots.sandbox.levels import Level
from arena.bots.spec import BotSpec, person_spec
from arena.bots.starting import Sandbox
from arena.errors import ArenaError, UsageError
from arena.game.persons import is_person
from arena.game.recheck import Course, check_course, check_time
from arena.game.record import History, RecordError
from arena.game.spec import GameSpec, Player
from arena.game.time_control import TimeControl
from arena.rules.rule_lines import ruleset_from_lines
from arena.rules.ruleset import RulesetError, Starts
from arena.rules.setup import IllegalSetupError
from arena.system.printable import counted, printable
from arena.system.user_files import FileError, read_file
from protocol.notation import Color

PAUSE_FORMAT = 1
CHECKSUM = "checksum"
"""The key of the checksum; a file of the first version has none."""
MAY_MOVE = ("bots", "store")
"""What a host may edit: where things lie now."""
MOST = 2**60
"""No limit or seed comes near it, and the system takes it."""
LONGEST_NAME = 1000
A_PAUSED_GAME = "a paused game, as 'arena match --pause' and 'arena play' write it"
LARGEST_FILE = 64 * MIB
"""Bytes; a game of a million plies with notes has less."""


class SavedGame(msgspec.Struct, frozen=True):
    """A game that was interrupted. Pairs are red, then blue; `bots` are paths, `store` is where the result belongs.

    `persons` says which of the two are people, whose names stand in `bots`; files without it are of bots alone.
    `arguments` are those that the bots are started with, if either has any; `names_told` is as in `GameSpec`.
    `blue_time` is Blue's time control if it is another than Red's; `usual_time` is that of the match if one of the two
    bots has its own. `programs` are fingerprints of the programs that the bots' builds have made, empty where there is
    none: nothing is built when the game goes on. `sandbox`, `limits`, `pondering` and `interpreters`
    are what the game is played under: see `arena.bots.sandbox.levels`. `seed` is that of the settings; files of the
    first version do not have it.
    """

    id: str
    ruleset: str
    rules: tuple[tuple[str, str], ...]
    time: TimeControl
    players: tuple[Player, Player]
    seeds: tuple[int, int]
    pair_seed: int
    history: History = msgspec.field(name="past")
    bots: tuple[str, str]
    store: str
    sandbox: str = "basic"
    limits: tuple[Limits, Limits] = (Limits(), Limits())
    pondering: bool = True
    format: int = PAUSE_FORMAT
    seed: int | None = None
    interpreters: tuple[str, ...] = ()
    blue_time: TimeControl | msgspec.UnsetType = msgspec.UNSET
    usual_time: TimeControl | msgspec.UnsetType = msgspec.UNSET
    arguments: tuple[tuple[str, ...], tuple[str, ...]] | msgspec.UnsetType = msgspec.UNSET
    names_told: bool | msgspec.UnsetType = msgspec.UNSET
    persons: tuple[bool, bool] | msgspec.UnsetType = msgspec.UNSET
    programs: tuple[str, str] | msgspec.UnsetType = msgspec.UNSET

    @property
    def goes_on_with(self) -> str:
        """The command that takes such a game up, which is followed by the file."""
        return "arena play --resume" if self.persons else "arena resume"

    def spec(self) -> GameSpec:
        """The game's specification. Raises `UsageError` if its rules cannot be read."""
        try:
            ruleset = ruleset_from_lines(self.ruleset, self.rules)
        except RulesetError as error:
            raise UsageError(str(error)) from None
        blue_time = self.blue_time or None
        return GameSpec(
            self.id,
            ruleset,
            self.time,
            self.players,
            self.seeds,
            self.pair_seed,
            blue_time,
            names_told=bool(self.names_told),
        )

    def load_bots(self, named: Mapping[Color, str] = MappingProxyType({})) -> tuple[BotSpec, BotSpec]:
        """Both bots, under their names of then; `named` are paths of now, by the colour that a bot plays.

        Raises `UsageError` if one is gone or has changed.
        """
        given, persons = self.arguments or ((), ()), self.persons or (False, False)

        def load(color: Color, player: Player) -> BotSpec:
            if persons[color]:
                return person_spec(player.name)
            word = named.get(color, self.bots[color])
            bot = _same_bot(color, word, player, given[color], is_alone=any(persons))
            if self.programs:
                _refuse_other_program(bot, self.programs[color])
            return bot

        red, blue = self.players
        return load(Color.RED, red), load(Color.BLUE, blue)


def _program_of(bot: BotSpec) -> str:
    """A fingerprint of the program that a bot's build has made; empty where there is none, or it cannot be read."""
    return bot.look.made.decode() if bot.look and bot.look.made else ""


def _refuse_other_program(bot: BotSpec, expected: str) -> None:
    if _program_of(bot) != expected:
        raise UsageError(
            f"{printable(str(bot.path))}: expected the program that its build had made when the game began; another "
            "is there, or none: put that back, or play the game anew"
        )


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
            f"them, or play the game anew with '{'arena play' if is_alone else 'arena match'}'"
        )
    return replace(as_player(bot, player.digest), name=player.name)


def saved_game(
    spec: GameSpec,
    history: History,
    bots: tuple[BotSpec, BotSpec],
    store: Path,
    *,
    held: Sandbox,
    pondering: bool,
    seed: int | None = None,
    usual_time: TimeControl | None = None,
) -> SavedGame:
    """A game that has just been interrupted, as it is to be saved."""
    red, blue = bots
    return SavedGame(
        id=spec.id,
        ruleset=spec.ruleset.name,
        rules=tuple(spec.ruleset.lines()),
        time=spec.time,
        players=spec.players,
        seeds=spec.seeds,
        pair_seed=spec.pair_seed,
        history=history,
        bots=(_place_of(red), _place_of(blue)),
        store=str(store.resolve()),
        sandbox=held.level.value,
        limits=(held.limits_of(red), held.limits_of(blue)),
        pondering=pondering,
        seed=seed,
        interpreters=tuple(os.path.abspath(path) for path in held.interpreters),
        blue_time=spec.blue_time or msgspec.UNSET,
        usual_time=usual_time or msgspec.UNSET,
        arguments=(red.arguments, blue.arguments) if red.arguments or blue.arguments else msgspec.UNSET,
        names_told=spec.names_told or msgspec.UNSET,
        persons=(red.is_person, blue.is_person) if red.is_person or blue.is_person else msgspec.UNSET,
        programs=(_program_of(red), _program_of(blue)) if _program_of(red) or _program_of(blue) else msgspec.UNSET,
    )


def _place_of(bot: BotSpec) -> str:
    return bot.name if bot.is_person else str(bot.path.resolve())


def save_game(paused: SavedGame, path: Path) -> None:
    """Write the file, durably, whole or not at all. Raises `ArenaError` if that cannot be done."""
    fields = msgspec.to_builtins(paused)
    data = msgspec.json.format(msgspec.json.encode({**fields, CHECKSUM: _checksum(fields)}), indent=2)
    target = path.resolve()  # a link stays one
    draft = target.with_name(f".arena-{secrets.token_hex(8)}.part")
    try:
        mode = target.stat().st_mode & 0o777 if target.exists() else None
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "wb") as file:
            if mode is not None:
                os.fchmod(file.fileno(), mode)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(target)
        _sync_folder(target.parent)
    except OSError as error:
        with suppress(OSError):
            draft.unlink()
        raise ArenaError(f"{path}: the game could not be saved: {error.strerror}") from None


def _sync_folder(folder: Path) -> None:
    """Have the name outlive a power cut as well, where the file system knows of that."""
    with suppress(OSError):
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


def refuse_to_overwrite(path: Path) -> None:
    """Raise `UsageError` if something lies where a game is to be saved: nothing of the user's is overwritten."""
    try:
        if not path.exists() or (path.is_file() and path.stat().st_size == 0):
            return
        paused = load_saved(path) if path.is_file() else None
    except (UsageError, OSError, ValueError):
        paused = None
    if paused is None:
        raise UsageError(f"{path}: expected a new file to save the game in; this is another, and is not overwritten")
    red, blue = (player.name for player in paused.players)
    done = counted(len(paused.history.actions), "ply", "plies")
    raise UsageError(
        f"{path}: a game is saved here already, {red} - {blue}, after {done}; go on with "
        f"'{paused.goes_on_with} {path}', or name another file"
    )


def load_saved(path: Path) -> SavedGame:
    """Read the file and check all that is in it. Raises `UsageError` that says what was expected.

    Whether its ids and seeds are those of a league, and go with a store, is for `arena.league.resumed`.
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
    except (UsageError, RecordError, IllegalSetupError) as error:
        raise UsageError(f"{path}: expected {A_PAUSED_GAME}: {error}") from None
    return paused


def _checksum(fields: dict[str, Any]) -> str:
    """A checksum of what is in the file, however it is laid out, and of keys that this version does not know, too."""
    summed = {key: value for key, value in fields.items() if key not in (CHECKSUM, *MAY_MOVE)}
    return blake2b(msgspec.json.encode(summed, order="deterministic"), digest_size=16).hexdigest()


def _check(paused: SavedGame) -> None:
    """Raise one of three errors unless a game can have been interrupted so. See `load_saved`."""
    spec, history = paused.spec(), paused.history
    names = (paused.ruleset, *(text for player in paused.players for text in (player.name, player.digest)))
    for text in (*names, *paused.bots, paused.store, *paused.interpreters):
        if not text or len(text) > LONGEST_NAME or printable(text) != text:
            raise UsageError(f"not a name or a path: {printable(text, 40)!r}")
    if any("\0" in word for words in paused.arguments or () for word in words):
        raise UsageError("an argument with NUL in it")
    if " " in paused.ruleset or not paused.ruleset.isascii():
        raise UsageError(f"not the name of a ruleset: {paused.ruleset!r}")
    for player, is_said in zip(paused.players, paused.persons or (False, False), strict=True):
        if is_person(player) is not is_said:
            raise UsageError(f"{player.name}: not what the file says of who is a person")
    if spec.ruleset.starts is Starts.CHOSEN:
        raise UsageError("its rules do not say who begins")
    if not all(0 <= number < MOST for number in (*paused.seeds, paused.pair_seed, paused.seed or 0)):
        raise UsageError("a seed that is none")
    if paused.sandbox not in [level.value for level in Level]:
        raise UsageError(f"a sandbox that there is not: {printable(paused.sandbox, 40)!r}")
    for limits in paused.limits:
        if not (SMALLEST_MEMORY <= limits.memory < MOST and 1 <= limits.processes < MOST and 1 <= limits.tmp < MOST):
            raise UsageError(f"limits that cannot be kept: {limits.text}")
    for time in (*spec.times, *([paused.usual_time] if paused.usual_time else [])):
        check_time(time)
    game = check_course(spec.ruleset, spec.times, Course.of(history, history.setups))
    if game.outcome is not None:
        raise UsageError("the game is over")
