"""Playing without end: the ladder of the season in stints, challenges between them, and the final.

A child program plays (`arena.host.player`). New versions join the ladder at the next stint. What the child tells is
written to the database with the number of the game, so that each game counts once, also after kill -9.
"""

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import trio

from arena.errors import ArenaError
from arena.game.time_control import parse_duration
from arena.host.challenges import Challenge, ChallengeState, games_before, next_challenge, note_played, waiting
from arena.host.cup_database import CupDatabase
from arena.host.cup_settings import Cup
from arena.host.player import (
    Entry,
    FromPlayer,
    GameOver,
    PlayerRemark,
    PlayOrder,
    StintKind,
    StintOpened,
    StintOver,
)
from arena.host.running_player import run_player
from arena.host.seasons import (
    Season,
    SeasonState,
    challenge_store,
    current,
    final_store,
    finish,
    ladder_store,
    league_seed,
)
from arena.host.submissions import PLAYING, Submission, bot_folder, get_submission, playing, record_game
from arena.host.webhooks import Event, announce
from arena.league.executor.task import Watched
from arena.sandbox.levels import Level
from arena.system.printable import counted, printable
from arena.web.beside import GameStored, LeagueProgress
from arena.web.live_games import LiveGames

LADDER_STINTS = 3
"""The stints of the ladder between two challenges that wait."""
LONGEST_STINTS = 10
"""A stint of the ladder goes on for so many times its length while nothing waits for its end."""
FIRST_PAUSE, LEAST_PAUSE, LONGEST_PAUSE = 1.0, 5.0, 300.0
"""Seconds after a failure: the first time, until news are looked at, and at most."""
CHALLENGE_FAILURES = 3
IDLE_SECONDS = 60.0
LAST_GAMES = 100_000
RATE_SECONDS = 600.0
LONGEST_ERROR = 2000
TROUBLE = "No game can be played at the moment. The host has been told why, and it is tried again."
GONE = "This game was interrupted."


@dataclass
class RunningStint:
    """A stint under way. `before` are the games of other challenges between the same bots."""

    kind: StintKind
    season: Season
    bots: tuple[Submission, ...]
    challenge: Challenge | None = None
    before: int = 0
    ids: dict[str, int] = field(default_factory=dict)
    """The submissions by the digests of their players."""
    known: int = 0
    planned: int | None = None
    over: StintOver | None = None
    is_stale: bool = False
    """Whether it has to begin anew, as other games between its bots were not known."""


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
        self._failures = 0
        self._challenge_failures: dict[int, int] = {}
        self._ladder_stints = 0
        self._sure: tuple[int, frozenset[int]] | None = None
        """The season and the bots of the ladder of which the order is certain."""
        self._times: deque[float] = deque(maxlen=LAST_GAMES)
        self.running: RunningStint | None = None
        self.problem = ""
        """Why no game can be played, for the host alone."""
        self.faults: dict[int, str] = {}
        """Why bots in the ladder cannot be started, by submission."""
        self.pid: int | None = None
        """The process of the player, while one runs."""
        self._idle_words = "Games begin in a moment."

    def wake(self) -> None:
        self._news.set()

    @property
    def now(self) -> str:
        """What is played now, or why nothing is, in a sentence."""
        stint = self.running
        if stint is None:
            return TROUBLE if self.problem else self._idle_words
        if stint.kind is StintKind.CHALLENGE:
            assert stint.challenge is not None
            return f"Challenge: {stint.bots[0].bot} against {stint.bots[1].bot}."
        if stint.kind is StintKind.FINAL:
            of = "" if stint.planned is None else f" of {stint.planned}"
            return f"Final of season {stint.season.number}: {stint.known}{of} games over."
        return f"Ladder of season {stint.season.number}, between {counted(len(stint.bots), 'bot')}."

    @property
    def games_per_hour(self) -> float:
        since = time.monotonic() - RATE_SECONDS
        return sum(one > since for one in self._times) * 3600 / RATE_SECONDS

    def why_waiting(self, number: int) -> str:
        """Say what a bot in the ladder waits for, if it does not play now; empty if it plays."""
        season = current(self._database)
        if number in self.faults:
            return f"It cannot be started now: {self.faults[number]}"
        stint = self.running
        if stint and number in [bot.id for bot in stint.bots]:
            return ""
        if season.state is not SeasonState.OPEN:
            return f"Season {season.number} is {season.state.value}, so the ladder rests."
        if stint:
            return f"It joins at the next stint, within {counted(round(self._stint_seconds), 'second')} and a game."
        return TROUBLE if self.problem else self._idle_words

    async def run(self) -> None:
        """Play until cancelled. Failures are told by `problem`, and tried again after growing pauses."""
        while True:
            self._news = trio.Event()
            try:
                stint = self._choose()
                if stint is None:
                    with trio.move_on_after(IDLE_SECONDS):
                        await self._news.wait()
                    continue
                await self._play(stint)
                self._settle(stint)
                self._failures, self.problem = 0, ""
            except ArenaError as error:
                await self._pause(str(error))

    async def _pause(self, error: str) -> None:
        self._failures += 1
        seconds = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** min(self._failures - 1, 20))
        words = printable(error, LONGEST_ERROR, lines=True)
        self.problem = f"No game is played: {words}. It is tried again in {counted(round(seconds), 'second')}."
        self._complain(self.problem)
        self._news = trio.Event()
        await trio.sleep(min(seconds, LEAST_PAUSE))
        with trio.move_on_after(max(0.0, seconds - LEAST_PAUSE)):
            await self._news.wait()  # a newer version may be what helps

    def _choose(self) -> RunningStint | None:
        """Return what is played next; None if there is nothing to play, and then `_idle_words` say why."""
        season = current(self._database)
        if season.state is SeasonState.FINISHED:
            self._idle_words = f"Season {season.number} is finished."
            return None
        if season.state is SeasonState.FINAL:
            plan = season.final_plan
            assert plan is not None
            bots = tuple(get_submission(self._database, number) for number in plan.submissions)
            return RunningStint(StintKind.FINAL, season, bots)
        bots = tuple(playing(self._database))
        key = season.number, frozenset(bot.id for bot in bots)
        has_ladder = season.state is SeasonState.OPEN and len(bots) > 1 and self._sure != key
        challenge = self._next_challenge()
        if challenge and (not has_ladder or self._ladder_stints >= LADDER_STINTS):
            pair = tuple(get_submission(self._database, number) for number in (challenge.submission, challenge.against))
            before = games_before(self._database, challenge)
            return RunningStint(StintKind.CHALLENGE, season, pair, challenge, before)
        if has_ladder:
            return RunningStint(StintKind.LADDER, season, bots, before=0)
        if season.state is SeasonState.FROZEN:
            self._idle_words = f"Season {season.number} is frozen: only challenges are played, and none waits."
        elif len(bots) < 2:
            self._idle_words = f"The ladder needs two bots, and has {counted(len(bots), 'bot')}."
        else:
            self._idle_words = "The order of all bots is certain. Games go on when a bot joins the ladder."
        return None

    def _next_challenge(self) -> Challenge | None:
        """Return the challenge that is played next, and refuse those of bots that are not in the ladder any more."""
        while challenge := next_challenge(self._database):
            pair = [get_submission(self._database, number) for number in (challenge.submission, challenge.against)]
            gone = [bot for bot in pair if bot.state not in PLAYING]
            if not gone:
                return challenge
            with self._database.change():
                reason = f"{gone[0].bot} is not in the ladder any more"
                note_played(self._database, challenge.id, challenge.played, ChallengeState.REFUSED, reason)
        return None

    def _order(self, stint: RunningStint) -> PlayOrder:
        season, number = stint.season, stint.season.number
        store, league = {
            StintKind.LADDER: (ladder_store, "ladder"),
            StintKind.FINAL: (final_store, "final"),
            StintKind.CHALLENGE: (challenge_store, "challenges"),
        }[stint.kind]
        plan = season.final_plan if stint.kind is StintKind.FINAL else None
        return PlayOrder(
            stint.kind,
            str(store(self._folder, number)),
            tuple(Entry(bot.id, bot.bot, str(bot_folder(self._folder, bot.id))) for bot in stint.bots),
            self._cup.play,
            self._level.value,
            league_seed(season.seed, league),
            format=plan.options if plan else None,
            games=stint.before + stint.challenge.games if stint.challenge else 0,
            after=season.counted,
        )

    async def _play(self, stint: RunningStint) -> None:
        """Play a stint in a child. Raises `ArenaError` if the child ended otherwise than by its own word."""
        self.running = stint

        def started(pid: int) -> None:
            self.pid = pid

        try:
            hear, until_due = partial(self._hear, stint), partial(self._until_due, stint)
            ended = await run_player(self._folder, self._order(stint), started, hear, until_due)
        finally:
            self.running = self.pid = None
            if self._live:
                self._live.interrupt(GONE)
        if stint.over is None and not stint.is_stale:
            raise ArenaError(ended)

    def _hear(self, stint: RunningStint, messages: Sequence[FromPlayer]) -> bool:
        """Take messages of the player; return whether it is to go on."""
        for opened in messages:
            if isinstance(opened, StintOpened):
                self._note_opened(stint, opened)
        self._note_games(stint, [message for message in messages if isinstance(message, GameOver)])
        for message in messages:
            match message:
                case Watched() if self._live:
                    self._live.tell(message)
                case GameOver(number, id) if self._live:
                    has_page = stint.kind is StintKind.LADDER
                    self._live.tell(GameStored(id, number if has_page else 0, message.line))
                    self._live.tell(LeagueProgress(stint.known, stint.planned, None))
                case PlayerRemark(text):
                    self._complain(printable(text, LONGEST_ERROR, lines=True))
                case StintOver():
                    stint.over = message
        return not stint.is_stale

    def _note_opened(self, stint: RunningStint, opened: StintOpened) -> None:
        faults = {id: words.replace(f"{self._folder}/", "") for id, words in opened.faults.items()}
        self.faults = {id: words for id, words in self.faults.items() if id not in opened.players} | faults
        stint.ids = {digest: number for number, digest in opened.players.items()}
        stint.known, stint.planned = opened.known, opened.planned
        with self._database.change():
            for number, digest in opened.players.items():
                self._database.run("update submission set player = ? where id = ?", digest, number)
            if stint.challenge:
                stint.is_stale = games_before(self._database, stint.challenge) != stint.before
                if not stint.is_stale:
                    self._note_challenge(stint)

    def _note_challenge(self, stint: RunningStint, state: ChallengeState = ChallengeState.WAITING) -> None:
        assert stint.challenge is not None
        played = max(0, min(stint.known - stint.before, stint.challenge.games))
        note_played(self._database, stint.challenge.id, played, state)

    def _note_games(self, stint: RunningStint, games: Sequence[GameOver]) -> None:
        """Count games that are stored, in one transaction: those of the ladder for their bots, each once."""
        if not games or stint.is_stale:
            return
        number = stint.season.number
        with self._database.change():
            counted_before = self._database.value("select counted from season where number = ?", number)
            is_current = current(self._database).number == number
            for game in games:
                stint.known += not game.is_again
                if stint.kind is StintKind.LADDER and is_current and game.number > counted_before:
                    self._count(stint, game)
            if stint.kind is StintKind.LADDER:
                last = max(counted_before, *(game.number for game in games))
                self._database.run("update season set counted = ? where number = ?", last, number)
            elif stint.challenge:
                self._note_challenge(stint)
        self._times.extend([time.monotonic()] * len(games))
        if not all(game.is_again for game in games):
            self._failures, self.problem = 0, ""
        if not self._in_ladder().issuperset(bot.id for bot in stint.bots):
            self.wake()

    def _in_ladder(self) -> set[int]:
        marks = ", ".join("?" * len(PLAYING))
        states = (state.value for state in PLAYING)
        return set(self._database.column(f"select id from submission where state in ({marks})", *states))

    def _count(self, stint: RunningStint, game: GameOver) -> None:
        for digest, fault in zip(game.players, game.faults, strict=True):
            number = stint.ids.get(digest) or self._database.value(
                "select id from submission where player = ? order by id desc limit 1", digest
            )
            if number is not None:
                where = f"game {game.number} of season {stint.season.number} ({fault})" if fault else ""
                record_game(self._database, self._cup, number, where)

    async def _until_due(self, stint: RunningStint) -> None:
        """Wait until the time of a stint is over, or something else has to be played."""
        begun = trio.current_time()
        while not self._is_due(stint, trio.current_time() - begun):
            self._news = trio.Event()
            elapsed = trio.current_time() - begun
            ends = [self._stint_seconds * times for times in (1, LONGEST_STINTS)]
            with trio.move_on_after(min([*(end - elapsed for end in ends if end > elapsed), IDLE_SECONDS])):
                await self._news.wait()

    def _is_due(self, stint: RunningStint, elapsed: float) -> bool:
        season = current(self._database)
        if stint.kind is StintKind.FINAL:
            return season.state is not SeasonState.FINAL
        in_ladder = self._in_ladder()
        gone = not in_ladder.issuperset(bot.id for bot in stint.bots)
        if stint.kind is StintKind.CHALLENGE:
            return gone or elapsed >= self._stint_seconds or season.state not in (SeasonState.OPEN, SeasonState.FROZEN)
        if gone or season.state is not SeasonState.OPEN:
            return True
        is_waited_for = waiting(self._database) > 0 or len(in_ladder) != len(stint.bots)
        return elapsed >= self._stint_seconds * (1 if is_waited_for else LONGEST_STINTS)

    def _settle(self, stint: RunningStint) -> None:
        """Note how a stint has ended. Raises `ArenaError` with the error of the player."""
        over = stint.over
        if stint.is_stale or over is None:
            return
        match stint.kind:
            case StintKind.CHALLENGE:
                self._settle_challenge(stint, over)
            case StintKind.LADDER:
                self._ladder_stints += 1
                if over.is_complete:
                    self._sure = stint.season.number, frozenset(bot.id for bot in stint.bots)
                self._note_leader(over.places)
            case StintKind.FINAL if over.is_complete:
                finish(self._database, self._cup)
        if over.error and stint.kind is not StintKind.CHALLENGE:
            raise ArenaError(over.error)

    def _settle_challenge(self, stint: RunningStint, over: StintOver) -> None:
        challenge = stint.challenge
        assert challenge is not None
        self._ladder_stints = 0
        reason = ""
        if over.error:
            failures = self._challenge_failures.get(challenge.id, 0) + 1
            self._challenge_failures[challenge.id] = failures
            if failures < CHALLENGE_FAILURES:
                raise ArenaError(over.error)
            reason = printable(over.error, LONGEST_ERROR)
        with self._database.change():
            if over.is_complete:
                self._note_challenge(stint, ChallengeState.PLAYED)
            elif reason:
                played = max(0, stint.known - stint.before)
                note_played(self._database, challenge.id, played, ChallengeState.REFUSED, reason)

    def _note_leader(self, places: Sequence[str]) -> None:
        """Announce a new leader that is no longer on probation."""
        season = current(self._database)
        if not places:
            return
        number = self._database.value("select id from submission where player = ? order by id desc limit 1", places[0])
        if number is None or number == season.leader:
            return
        leader = get_submission(self._database, number)
        if leader.games < self._cup.play.probation:
            return
        with self._database.change():
            self._database.run("update season set leader = ? where number = ?", number, season.number)
            text = f"{leader.bot} leads season {season.number}."
            self._database.note("new leader", {"season": season.number, "text": text})
            announce(self._database, self._cup, Event.LEADER, text, submission=number, season=season.number)
