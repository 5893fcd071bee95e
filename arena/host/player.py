"""The child program that plays: a stint of the ladder, a challenge, or the final, `python -m arena.host.player`.

A line of JSON on standard input says what to play. A second line asks it to begin no further game and to end when those
under way are over. When the input ends, it ends at once: a killed host leaves no player behind. What happens is written
to standard output as frames of msgpack; a game is stored before it is told.
"""

import enum
import os
import queue
import sys
import threading
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar, TypeVarTuple

import msgspec
import trio

from arena.bots.asked import AskedBot
from arena.errors import ArenaError
from arena.game.record import GameRecord
from arena.host.cup_settings import Playing
from arena.league.executor import child_process
from arena.league.executor.child_process import frame
from arena.league.executor.task import Watched
from arena.league.league import OpenLeague, open_league
from arena.league.league_options import MOST_CONFIDENCE, MOST_GAMES, FormatName, FormatOptions, Kind
from arena.league.pairing.chosen import format_of
from arena.league.pairing.pairing import LadderPlace
from arena.league.plan import LeagueEntry
from arena.league.stop import StopRequest, Wish
from arena.league.store import GameRow, Store
from arena.league.store.game_row import row_of
from arena.play.game_events import ActionPlayed, EventsDropped, GameStarted, WatchedEvent
from arena.report.game_list import game_line
from arena.sandbox.launch import host_fault
from arena.sandbox.rlimits import use_all_descriptors
from arena.system.concurrency import background

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

LADDER = FormatOptions(FormatName.LADDER, confidence=MOST_CONFIDENCE, games=MOST_GAMES)
"""The ladder of a season goes on until the order of all bots is as good as certain."""
MOST_WAITING = 20_000
MOST_SENT = 500
BATCH_SECONDS = 0.05
LONGEST_FAULT = 300
DONE, FAILED = 0, 1


class StintKind(enum.Enum):
    LADDER = "ladder"
    CHALLENGE = "challenge"
    FINAL = "final"


class Entry(msgspec.Struct, frozen=True):
    """A bot that plays: its submission, name and folder."""

    submission: int
    name: str
    folder: str


class PlayOrder(msgspec.Struct, frozen=True):
    """What to play, in which store. `games` are those of a challenge with the earlier ones between the same bots.

    Games after number `after` of the store are told again at the start.
    """

    what: StintKind
    store: str
    bots: tuple[Entry, ...]
    options: Playing
    sandbox: str
    seed: int
    format: FormatOptions | None = None
    games: int = 0
    after: int = 0


class StintOpened(msgspec.Struct, frozen=True, tag=True):
    """The bots are built and tried: the player of each submission, the faults of those that cannot play."""

    players: dict[int, str]
    faults: dict[int, str]
    known: int
    planned: int | None


class GameOver(msgspec.Struct, frozen=True, tag=True):
    """A stored game: its players by digest, the words for the fault of each (empty without one), a line about it.

    It `is_again` told if it had been stored before the stint.
    """

    number: int
    id: str
    players: tuple[str, str]
    faults: tuple[str, str]
    line: str
    is_again: bool = False


class PlayerRemark(msgspec.Struct, frozen=True, tag=True):
    text: str


class StintOver(msgspec.Struct, frozen=True, tag=True):
    """The end of a stint. `is_complete` if there is no further game to play; `places` are digests, the best first."""

    is_complete: bool
    known: int
    places: tuple[str, ...] = ()
    error: str = ""


FromPlayer = StintOpened | Watched | GameOver | PlayerRemark | StintOver
from_player: "msgspec.msgpack.Decoder[FromPlayer]" = msgspec.msgpack.Decoder(FromPlayer)


class FrameWriter:
    """Writes frames in a thread, so that games never wait for the reader. Events of moves are dropped if it is slow."""

    def __init__(self, descriptor: int) -> None:
        self._file = os.fdopen(descriptor, "wb")
        self._waiting: queue.SimpleQueue[FromPlayer | GameStarted | ActionPlayed | None] = queue.SimpleQueue()
        self._dropped = 0
        self._thread = threading.Thread(target=self._write, daemon=True)
        self._thread.start()

    def put(self, message: FromPlayer) -> None:
        self._waiting.put(message)

    def watch(self, event: WatchedEvent) -> None:
        if isinstance(event, EventsDropped):
            self._dropped += event.count
        elif isinstance(event, GameStarted | ActionPlayed):
            if self._waiting.qsize() >= MOST_WAITING:
                self._dropped += 1
            else:
                self._waiting.put(event)

    def close(self) -> None:
        self._waiting.put(None)
        self._thread.join()

    def _write(self) -> None:
        events: list[GameStarted | ActionPlayed] = []
        is_over = False
        try:
            while not is_over:
                try:
                    message = self._waiting.get(timeout=BATCH_SECONDS if events else None)
                except queue.Empty:
                    self._send(events)
                    continue
                if isinstance(message, GameStarted | ActionPlayed):
                    events.append(message)
                    if len(events) >= MOST_SENT:
                        self._send(events)
                    continue
                if events or self._dropped:
                    self._send(events)
                is_over = message is None
                if message is not None:
                    self._file.write(frame(message))
                self._file.flush()
        except OSError:  # the host is dead
            while self._waiting.get() is not None:
                pass

    def _send(self, events: list[GameStarted | ActionPlayed]) -> None:
        dropped, self._dropped = self._dropped, 0
        self._file.write(frame(Watched(tuple(events), dropped)))
        self._file.flush()
        events.clear()


class _EndedError(Exception):
    """The host is gone, or wants no more games, before any was begun."""


class Stint:
    """The games of one order. It is the `Watcher` of its league."""

    def __init__(self, order: PlayOrder, writer: FrameWriter) -> None:
        self._order, self._writer = order, writer
        self.stop = StopRequest()
        self._is_open = False

    def hear(self) -> None:
        """Wait, in a thread, for the second line and the end of the standard input."""
        with open(os.dup(0), "rb") as source:
            if source.readline():
                self.stop.ask(Wish.STOP_SOON)
                while source.read(1):
                    pass
        self.stop.ask(Wish.STOP_NOW)

    def run(self, function: Callable[[*Ts], Awaitable[T]], /, *arguments: *Ts) -> T:
        """Call `trio.run`; before the games begin, end when the input ends."""

        async def until_ended() -> T:
            async with background() as nursery:

                async def end() -> None:
                    while self.stop.wish is not Wish.STOP_NOW:
                        await self.stop.wait_beyond(self.stop.wish)
                    nursery.cancel_scope.cancel()

                nursery.start_soon(end)
                return await function(*arguments)
            raise _EndedError

        if self._is_open:  # the league ends its games itself
            return trio.run(function, *arguments)
        if self.stop.wish is Wish.STOP_NOW:
            raise _EndedError
        return trio.run(until_ended)

    def play(self) -> StintOver:
        order = self._order
        options = order.options.options(Path(order.store))
        asked = tuple(AskedBot(entry.folder, entry.name) for entry in order.bots)
        options = replace(options, seed=order.seed, sandbox=order.sandbox, asked=asked, built=True)
        try:
            self._begin_anew(options.store)
            with open_league(self._entry(), options, self.remark, self.run) as league:
                self._is_open = True
                self._tell_opened(league)
                self._tell_again(league)
                outcome = league.play(self.stop, self, self._writer.watch)
                for line in (*outcome.changed, *outcome.remarks):
                    self.remark(line)
                error = str(outcome.error) if outcome.error else ""
                is_complete = outcome.is_complete and not outcome.changed and not error
                return StintOver(is_complete, league.known, () if error else _places(league), error)
        except _EndedError:
            return StintOver(False, 0)
        except ArenaError as error:
            return StintOver(False, 0, error=str(error))
        except Exception as error:
            fault = host_fault(error)
            if fault is None:
                raise
            return StintOver(False, 0, error=str(fault))

    def _begin_anew(self, store: Path | None) -> None:
        """Have a ladder begin with all games of its bots: to choose them again, one by one, takes long in a season."""
        if self._order.what is StintKind.LADDER and store and store.is_file() and store.stat().st_size:
            with Store(store, create=True) as opened:
                opened.keep(ladder=None)

    def _entry(self) -> LeagueEntry:
        order = self._order
        if order.what is StintKind.CHALLENGE:
            rounds = (order.games + 1) // 2
            return LeagueEntry((), Kind.MATCH, rounds, order.games, follow_links=False, archive=False)
        is_ladder = order.what is StintKind.LADDER
        format_ = format_of(LADDER if is_ladder else order.format or FormatOptions())
        return LeagueEntry(
            *((), Kind.LEAGUE, 1),
            strict=False,
            follow_links=False,
            format=format_,
            is_new=is_ladder,
            archive=False,
        )

    def _tell_opened(self, league: OpenLeague) -> None:
        players, faults = dict[int, str](), dict[int, str]()
        for bot in league.plan.bots:
            entry = next(one for one in self._order.bots if Path(one.folder) in (bot.path, *bot.path.parents))
            players[entry.submission] = bot.player.digest
            if bot.fault is not None:
                faults[entry.submission] = bot.fault
        left_out = {entry.submission: "a program that it needs is missing here" for entry in self._order.bots}
        faults |= {id: words for id, words in left_out.items() if id not in players}
        self._writer.put(StintOpened(players, faults, league.known, league.planned))

    def _tell_again(self, league: OpenLeague) -> None:
        """Tell the games that were stored, and perhaps not told, before a host or a player was killed."""
        if self._order.what is StintKind.LADDER:
            for number in league.store.numbers():
                if number > self._order.after:
                    _, record = league.store.record(number)
                    self._tell(row_of(number, record), record, is_again=True)

    def finished(self, row: GameRow, record: GameRecord) -> None:
        self._tell(row, record)

    def _tell(self, row: GameRow, record: GameRecord, *, is_again: bool = False) -> None:
        red, blue = (player.digest for player in record.players)
        faults = [f"{one.reason.value}: {one.words}" if one else "" for one in record.verdict.faults]
        words = faults[0][:LONGEST_FAULT], faults[1][:LONGEST_FAULT]
        self._writer.put(GameOver(row.number, row.id, (red, blue), words, game_line(row), is_again))

    def remark(self, text: str) -> None:
        self._writer.put(PlayerRemark(text))

    def closing(self, under_way: int) -> None:
        pass


def _places(league: OpenLeague) -> tuple[str, ...]:
    placing = league.placing()
    places = placing.places if placing else ()
    return tuple(place.player.digest for place in places if isinstance(place, LadderPlace))


def main() -> int:
    """Play what standard input says. Standard output is for frames alone, and no bot gets it."""
    outgoing = os.dup(1)
    os.dup2(2, 1)
    child_process.begin(outgoing)
    use_all_descriptors()
    line = bytearray()
    while not line.endswith(b"\n"):  # not buffered: the second line is for the thread
        if not (byte := os.read(0, 1)):
            return FAILED
        line += byte
    writer = FrameWriter(outgoing)
    stint = Stint(msgspec.json.decode(line, type=PlayOrder), writer)
    threading.Thread(target=stint.hear, daemon=True).start()
    try:
        over = stint.play()
        writer.put(over)
    finally:
        writer.close()
    return FAILED if over.error else DONE


if __name__ == "__main__":
    sys.exit(main())
