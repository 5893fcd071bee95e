"""One game between two processes: carries bytes between them and the referee, and does nothing else.

The referee decides; this module waits. Four things keep a ply cheap. One task talks to both bots, because in a game
only one of them is to answer at a time. A bot's exit is watched by a task of its own that sleeps until it happens. And
the deadline is lazy: the one cancel scope that stands for it is moved only when a deadline is earlier than the one set,
so that in most games it goes off a few times a second, finds that the game has gone on, and is set anew. And a bot that
answers at once is met by an arena that is still awake: to sleep and be woken costs more than all that the referee does.
"""

import time
from collections.abc import Callable

import trio

from arena import __version__
from arena.bots import BotSpec
from arena.clock import NEVER
from arena.model import GameRecord, GameSpec, Past
from arena.process import QUIT_GRACE, BotProcess, StartError, adopt_orphans
from arena.referee import Referee
from protocol.notation import Color

now = trio.current_time

EXIT_FOLLOWS = 0.05
"""Seconds that a bot whose output has ended has to be dead, before it counts as one that only closed its output."""

PROMPT_SECONDS = 100e-6
"""A bot that answered within this time the last time is waited for without going to sleep, for a moment:"""
SPIN_SECONDS = 50e-6
"""as long as this."""
SLICE_SECONDS = 250e-6
"""A game whose bots always answer so lets the other games have their turn after this time."""

Spawn = Callable[[BotSpec], BotProcess]


def start_bot(bot: BotSpec) -> BotProcess:
    """Start a bot as a plain child process."""
    return BotProcess.start(bot.command, bot.folder, bot.environment)


class Pause:
    """A wish to interrupt a game: after so many plies, or when `request` is called."""

    def __init__(self, after: int | None = None) -> None:
        self.after = NEVER if after is None else after
        self.interrupt: Callable[[], None] = lambda: None
        """What stops the game under way; set by the game."""

    def request(self) -> None:
        """Interrupt the game now, in the middle of a turn if need be."""
        self.after = 0
        self.interrupt()


async def play_game(spec: GameSpec, red: BotSpec, blue: BotSpec, spawn: Spawn = start_bot) -> GameRecord:
    """Play one game to its verdict. When this returns, or is cancelled, no process of it is left."""
    record = await play_on(spec, (red, blue), None, Pause(), spawn)
    assert isinstance(record, GameRecord)
    return record


async def play_on(
    spec: GameSpec, bots: tuple[BotSpec, BotSpec], past: Past | None, pause: Pause, spawn: Spawn = start_bot
) -> GameRecord | Past | None:
    """Play a game, from the beginning or from its `past`, to its verdict or until it is interrupted.

    Returns the record; or what has been played, if `pause` interrupted the game; or None, if that happened before both
    sides had set up. When this returns, or is cancelled, no process of the game is left.
    """
    adopt_orphans()
    started = time.time()
    begun = now()
    table = _Table(Referee(spec, past=past), pause)
    try:
        for color, bot in zip(Color, bots, strict=True):
            table.seat(color, bot, spawn)
        await table.play()
        table.say_goodbye()
    finally:
        await table.clear()
    if table.referee.verdict is None:
        return table.referee.past()
    return table.record(started, now() - begun)


class _Table:
    """Where a game is played: the referee and the two processes."""

    def __init__(self, referee: Referee, pause: Pause) -> None:
        self.referee = referee
        self._pause = pause
        pause.interrupt = self._interrupt
        self._processes: dict[Color, BotProcess] = {}
        self._gone: list[Color] = []
        self._scope = trio.CancelScope()
        self._armed = NEVER
        self._stderr = {Color.RED: "", Color.BLUE: ""}
        self._prompt = [False, False]
        """Per seat, whether its last answer came at once."""
        self._yielded = now()
        """When other tasks last had a chance to run."""

    def seat(self, color: Color, bot: BotSpec, spawn: Spawn) -> None:
        try:
            self._processes[color] = spawn(bot)
        except StartError as error:
            self.referee.no_start(color, str(error))

    async def play(self) -> None:
        """Run until there is a verdict."""
        async with trio.open_nursery() as nursery:
            for color, process in self._processes.items():
                nursery.start_soon(process.drain_stderr)
                nursery.start_soon(self._watch_exit, color, process)
            while not self._is_over():
                await self._carry_until_disturbed()
            nursery.cancel_scope.cancel()

    def _interrupt(self) -> None:
        self._scope.cancel()

    def _is_over(self) -> bool:
        """Whether there is a verdict, or the game is to be interrupted here."""
        return self.referee.verdict is not None or len(self.referee.actions) >= self._pause.after

    async def _watch_exit(self, color: Color, process: BotProcess) -> None:
        await process.wait_exit()
        self._gone.append(color)
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
                    await self._serve(referee.game.to_move)
                else:
                    await self._serve_both(referee.due() or referee.awaited())
                    if referee.verdict is None:  # a restored seat is told its past even when it is not to move
                        await self._serve_both([color for color in referee.due() if color not in referee.awaited()])
        for color in self._gone:
            self._last_words(color)
        self._gone.clear()
        referee.expire(now())

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
            if process.has_output():
                await self._read(color, process)  # nobody had asked for it yet: let the referee judge it as that
                if seat.fault:
                    return
            rest = process.write_now(referee.take(color))
            if rest:
                await self._write_slowly(color, process, rest)
            referee.sent(color, now())
            self._arm()
        while seat.phase.bot_must_answer and not seat.due and not seat.fault:
            if not (self._prompt[color] and process.output_within(SPIN_SECONDS)):
                await trio.lowlevel.wait_readable(process.stdout)
                self._yielded = now()
            await self._read(color, process)

    async def _read(self, color: Color, process: BotProcess) -> None:
        data = process.read_now()
        moment = now()
        if data:
            self._prompt[color] = moment - self.referee.seats[color].started < PROMPT_SECONDS
            self.referee.receive(color, data, moment)
            if moment - self._yielded > SLICE_SECONDS:
                await trio.lowlevel.checkpoint()
                self._yielded = now()
        elif data is not None:
            await self._output_ended(color, process)

    async def _output_ended(self, color: Color, process: BotProcess) -> None:
        """The end of output nearly always is the end of the process, whose exit then cancels this wait."""
        await trio.sleep(EXIT_FOLLOWS)
        self.referee.gone(color, "closed its standard output", exited=False)

    async def _write_slowly(self, color: Color, process: BotProcess, data: bytes) -> None:
        """The pipe is full: the bot has not been reading. It has as long to take its lines as to answer them."""
        patience = self.referee.patience(color)
        self._armed = self._scope.deadline = NEVER  # an old turn's deadline would cut this write short
        with trio.move_on_after(patience) as scope:
            await process.write(data)
        if scope.cancelled_caught:
            self.referee.stalled(color)

    def _last_words(self, color: Color) -> None:
        """A bot has exited: what it said before counts first."""
        process = self._processes[color]
        seat = self.referee.seats[color]
        while not (self.referee.verdict or seat.fault) and (data := process.read_now()):
            self.referee.receive(color, data, now())
        self.referee.gone(color, process.exit_words(), exited=True)

    def _arm(self) -> None:
        deadline = self.referee.deadline
        if deadline < self._armed:
            self._armed = self._scope.deadline = deadline

    def say_goodbye(self) -> None:
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
                    # Only a bot that was told to quit is given time to do it.
                    at_fault = self.referee.verdict is None or self.referee.seats[color].fault
                    nursery.start_soon(process.end, 0 if at_fault else QUIT_GRACE)
        for color, process in self._processes.items():
            self._stderr[color] = process.stderr_tail

    def record(self, started: float, seconds: float) -> GameRecord:
        """The game as it was played."""
        referee, spec = self.referee, self.referee.spec
        assert referee.verdict is not None
        red, blue = referee.seats
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
            stderr=(self._stderr[Color.RED], self._stderr[Color.BLUE]),
            started=started,
            seconds=seconds,
        )
