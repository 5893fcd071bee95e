"""Playing without end: the ladder of the season in stints, challenges between them, and the final.

A child program plays (`arena.host.player`). New versions join the ladder at the next stint. What the child tells is
written to the database with the number of the game, so that each game counts once, also after kill -9.
"""

import os
import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from math import inf
from pathlib import Path

import msgspec
import trio

from arena.bots.spec import TOKEN_VARIABLE
from arena.errors import ArenaError
from arena.game.time_control import parse_duration
from arena.host.challenges import Challenge, ChallengeState, games_before, next_challenge, note_played, waiting
from arena.host.cup_database import CupDatabase
from arena.host.cup_settings import Cup
from arena.host.pipeline import child_token
from arena.host.player import FromPlayer, GameOver, PlayOrder, StintOpened, StintOver, from_player
from arena.host.seasons import Season, SeasonLeague, SeasonState, current, finish, league_seed, store_file
from arena.host.submissions import IS_PLAYING, PLAYING, Submission, get_submission, in_states, record_game
from arena.host.webhooks import WebhookEvent, announce
from arena.league.executor.child_process import READ_SIZE, Frames, own_python
from arena.league.executor.task import Watched
from arena.sandbox.killing import kill_left_by
from arena.sandbox.levels import Level
from arena.sandbox.reaper import killed_words
from arena.system.concurrency import background
from arena.system.printable import counted, printable
from arena.web.beside import GameStored, LeagueProgress
from arena.web.live_games import LiveGames

END_SECONDS = 10.0
"""Time for a player whose input has ended, before it is killed."""
LONGEST_STINTS = 10
"""A stint of the ladder goes on for so many times its length while nothing waits for its end."""
LONGEST_PAUSE = 60.0
"""Seconds after several failures; it is one second after the first."""
TICK = 1.0
IDLE_SECONDS = 60.0
LONGEST_ERROR = 2000
TROUBLE = "No game can be played at the moment. The host has been told why, and it is tried again."
GONE = "This game was interrupted."
PLAYED_IN = {
    SeasonLeague.LADDER: (SeasonState.OPEN,),
    SeasonLeague.CHALLENGES: (SeasonState.OPEN, SeasonState.FROZEN),
    SeasonLeague.FINAL: (SeasonState.FINAL,),
}
"""The states of a season in which each of its leagues is played."""


@dataclass
class RunningStint:
    """A stint under way. `before` are the games of other challenges between the same bots.

    Its time counts from `begun`, when its first game is over: so each stint plays, however long its bots take to start.
    """

    league: SeasonLeague
    season: Season
    bots: tuple[Submission, ...]
    challenge: Challenge | None = None
    before: int = 0
    known: int = 0
    planned: int | None = None
    players: dict[str, int] = field(default_factory=dict)
    begun: float = inf
    over: StintOver | None = None

    @property
    def played(self) -> int:
        return max(0, min(self.known - self.before, self.challenge.games if self.challenge else 0))

    @property
    def ids(self) -> frozenset[int]:
        return frozenset(bot.id for bot in self.bots)


class ContinuousPlay:
    """The parent of the player, as a task. `wake` it after any change of submissions, challenges or seasons."""

    def __init__(
        self,
        folder: Path,
        cup: Cup,
        database: CupDatabase,
        level: Level,
        *,
        live: LiveGames | None = None,
        complain: Callable[[str], None] = lambda text: None,
    ) -> None:
        self._folder, self._cup, self._database, self._level = folder.absolute(), cup, database, level
        self._live, self._complain = live, complain
        self._stint_seconds = parse_duration(cup.play.stint) / 1000
        self._news = trio.Event()
        self._failures, self._was_ladder = 0, False
        self._sure: tuple[int, frozenset[int]] | None = None
        """The season and the bots of the ladder of which the order is certain."""
        self.running: RunningStint | None = None
        self.problem = ""
        """Why no game can be played, for the host alone."""
        self.faults: dict[int, str] = {}
        """Why bots in the ladder cannot be started, by submission."""
        self._remarks = set[str]()
        """The remarks on bots that have been printed: each stint makes them again."""
        self.pid: int | None = None
        self._idle_words = "Games begin in a moment."

    def wake(self) -> None:
        self._news.set()

    @property
    def now(self) -> str:
        """A sentence for everybody: which league is being played, or why no game is."""
        stint = self.running
        if stint is None:
            return TROUBLE if self.problem else self._idle_words
        if stint.league is SeasonLeague.CHALLENGES:
            return f"Challenge: {stint.bots[0].bot} against {stint.bots[1].bot}."
        if stint.league is SeasonLeague.FINAL:
            of = "" if stint.planned is None else f" of {stint.planned}"
            return f"Final of season {stint.season.number}: {stint.known}{of} games over."
        return f"Ladder of season {stint.season.number}, between {counted(len(stint.bots), 'bot')}."

    def why_waiting(self, number: int) -> str:
        """Say what a bot in the ladder waits for, if it does not play now; empty if it plays."""
        season, stint = current(self._database), self.running
        if number in self.faults:
            return f"It cannot be started now: {self.faults[number]}"
        if stint and number in stint.ids:
            return ""
        if season.state is not SeasonState.OPEN:
            return f"Season {season.number} is {season.state.value}, so the ladder rests."
        if stint:
            return f"It joins at the next stint, within {counted(round(self._stint_seconds), 'second')} and a game."
        return TROUBLE if self.problem else self._idle_words

    async def run(self) -> None:
        """Play until cancelled. Failures are told by `problem`, and tried again after growing pauses."""
        while True:
            try:
                self._news = trio.Event()
                if stint := self._choose():
                    await self._play(stint)
                    self._settle(stint)
                    self._failures, self.problem = 0, ""
                else:
                    with trio.move_on_after(IDLE_SECONDS):
                        await self._news.wait()
            except (ArenaError, OSError) as error:
                self._failures += 1
                seconds = min(LONGEST_PAUSE, 2.0 ** min(self._failures - 1, 20))
                words = printable(str(error), LONGEST_ERROR, lines=True)
                self.problem = f"No game is played: {words}. It is tried again in {counted(round(seconds), 'second')}."
                self._complain(self.problem)
                await trio.sleep(seconds)

    # --- what is played next ------------------------------------------------------------------------------------------

    def _choose(self) -> RunningStint | None:
        """Return what is played next; None if there is nothing to play, and then `_idle_words` say why."""
        season = current(self._database)
        if season.final_plan and season.state is SeasonState.FINAL:
            finalists = tuple(get_submission(self._database, number) for number in season.final_plan.submissions)
            return RunningStint(SeasonLeague.FINAL, season, finalists)
        if season.state is SeasonState.FINISHED:
            self._idle_words = f"Season {season.number} is finished."
            return None
        ladder = RunningStint(SeasonLeague.LADDER, season, tuple(in_states(self._database, PLAYING)))
        is_sure = self._sure == (season.number, ladder.ids)
        has_ladder = season.state is SeasonState.OPEN and len(ladder.bots) > 1 and not is_sure
        if not has_ladder or self._was_ladder:
            self._was_ladder = False
            if challenge := self._challenge(season):
                return challenge
        if has_ladder:
            self._was_ladder = True
            return ladder
        if season.state is SeasonState.FROZEN:
            self._idle_words = f"Season {season.number} is frozen: only challenges are played, and none waits."
        elif is_sure:
            self._idle_words = "The order of all bots is certain. Games go on when a bot joins the ladder."
        else:
            self._idle_words = f"The ladder needs two bots, and has {counted(len(ladder.bots), 'bot')}."
        return None

    def _challenge(self, season: Season) -> RunningStint | None:
        while challenge := next_challenge(self._database):
            pair = tuple(get_submission(self._database, number) for number in (challenge.submission, challenge.against))
            if all(bot.state in PLAYING for bot in pair):
                before = games_before(self._database, challenge)
                return RunningStint(SeasonLeague.CHALLENGES, season, pair, challenge, before)
            gone = next(bot.bot for bot in pair if bot.state not in PLAYING)
            with self._database.change():
                reason = f"{gone} is not in the ladder any more"
                note_played(self._database, challenge.id, challenge.played, ChallengeState.REFUSED, reason)
        return None

    def _is_due(self, stint: RunningStint) -> bool:
        """Whether the time of a stint is over, or something else has to be played."""
        if current(self._database).state not in PLAYED_IN[stint.league]:
            return True
        if stint.league is SeasonLeague.FINAL:
            return False
        in_ladder = {bot.id for bot in in_states(self._database, PLAYING)}
        if not stint.ids <= in_ladder:
            return True
        is_waited_for = stint.league is SeasonLeague.CHALLENGES or stint.ids != in_ladder or waiting(self._database)
        elapsed = trio.current_time() - stint.begun
        return elapsed >= self._stint_seconds * (1 if is_waited_for else LONGEST_STINTS)

    # --- the player ---------------------------------------------------------------------------------------------------

    async def _play(self, stint: RunningStint) -> None:
        """Play a stint in a child, of which nothing is left. Raises `ArenaError` unless it ended by its own word."""
        token, frames = f"{child_token(self._folder)}.player", Frames(from_player)
        process = await trio.lowlevel.open_process(
            own_python("arena.host.player"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd="/",
            env={**os.environ, TOKEN_VARIABLE: token},
            start_new_session=True,
        )
        incoming, outgoing = process.stdout, process.stdin
        assert incoming is not None
        assert outgoing is not None
        self.running, self.pid = stint, process.pid

        async def direct() -> None:
            with suppress(trio.BrokenResourceError):
                await outgoing.send_all(msgspec.json.encode(self._order(stint)) + b"\n")
                while not self._is_due(stint):
                    self._news = trio.Event()
                    with trio.move_on_after(TICK):
                        await self._news.wait()
                await outgoing.send_all(b"\n")

        try:
            async with background(direct):
                while data := await incoming.receive_some(READ_SIZE):
                    self._hear(stint, frames.feed(bytes(data)))
        finally:
            self.running = self.pid = None
            if self._live:
                self._live.interrupt(GONE)
            with trio.CancelScope(shield=True):
                await outgoing.aclose()
                with trio.move_on_after(END_SECONDS):
                    await process.wait()
                if process.returncode is None:
                    process.kill()
                code = await process.wait()
                await incoming.aclose()
                await kill_left_by(token)
        if stint.over is None:
            raise ArenaError(f"the player {killed_words(-code) if code < 0 else f'ended with code {code}'}")

    def _order(self, stint: RunningStint) -> PlayOrder:
        season, plan = stint.season, stint.season.final_plan
        return PlayOrder(
            *(stint.league, str(self._folder), str(store_file(stint.league, self._folder, season.number))),
            {bot.id: bot.bot for bot in stint.bots},
            *(self._cup.play, self._level.value, league_seed(season.seed, stint.league)),
            final=plan.options if plan else None,
            games=stint.before + stint.challenge.games if stint.challenge else 0,
            after=season.counted,
        )

    # --- what it tells ------------------------------------------------------------------------------------------------

    def _hear(self, stint: RunningStint, messages: Sequence[FromPlayer]) -> None:
        for message in messages:
            if isinstance(message, StintOpened):
                self._note_opened(stint, message)
        if games := [message for message in messages if isinstance(message, GameOver)]:
            self._count(stint, games)
        for message in messages:
            match message:
                case Watched() if self._live:
                    self._live.tell(message)
                case GameOver(number, id) if self._live:
                    has_page = stint.league is SeasonLeague.LADDER
                    self._live.tell(GameStored(id, number if has_page else 0, message.line))
                    self._live.tell(LeagueProgress(stint.known, stint.planned, None))
                case StintOver():
                    stint.over = message

    def _note_opened(self, stint: RunningStint, opened: StintOpened) -> None:
        faults = {id: words.replace(f"{self._folder}/", "") for id, words in opened.faults.items()}
        self.faults = {id: words for id, words in self.faults.items() if id not in stint.ids} | faults
        for remark in opened.remarks:
            if remark not in self._remarks:
                self._remarks.add(remark)
                self._complain(remark)
        stint.known, stint.planned = opened.known, opened.planned
        stint.players = {digest: number for number, digest in opened.players.items()}
        with self._database.change():
            for number, digest in opened.players.items():
                self._database.run("update submission set player = ? where id = ?", digest, number)

    def _count(self, stint: RunningStint, games: Sequence[GameOver]) -> None:
        """Count games that are stored, in one transaction: those of the ladder for their bots, each once."""
        stint.known += len(games)
        stint.begun = min(stint.begun, trio.current_time())
        number = stint.season.number
        with self._database.change(waits=False):  # after a power failure the player tells these games again
            if stint.challenge:
                note_played(self._database, stint.challenge.id, stint.played, ChallengeState.WAITING)
            if stint.league is SeasonLeague.LADDER:
                for game in games:
                    for digest, fault in zip(game.players, game.faults, strict=True):
                        where = f"game {game.number} of season {number} ({fault})" if fault else ""
                        if bot := stint.players.get(digest) or self._bot(digest):
                            record_game(self._database, self._cup, bot, where)
                last = max(game.number for game in games)
                self._database.run("update season set counted = ? where number = ?", last, number)
        self._failures, self.problem = 0, ""

    def _bot(self, digest: str) -> int | None:
        sql = f"select id from submission where player = ? order by {IS_PLAYING} desc, id desc limit 1"
        found: int | None = self._database.value(sql, digest)
        return found

    def _settle(self, stint: RunningStint) -> None:
        """Note how a stint has ended. Raises `ArenaError` with the error of the player."""
        over = stint.over
        assert over is not None
        if stint.challenge and (over.is_complete or over.error):
            state = ChallengeState.REFUSED if over.error else ChallengeState.PLAYED
            with self._database.change():
                reason = printable(over.error, LONGEST_ERROR)
                note_played(self._database, stint.challenge.id, stint.played, state, reason)
        if over.error:
            raise ArenaError(over.error)
        if stint.league is SeasonLeague.FINAL and over.is_complete:
            finish(self._database, self._cup)
        if stint.league is SeasonLeague.LADDER:
            if over.is_complete:
                self._sure = stint.season.number, stint.ids
            self._note_leader(over.leader)

    def _note_leader(self, player: str) -> None:
        season, number = current(self._database), self._bot(player) if player else None
        if number is None or number == season.leader:
            return
        leader = get_submission(self._database, number)
        if leader.games < self._cup.play.probation:
            return
        with self._database.change():
            self._database.run("update season set leader = ? where number = ?", number, season.number)
            text = f"{leader.bot} leads season {season.number}."
            self._database.note("new leader", {"season": season.number, "text": text})
            announce(self._database, self._cup, WebhookEvent.LEADER, text, submission=number, season=season.number)
