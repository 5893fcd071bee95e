"""One game between two processes: carries bytes between them and the referee, and does nothing else.

The referee decides; this module waits. Four things keep a ply cheap. One task talks to both bots, because in a game
only one of them is to answer at a time. A bot's exit is watched by a task of its own that sleeps until it happens. And
the deadline is lazy: the one cancel scope that stands for it is moved only when a deadline is earlier than the one set,
so that in most games it goes off a few times a second, finds that the game has gone on, and is set anew. And a bot that
answers at once is met by an arena that is still awake: to sleep and be woken costs more than all that the referee does.
"""

import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass

import msgspec
import trio

from arena.bots import BotSpec
from arena.bots.arrivals import Arrivals
from arena.bots.limits import Limits
from arena.bots.process import QUIT_GRACE, BotProcess
from arena.bots.sandbox.launch import Launch, StartError
from arena.errors import ArenaError
from arena.game.clock import NEVER
from arena.game.record import GameRecord, History, Use
from arena.game.referee import Referee
from arena.game.spec import GameSpec
from arena.version import __version__
from protocol.notation import Color, Reason

now = trio.current_time

EXIT_FOLLOWS = 0.5
"""Seconds that a bot whose output has ended has to be dead, before it counts as one that only closed its output."""

PROMPT_SECONDS = 150e-6
"""A bot that answered within this time, the write of its turn included, the last time is waited for without going to
sleep, for a moment."""
SPIN_SECONDS = 50e-6
"""As long as that moment is."""
SLICE_SECONDS = 250e-6
"""A game whose bots always answer so lets the other games have their turn after this time."""

FAULT_GRACE = 0.1
"""Seconds that a bot has to read what it did wrong, and to exit."""
STOPPED_AT_ONCE = frozenset({Reason.TIMEOUT, Reason.SETUP_TIMEOUT, Reason.NO_START, Reason.OVER_LIMIT})

MOST_TRIES = 10
"""How often a game is begun, at the most, because the arena is stopped in it again and again."""

_STARTING: "trio.lowlevel.RunVar[trio.Lock]" = trio.lowlevel.RunVar("starting")

Spawn = Callable[[BotSpec], BotProcess]
TryOut = Callable[[Sequence[BotSpec]], Awaitable[None]]


def start_bot(bot: BotSpec, cpus: frozenset[int] = frozenset()) -> BotProcess:
    """Start a bot as a plain child process, with the usual limits, on these CPUs (none named: on all)."""
    return BotProcess.start(Launch(bot.command, bot.folder, bot.environment, Limits(), cpus=cpus))


@dataclass(frozen=True)
class GameOptions:
    """What bots play under: how they are started and held, and whether they may think in the opponent's time.

    `try_out` finds out, with no file of theirs, whether what holds these bots still works. It raises `ArenaError` if it
    does not.
    """

    spawn: Spawn = start_bot
    pondering: bool = True
    try_out: TryOut | None = None


USUAL = GameOptions()


class ArenaStoppedError(ArenaError):
    """A game that cannot be judged fairly, because the arena was stopped in it; it is to be played again.

    `past` is what had been played by then, to go on from: None before both sides had set up.
    """

    def __init__(self, why: str, past: History | None) -> None:
        super().__init__(f"the game cannot be judged: {why}")
        self.why = why
        self.past = past


class Interrupt:
    """A wish to interrupt a game: after so many plies, or when `request` is called."""

    def __init__(self, after: int | None = None) -> None:
        self.after = NEVER if after is None else after
        self.interrupt: Callable[[], None] = lambda: None
        """What stops the game under way; set by the game."""

    def request(self) -> None:
        """Interrupt the game now, in the middle of a turn if need be."""
        self.after = 0
        self.interrupt()


async def play_game(spec: GameSpec, red: BotSpec, blue: BotSpec, options: GameOptions = USUAL) -> GameRecord:
    """Play one game to its verdict. When this returns, raises or is cancelled, no process of it is left.

    Raises `ArenaStoppedError` if the arena was stopped in the game so that it cannot be judged.
    """
    record = await play_on(spec, (red, blue), None, Interrupt(), options)
    assert isinstance(record, GameRecord)
    return record


async def play_on(
    spec: GameSpec,
    bots: tuple[BotSpec, BotSpec],
    past: History | None,
    pause: Interrupt,
    options: GameOptions = USUAL,
) -> GameRecord | History | None:
    """Play a game, from the beginning or from its `past`, to its verdict or until it is interrupted.

    Returns the record; or what has been played, if `pause` interrupted the game; or None, if that happened before both
    sides had set up. When this returns, raises or is cancelled, no process of the game is left. Raises
    `ArenaStoppedError` as `play_game` does.
    """
    started = time.time()
    begun = now()
    table = GameRunner(Referee(spec, past=past), pause, options.pondering)
    broken = {color: bot.fault for color, bot in zip(Color, bots, strict=True) if bot.fault is not None}
    if broken:
        table.referee.called_off(broken)
        return table.record(started, now() - begun)
    if past:
        table.cpu_us += past.cpu_us or (0,) * len(past.actions)
    try:
        async with _starting():
            for color, bot in zip(Color, bots, strict=True):
                table.seat(color, bot, options.spawn)
                await trio.lowlevel.checkpoint()
        await table.play()
        table.send_quit()
    finally:
        await table.clear()
    if table.referee.void is not None:
        raise ArenaStoppedError(table.referee.void, table.past())
    if table.referee.verdict is None:
        return table.past()
    return table.record(started, now() - begun)


def _starting() -> trio.Lock:
    """What a game holds while it starts its bots: all games at once would keep those that are under way waiting."""
    try:
        return _STARTING.get()
    except LookupError:
        _STARTING.set(lock := trio.Lock())
        return lock


class GameRunner:
    """Where a game is played: the referee and the two processes."""

    def __init__(self, referee: Referee, pause: Interrupt, pondering: bool) -> None:
        self.referee = referee
        self._pause = pause
        self._pondering = pondering
        pause.interrupt = self._interrupt
        self._processes: dict[Color, BotProcess] = {}
        self._arrivals = Arrivals.of_this_run()
        self._stops = self._arrivals.stops
        self._told = len(self._stops)
        """How many stops of the arena the referee knows of, or need not know."""
        self._unsent: dict[Color, bytes] = {}
        """Per seat whose pipe is full, what it has not taken yet of what is due to it."""
        self._gone: list[Color] = []
        self._dead = {color: trio.Event() for color in Color}
        self._scope = trio.CancelScope()
        self._armed = NEVER
        self.cpu_us: list[int] = []
        """The processor time of each action."""
        self._cpu_before = 0
        """What the side to move had used when its turn began."""
        self._prompt = [False, False]
        """Per seat, whether its last answer came at once."""
        self._yielded = now()
        """When other tasks last had a chance to run."""
        self._ended: float | None = None
        """When the game ended or was interrupted, by the clock of the games."""

    def seat(self, color: Color, bot: BotSpec, spawn: Spawn) -> None:
        try:
            with self._arrivals.blocking_call():
                process = self._processes[color] = spawn(bot)
        except StartError as error:
            self.referee.no_start(color, str(error))
        else:
            self._arrivals.watch(process.stdout)

    async def play(self) -> None:
        """Run until there is a verdict."""
        async with trio.open_nursery() as nursery:
            for color, process in self._processes.items():
                nursery.start_soon(process.drain_stderr)
                nursery.start_soon(self._watch_exit, color, process)
                nursery.start_soon(self._watch_use, color, process)
            while not self._is_over():
                await self._carry_until_disturbed()
            self._ended = self._now()
            nursery.cancel_scope.cancel()

    def _interrupt(self) -> None:
        self._scope.cancel()

    def _is_over(self) -> bool:
        """Whether there is a verdict, or the game is to be interrupted here."""
        return self.referee.is_over or len(self.referee.actions) >= self._pause.after

    async def _watch_exit(self, color: Color, process: BotProcess) -> None:
        await process.wait_exit()
        self._dead[color].set()
        self._gone.append(color)
        self._scope.cancel()

    async def _watch_use(self, color: Color, process: BotProcess) -> None:
        words = await process.watch()
        process.kill_now()  # at once: the game may still have to wait for the other side
        self.referee.over_limit(color, words)
        self._scope.cancel()

    async def _carry_until_disturbed(self) -> None:
        """Carry bytes until the verdict, a deadline or the exit of a bot."""
        referee = self.referee
        with trio.CancelScope() as self._scope:
            self._armed = NEVER
            self._arm()
            if self._gone:
                self._scope.cancel()
            while not self._is_over():
                if referee.game is not None:
                    color = referee.game.to_move
                    if not self._pondering:
                        self._processes[color.opponent].freeze()
                        self._processes[color].thaw()
                    await self._serve(color)
                else:
                    await self._serve_both(referee.due() or referee.awaited())
                    if not referee.is_over:  # a restored seat is told its past even when it is not to move
                        await self._serve_both([color for color in referee.due() if color not in referee.awaited()])
        for color in self._gone:
            self._drain_output(color)
        self._gone.clear()
        self._arrivals.note_suspension()
        for color in Color:
            if referee.seats[color].deadline <= self._now():
                self._final_read(color)
        referee.expire(self._now())

    async def _serve_both(self, colors: list[Color]) -> None:
        """Before the game: both bots start, and then set up, at the same time."""
        async with trio.open_nursery() as nursery:
            for color in colors:
                nursery.start_soon(self._serve, color)

    async def _serve(self, color: Color) -> None:
        """Send a seat what is due to it and pass on what it says, until it has answered."""
        referee, process = self.referee, self._processes[color]
        seat = referee.seats[color]
        if seat.due:
            if self._arrivals.may_have(process.stdout) and process.has_output():
                await self._read(color, process)  # nobody had asked for it yet: let the referee judge it as that
                if seat.fault:
                    return
            self._cpu_before = process.cpu_us()
            data = referee.take(color)
            if self._unsent:
                data = self._unsent.pop(color, b"") + data
            begun = self._now()
            rest = process.write_now(data)
            referee.sent(color, begun)
            self._arm()
            if rest:
                self._unsent[color] = rest
        if self._unsent:
            await self._write_slowly(color, process)
        while seat.phase.bot_must_answer and not (seat.due or seat.fault or referee.is_over):
            if not (self._prompt[color] and process.output_within(SPIN_SECONDS)):
                await trio.lowlevel.wait_readable(process.stdout)
                self._yielded = now()
            await self._read(color, process)

    async def _read(self, color: Color, process: BotProcess) -> None:
        data = self._receive(color, process)
        if data:
            moment = now()
            if moment - self._yielded > SLICE_SECONDS:
                await trio.lowlevel.checkpoint()
                self._yielded = now()
        elif data is not None:
            await self._output_ended(color, process)

    def _receive(self, color: Color, process: BotProcess) -> bytes | None:
        """Read what a bot has said and pass it on, with the time at which it came; returns it, as `read_now` does."""
        referee = self.referee
        asked = referee.seats[color].started
        came, read = self._arrivals.take(process.stdout, asked)
        data = process.read_now()
        if data:
            if self._told < len(self._stops):
                self._tell_of_stops()
            self._prompt[color] = came - asked < PROMPT_SECONDS
            used = max(0, process.cpu_us() - self._cpu_before)
            referee.receive(color, data, came, read)
            if len(self.cpu_us) < len(referee.actions):
                self.cpu_us.append(used)
        return data

    async def _output_ended(self, color: Color, process: BotProcess) -> None:
        """The end of output nearly always is the end of the process. No deadline counts any more."""
        end = self._now() + EXIT_FOLLOWS
        while not self._dead[color].is_set() and (left := end - self._now()) > 0:
            with trio.move_on_after(left, shield=True):
                await self._dead[color].wait()
        if process.has_exited():
            self._drain_output(color)
        else:
            self.referee.gone(color, "closed its standard output", exited=False)

    async def _write_slowly(self, color: Color, process: BotProcess) -> None:
        """The pipe is full: the bot has not been reading. If it has to answer, its clock runs meanwhile.

        One that is only told of a past is waited for as long as for a set-up; it takes the rest in its own turn.
        """
        spec = self.referee.spec
        must_answer = self.referee.seats[color].phase.bot_must_answer
        with trio.move_on_after(NEVER if must_answer else spec.time.setup_ms / 1000):
            while color in self._unsent:
                await trio.lowlevel.wait_writable(process.stdin)
                rest = process.write_now(self._unsent.pop(color))
                if rest:
                    self._unsent[color] = rest
        self._yielded = now()

    def _drain_output(self, color: Color) -> None:
        """A bot has exited: what it said before counts first."""
        process = self._processes[color]
        seat = self.referee.seats[color]
        while not (self.referee.is_over or seat.fault) and self._receive(color, process):
            pass
        if words := process.out_of_memory():
            self.referee.over_limit(color, words)
        self.referee.gone(color, process.exit_words(), exited=True)

    def _final_read(self, color: Color) -> None:
        """A bot's time is up: an answer that came before, while the arena had other things to do, still counts."""
        process = self._processes[color]
        seat = self.referee.seats[color]
        if color in self._unsent:
            self.referee.stalled(color)
            return
        while seat.phase.bot_must_answer and not (self.referee.is_over or seat.fault) and self._receive(color, process):
            pass

    def _now(self) -> float:
        """The time by the clock of the games, after the referee has been told of all stops."""
        if self._told < len(self._stops):
            self._tell_of_stops()
        return now() - self._arrivals.left_out

    def _tell_of_stops(self) -> None:
        for stop in self._stops[self._told :]:
            self.referee.stopped(stop, self._arrivals.now())
            self._told += 1
        if self.referee.is_over:
            self._scope.cancel()  # the other seat may be waited for, too

    def _arm(self) -> None:
        deadline = self.referee.deadline + self._arrivals.left_out
        if deadline < self._armed:
            self._armed = self._scope.deadline = deadline

    def send_quit(self) -> None:
        """Tell both bots how it ended, as far as their pipes take it at once."""
        for color in self.referee.due():
            data = self.referee.take(color)
            if color in self._processes:
                self._processes[color].write_now(data)

    async def clear(self) -> None:
        """End both processes and all that they started."""
        with trio.CancelScope(shield=True):
            async with trio.open_nursery() as nursery:
                for color, process in self._processes.items():
                    self._arrivals.forget(process.stdout)
                    nursery.start_soon(process.end, self._grace(color))

    def _grace(self, color: Color) -> float:
        """Seconds that a bot is given to exit by itself. Who took too long or too much is stopped at once."""
        fault = self.referee.seats[color].fault
        if self.referee.verdict is None or (fault and fault.reason in STOPPED_AT_ONCE):
            return 0
        return FAULT_GRACE if fault else QUIT_GRACE

    def past(self) -> History | None:
        """What has been played, to go on from later; None before both sides had set up."""
        past = self.referee.past(self._ended)
        return past and msgspec.structs.replace(past, cpu_us=tuple(self.cpu_us))

    def record(self, started: float, seconds: float) -> GameRecord:
        """The game as it was played."""
        referee, spec = self.referee, self.referee.spec
        assert referee.verdict is not None
        red, blue = referee.seats
        processes = [self._processes.get(color) for color in Color]
        first, second = (Use(process.used_us, process.peak_memory) if process else Use() for process in processes)
        pondered = [process.pondered_us if process else 0 for process in processes]
        return GameRecord(
            id=spec.id,
            arena=__version__,
            ruleset=spec.ruleset.name,
            rules=tuple(spec.ruleset.lines()),
            time=spec.time,
            players=spec.players,
            seeds=spec.seeds,
            pair_seed=spec.pair_seed,
            declared=(red.declared, blue.declared),
            setups=("/".join(red.rows) if red.rows else None, "/".join(blue.rows) if blue.rows else None),
            actions=tuple(referee.actions),
            times_us=tuple(referee.times_us),
            notes=tuple(referee.notes),
            verdict=referee.verdict,
            stderr=_pair(process.stderr_tail if process else "" for process in processes),
            started=started,
            seconds=seconds,
            cpu_us=tuple(self.cpu_us),
            forgiven_us=tuple(referee.forgiven_us),
            used=(first, second),
            confinement=_pair(process.sandbox if process else "" for process in processes),
            interrupted=tuple(referee.interrupted),
            pondered_us=None if self._pondering else (pondered[0], pondered[1]),
        )


def _pair(texts: Iterable[str]) -> tuple[str, str]:
    red, blue = texts
    return red, blue
