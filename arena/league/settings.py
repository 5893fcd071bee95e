"""The settings that all games of a league share: as a value, as the words in a store or an export, and parsed."""

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress

import msgspec

from arena.bots.limits import Limits, read_limits
from arena.errors import UsageError
from arena.game import Game, Variant, game_named
from arena.game.game_spec import Opening, Player, is_person
from arena.game.record import STRATEGO_1
from arena.game.registry import NoSuchGameError
from arena.game.time_control import UNLIMITED, TimeControl, parse_time
from arena.league.league_options import LARGEST_SEED
from arena.league.store.document import (
    HIDDEN,
    LIMITS_OF,
    NAMED,
    NO_OPENINGS,
    SEPARATOR,
    SETTINGS_OF_GAMES,
    TIME_OF,
    Setting,
    own_times_in,
    time_key,
)
from arena.play.machine import read_reference, reference_text
from arena.system.printable import printable, shown
from protocol.seats import RESIGN, Reason

LONGEST_TITLE = 100
OPENINGS_DIGITS = 16
OPENINGS_TEXT = re.compile(rf"([1-9][0-9]{{0,6}}) of digest [0-9a-f]{{{OPENINGS_DIGITS}}}", re.ASCII)
OTHER_TIMES_TEXT = re.compile(
    r"start (?P<start_ms>\d{1,15})ms, set-up (?P<setup_ms>\d{1,15})ms, margin (?P<margin_ms>\d{1,15})ms", re.ASCII
)


class Settings(msgspec.Struct, frozen=True):
    """The settings that all games of a league share; `time` is for all bots without a time of their own."""

    variant: Variant
    time: TimeControl
    seed: int = 1
    limits: Limits = Limits()
    bot_limits: tuple[tuple[str, Limits], ...] = ()
    pondering: bool = True
    keep_bots: bool = False
    bot_times: tuple[tuple[str, TimeControl], ...] = ()
    """The time controls of single bots, by digest. They differ from `time` in the limits on moves."""
    openings: tuple[Opening, ...] = ()
    names_told: bool = False
    reference_us: int | None = None

    def described(self, players: Sequence[Player] = ()) -> dict[str, str]:
        """Return the settings in words, by name, with limits and own times of these bots."""
        own = dict(self.bot_limits)
        bots = [player for player in players if not is_person(player)]
        return {
            **({Setting.GAME: self.variant.title} if self.variant.title else {}),
            Setting.RULESET: self.variant.name,
            Setting.RULES: rules_text(self.variant),
            Setting.TIME: self.time.text,
            Setting.OTHER_TIMES: other_times(self.time),
            Setting.SEED: str(self.seed),
            Setting.PONDERING: "yes" if self.pondering else "no",
            Setting.KEEP_BOTS: "yes" if self.keep_bots else "no",
            Setting.OPENINGS: openings_text(self.openings),
            Setting.OPPONENTS: NAMED if self.names_told else HIDDEN,
            **({} if self.reference_us is None else {Setting.CALIBRATION: reference_text(self.reference_us)}),
            **{f"{LIMITS_OF}{player.name}": own.get(player.name, self.limits).text for player in bots},
            **self.own_times(players),
        }

    def own_times(self, players: Sequence[Player]) -> dict[str, str]:
        own = dict(self.bot_times)
        return {time_key(player): own[player.digest].text for player in players if player.digest in own}


def hashed(*parts: object) -> str:
    return hashlib.sha256("\n".join(map(repr, parts)).encode()).hexdigest()


def openings_digest(openings: Sequence[Opening]) -> str:
    return hashed("openings", *map(tuple, openings))[:OPENINGS_DIGITS]


def rules_text(variant: Variant) -> str:
    return SEPARATOR.join(f"{name} {value}" for name, value in variant.kind.lasting_rules(variant))


def variant_in(described: Mapping[str, str]) -> Variant:
    """Return the variant of a store's settings. Raises `UsageError` for a game that is not here, or other rules."""
    game, _, version = described.get(Setting.GAME, STRATEGO_1).partition(" ")
    parts = (line.partition(" ") for line in described[Setting.RULES].split(SEPARATOR) if line)
    rules = tuple((key, value) for key, _, value in parts)
    return game_named(game).completed(Variant(game, version, described.get(Setting.RULESET, ""), rules))


def game_in(described: Mapping[str, str]) -> Game:
    """Return the game of a store's settings. Raises `NoSuchGameError` for one that is not here."""
    return game_named(described.get(Setting.GAME, STRATEGO_1).partition(" ")[0])


def check_game(described: Mapping[str, str], where: str) -> None:
    """Raise `UsageError` unless the game of these settings is here; `where` is the store or file that has them."""
    if Setting.GAME not in described:
        return
    title = printable(described[Setting.GAME], LONGEST_TITLE)
    name, _, version = title.partition(" ")
    try:
        here = game_named(name).version
    except NoSuchGameError:
        raise UsageError(f"{where} holds games of {title}: say where the game is with --game FILE") from None
    if here != version:
        raise UsageError(
            f"{where} holds games of {title}, and {name} {here} is here: name that version with --game FILE"
        )


def reasons_in(described: Mapping[str, str]) -> list[str]:
    """Return the words for the end of a game under these settings; without its own for a game that is not here."""
    if Setting.GAME not in described:
        return [reason.value for reason in Reason]
    endings: Iterable[str] = ()
    with suppress(NoSuchGameError):
        endings = game_in(described).endings
    return [*endings, *(reason.value for reason in Reason if reason.is_forfeit), RESIGN]


def other_times(time: TimeControl) -> str:
    return f"start {time.start_ms}ms, set-up {time.setup_ms}ms, margin {time.margin_ms}ms"


def openings_text(openings: Sequence[Opening]) -> str:
    if not openings:
        return NO_OPENINGS
    return f"{len(openings)} of digest {openings_digest(openings)}"


def openings_in(text: str) -> int:
    """Return the number of openings in a setting; 0 for none, and for an invalid one."""
    match = OPENINGS_TEXT.fullmatch(text)
    return int(match[1]) if match else 0


def settings_in(described: Mapping[str, str]) -> Settings:
    """Parse the settings of a store that ids depend on, without openings. Raises `UsageError`."""
    for name in (Setting.RULES, Setting.TIME, Setting.OTHER_TIMES, Setting.SEED):
        if name not in described:
            raise UsageError(f"there is no {name}")
        if name != Setting.RULES and (fault := setting_fault(name, described[name])):
            raise UsageError(fault)
    match = OTHER_TIMES_TEXT.fullmatch(described[Setting.OTHER_TIMES])
    others = {name: int(value) for name, value in match.groupdict().items()} if match else {}

    def time_of(text: str) -> TimeControl:
        return msgspec.structs.replace(parse_time(text), **others)

    return Settings(
        variant=variant_in(described),
        time=time_of(described[Setting.TIME]),
        seed=int(described[Setting.SEED]),
        bot_times=tuple((digest, time_of(text)) for digest, text in own_times_in(described).items()),
    )


_SEED = re.compile(r"0|[1-9][0-9]{0,19}")
OF_BOTS = (LIMITS_OF, TIME_OF)
NEEDED = (*SETTINGS_OF_GAMES, Setting.SEED)


def is_seed(text: str) -> bool:
    return _SEED.fullmatch(text) is not None and int(text) <= LARGEST_SEED


def setting_fault(name: str, value: str) -> str | None:
    """Return why the arena cannot have written this setting; None if it can have, or does not know it."""
    kind = next((prefix for prefix in OF_BOTS if name.startswith(prefix)), name)
    is_right, expected = EXPECTED.get(kind, (bool, ""))
    if not expected or is_right(value):
        return None
    return f"{name if kind == name else shown(name)}: expected {expected}, got {shown(value)}"


def rules_fault(described: Mapping[str, str]) -> str | None:
    """Return why the rules in a store's settings cannot be those of its game; None if they can be."""
    try:
        if Setting.RULES in described:
            variant_in(described)
    except UsageError as error:
        game = printable(described.get(Setting.GAME, STRATEGO_1))
        return f"rules: expected rules of {game}, got {shown(described[Setting.RULES])}: {printable(str(error))}"
    return None


def _is_time(text: str) -> bool:
    try:
        return text == UNLIMITED or parse_time(text).text == text  # unlimited: a person's
    except UsageError:
        return False


def _are_limits(text: str) -> bool:
    limits = read_limits(text)
    return limits is not None and limits.text == text


_CHOICE = ({"yes", "no"}.__contains__, "yes or no")
_A_TIME = (_is_time, "a time such as 1000ms or 60+0.6")
EXPECTED: dict[str, tuple[Callable[[str], object], str]] = {
    Setting.SEED: (is_seed, f"a whole number from 0 to {LARGEST_SEED}"),
    Setting.OTHER_TIMES: (OTHER_TIMES_TEXT.fullmatch, "'start 10000ms, set-up 5000ms, margin 50ms' or the like"),
    Setting.OPENINGS: (
        lambda text: text == NO_OPENINGS or openings_in(text),
        f"'{NO_OPENINGS}', or how many of which digest",
    ),
    Setting.OPPONENTS: ({HIDDEN, NAMED}.__contains__, f"{HIDDEN} or {NAMED}"),
    Setting.CALIBRATION: (lambda text: read_reference(text) is not None, "a reference such as 'reference 25.2 ms'"),
    LIMITS_OF: (_are_limits, f"limits such as {Limits().text!r}"),
    Setting.TIME: _A_TIME,
    TIME_OF: _A_TIME,
    Setting.PONDERING: _CHOICE,
    Setting.KEEP_BOTS: _CHOICE,
}
