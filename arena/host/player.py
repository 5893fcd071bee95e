"""The child program that plays: a stint of the ladder, a challenge, or the final.

A line of JSON on standard input says what to play. A second line asks it to begin no further game and to end when those
under way are over. When the input ends, it ends at once: a killed host leaves no player behind. What happens is written
to standard output as frames of msgpack; a game is stored before it is told.
"""

import os
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import IO

import msgspec

from arena.bots.asked import AskedBot
from arena.errors import ArenaError
from arena.game.record import GameRecord
from arena.host.cup_settings import Playing
from arena.host.seasons import SeasonLeague
from arena.host.submissions import bot_folder
from arena.league.executor.child_process import FrameWriter, begin, own_output
from arena.league.executor.task import Watched
from arena.league.league import OpenLeague, open_league
from arena.league.league_options import MOST_CONFIDENCE, MOST_GAMES, FormatName, FormatOptions, Kind
from arena.league.pairing.chosen import format_of
from arena.league.pairing.pairing import LadderPlace
from arena.league.plan import LeagueEntry
from arena.league.play_missing import Watcher
from arena.league.stop import StopRequest, Wish
from arena.league.store import GameRow, Store
from arena.league.store.game_row import row_of
from arena.report.game_list import game_line
from arena.sandbox.rlimits import use_all_descriptors
from arena.system.printable import printable

LADDER = FormatOptions(FormatName.LADDER, confidence=MOST_CONFIDENCE, games=MOST_GAMES)
"""The ladder of a season goes on until the order of all bots is as good as certain."""
NICENESS = 5
"""Below the pages, which take little, and could not be read otherwise while all processors play."""
LONGEST_FAULT = 300


class PlayOrder(msgspec.Struct, frozen=True):
    """An order to play a league of a season: `store` is its file, and `bots` are names by the ids of submissions.

    `final` is the format of a final; `games` are those of a challenge with the earlier ones between the same bots.
    Games after number `after` are told at the start: a killed host or player may not have counted them.
    """

    league: SeasonLeague
    folder: str
    store: str
    bots: dict[int, str]
    options: Playing
    sandbox: str
    seed: int
    final: FormatOptions | None
    games: int
    after: int


class StintOpened(msgspec.Struct, frozen=True, tag=True):
    """The bots are there: the player of each submission, the faults of those that cannot play, and remarks on bots."""

    players: dict[int, str]
    faults: dict[int, str]
    remarks: tuple[str, ...]
    known: int
    planned: int | None


class GameOver(msgspec.Struct, frozen=True, tag=True):
    """A stored game: its players by digest, the words for the fault of each (empty without one), a line about it."""

    number: int
    id: str
    players: tuple[str, str]
    faults: tuple[str, str]
    line: str


class StintOver(msgspec.Struct, frozen=True, tag=True):
    """The end of a stint, complete if there is no further game to play. `leader` is the digest of the first place."""

    is_complete: bool
    leader: str = ""
    error: str = ""


FromPlayer = StintOpened | Watched | GameOver | StintOver
from_player: "msgspec.msgpack.Decoder[FromPlayer]" = msgspec.msgpack.Decoder(FromPlayer)


class Stint(Watcher):
    """The games of one order, and the watcher of its league."""

    def __init__(self, order: PlayOrder, writer: FrameWriter) -> None:
        self._order, self._writer = order, writer
        self.stop = StopRequest()

    def hear(self, source: IO[bytes]) -> None:
        """Wait, in a thread, for the second line and the end of the input."""
        if source.readline():
            self.stop.ask(Wish.STOP_SOON)
            source.read()
        self.stop.ask(Wish.STOP_NOW)

    def play(self) -> StintOver:
        order = self._order
        options = order.options.options(Path(order.store))
        asked = tuple(AskedBot(str(self._folder(number)), name) for number, name in order.bots.items())
        options = replace(options, seed=order.seed, sandbox=order.sandbox, asked=asked, built=True)
        remarks = list[str]()
        try:
            if options.store and options.store.exists() and order.league is SeasonLeague.LADDER:
                with Store(options.store, create=True) as store:
                    store.keep(ladder=None)  # it begins with all games: to choose them again, one by one, takes long
            with open_league(self._entry(), options, remarks.append) as league:
                self._tell_opened(league, remarks)
                outcome = league.play(self.stop, self, self._writer.watch)
                for line in (*outcome.changed, *outcome.remarks):
                    self.remark(line)
                if outcome.error:
                    raise outcome.error
                placing = league.placing()
                first = next(iter(placing.places if placing else ()), None)
                leader = first.player.digest if isinstance(first, LadderPlace) else ""
                return StintOver(outcome.is_complete and not outcome.changed, leader)
        except ArenaError as error:
            return StintOver(False, error=str(error))

    def _folder(self, number: int) -> Path:
        return bot_folder(Path(self._order.folder), number)

    def _entry(self) -> LeagueEntry:
        order = self._order
        is_new = order.league is SeasonLeague.LADDER
        usual = LeagueEntry((), Kind.LEAGUE, 1, strict=False, follow_links=False, archive=False, is_new=is_new)
        if order.league is SeasonLeague.CHALLENGES:
            return replace(usual, kind=Kind.MATCH, rounds=(order.games + 1) // 2, games=order.games)
        return replace(usual, format=format_of(order.final or LADDER))

    def _tell_opened(self, league: OpenLeague, remarks: Sequence[str]) -> None:
        players, faults = dict[int, str](), dict[int, str]()
        for number in self._order.bots:
            folder, fault = self._folder(number), "a program that it needs is missing here"
            for bot in league.plan.bots:
                if folder in (bot.path, *bot.path.parents):
                    players[number], fault = bot.player.digest, bot.fault or ""
            if fault:
                faults[number] = fault
        is_ladder = self._order.league is SeasonLeague.LADDER
        again = [number for number in league.store.numbers() if is_ladder and number > self._order.after]
        self._writer.put(StintOpened(players, faults, tuple(remarks), league.known - len(again), league.planned))
        for number in again:
            _, record = league.store.record(number)
            self.finished(row_of(number, record), record)

    def finished(self, row: GameRow, record: GameRecord) -> None:
        red, blue = (player.digest for player in record.players)
        first, second = (f"{one.reason.value}: {one.words}" if one else "" for one in record.verdict.faults)
        faults = first[:LONGEST_FAULT], second[:LONGEST_FAULT]
        self._writer.put(GameOver(row.number, row.id, (red, blue), faults, game_line(row)))

    def remark(self, text: str) -> None:
        with suppress(OSError):
            print(f"arena: {printable(text, lines=True)}", file=sys.stderr, flush=True)


def main() -> None:
    """Play what standard input says. Standard output is for frames alone, and no bot gets it."""
    output = own_output()
    begin()
    use_all_descriptors()
    with suppress(OSError):
        os.nice(NICENESS)
    source = open(0, "rb", buffering=0, closefd=False)  # noqa: SIM115  (it ends with the process)
    if not (line := source.readline()):
        return
    writer = FrameWriter(output)
    stint = Stint(msgspec.json.decode(line, type=PlayOrder), writer)
    threading.Thread(target=stint.hear, args=(source,), daemon=True).start()
    try:
        writer.put(stint.play())
    finally:
        writer.end()
