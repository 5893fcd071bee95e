"""One game between two processes: starts them, connects them with the referee, and ends them.

The referee decides, `arena.play.driver` waits. Each bot has three more tasks that nearly always sleep: one reads its
standard error, one waits for its exit, one watches its limits.
"""

import time
from collections.abc import Iterable, Mapping
from functools import partial

import msgspec
import trio

from arena.bots.languages import language_of
from arena.bots.program_files import links_out
from arena.bots.spec import BotSpec
from arena.errors import UsageError
from arena.game.faults import Fault, with_processor_time
from arena.game.game_spec import GameSpec
from arena.game.hints import Activity, Seen, TurnUse
from arena.game.hints.diagnosis import diagnose
from arena.game.live import LiveGame
from arena.game.record import GameRecord, History, Use
from arena.game.recorded import judged
from arena.game.referee import Referee
from arena.game.seat import Seat
from arena.play.driver import Driver
from arena.play.game_events import GameFinished
from arena.play.game_options import USUAL, GameOptions, Interrupt, KeptBot, VoidGameError
from arena.play.machine import this_machine
from arena.play.participant import Participant, PersonParticipant
from arena.processes.arrivals import Arrivals
from arena.processes.process import QUIT_GRACE, BotProcess
from arena.sandbox.launch import StartError
from arena.system.concurrency import open_nursery
from arena.version import __version__
from protocol.conversation import Phase
from protocol.messages import Want
from protocol.seats import Color, Reason

now = trio.current_time

FAULT_GRACE = 0.1
"""Seconds that a bot has to read its error, and to exit."""
LOOKED_AT = frozenset({Reason.NO_START, Reason.TIMEOUT, Reason.SETUP_TIMEOUT})
"""Reasons for which the state of the bot is examined."""
BY_ITS_FILES = frozenset({Reason.NO_START, Reason.CRASH})
"""Reasons for which missing files of the bot are examined."""
STOPPED_AT_ONCE = frozenset({Reason.TIMEOUT, Reason.SETUP_TIMEOUT, Reason.NO_START, Reason.OVER_LIMIT})

_STARTING: "trio.lowlevel.RunVar[trio.Lock]" = trio.lowlevel.RunVar("starting")


async def play_game(spec: GameSpec, red: BotSpec, blue: BotSpec, options: GameOptions = USUAL) -> GameRecord:
    """Play one game to its verdict. When this returns, raises or is cancelled, all its processes have ended.

    Raises `VoidGameError` if the arena was suspended in the game so that it cannot be judged.
    """
    record = await play_on(spec, (red, blue), None, Interrupt(), options)
    assert isinstance(record, GameRecord)
    return record


async def play_on(
    spec: GameSpec,
    bots: tuple[BotSpec, BotSpec],
    history: History | None,
    interrupt: Interrupt,
    options: GameOptions = USUAL,
) -> GameRecord | History | None:
    """Play a game, from the beginning or from its `history`, to its verdict or until it is interrupted.

    Returns the record; or the history, if `interrupt` stopped the game; or None, if that was before both sides had set
    up. When this returns, raises or is cancelled, all processes of the game have ended. Raises `VoidGameError` as
    `play_game` does, and `UsageError` if a bot has declared that it cannot play such a game: one that is resumed, that
    begins with an opening, or whose `interrupt` says that it `can_pause`.
    """
    started = max(0.0, time.time())  # a clock that was never set may say less, and a date is none then
    begun = now()
    kept = await options.keeper.take(bots) if options.keeper else {}
    referee = Referee(
        spec,
        history=history,
        introduced={color: one.introduction for color, one in kept.items()},
        keeps=options.keeper is not None and options.keeper.expects_another,
        can_pause=interrupt.can_pause,
    )
    runner = GameRunner(referee, history, interrupt, options, kept)
    played: GameRecord | History | None
    broken = {color: bot.fault_line for color, bot in zip(Color, bots, strict=True) if bot.fault is not None}
    if broken:
        runner.referee.called_off(broken)
        output = _pair(bot.fault_output for bot in bots)
        played = msgspec.structs.replace(runner.record(started, now() - begun), stderr=output)
    else:
        await runner.play(bots)
        if runner.referee.refused is not None:
            raise UsageError(runner.referee.refused)
        if runner.referee.void is not None:
            raise VoidGameError(runner.referee.void, runner.history(), is_excused=runner.referee.is_excused)
        is_over = runner.referee.verdict is not None
        played = runner.record(started, now() - begun) if is_over else runner.history()
    if options.watch is not None and isinstance(played, GameRecord):
        options.watch(GameFinished(played))
    return played


def _starting() -> trio.Lock:
    """Return the lock that a game holds while it starts its bots, so that several starts do not delay other games."""
    try:
        return _STARTING.get()
    except LookupError:
        _STARTING.set(lock := trio.Lock())
        return lock


class GameRunner:
    """A running game: the referee, both processes, and the driver between them."""

    def __init__(
        self,
        referee: Referee,
        history: History | None,
        interrupt: Interrupt,
        options: GameOptions,
        kept: Mapping[Color, KeptBot],
    ) -> None:
        self.referee = referee
        self._options = options
        self._kept = kept
        self._processes: dict[Color, Participant] = {}
        self._arrivals = Arrivals.of_this_run()
        self._driver = Driver(referee, self._processes, history, interrupt, options)
        self._unwritten: set[Color] = set()
        """The seats with pipes that did not take all of the game's last lines."""
        self._ended: float | None = None

    async def play(self, bots: tuple[BotSpec, BotSpec]) -> None:
        """Run until there is a verdict or the game is interrupted, and end the processes."""
        self.referee.advise = partial(self._advised, bots)
        self.referee.excuse = self._excuse if self._options.excuses_delays else None
        try:
            self._processes.update((color, kept.process) for color, kept in self._kept.items())
            for process in self._processes.values():
                self._arrivals.watch(process.stdout)
            if len(self._kept) < len(bots):
                await self._start_new(bots)
            async with open_nursery() as nursery:
                for color, process in self._processes.items():
                    if isinstance(process, BotProcess):
                        nursery.start_soon(process.drain_stderr)
                        nursery.start_soon(self._watch_exit, color, process)
                        nursery.start_soon(self._watch_use, color, process)
                self._ended = await self._driver.drive()
                nursery.cancel_scope.cancel()
            self._send_quit()
        finally:
            await self._end(bots)

    async def _start_new(self, bots: tuple[BotSpec, BotSpec]) -> None:
        async with _starting():
            for color, bot in zip(Color, bots, strict=True):
                if color not in self._kept:
                    self._start(color, bot)
                    await trio.lowlevel.checkpoint()

    def _start(self, color: Color, bot: BotSpec) -> None:
        try:
            with self._arrivals.blocking_call():
                process = self._processes[color] = self._options.spawn(bot)
        except StartError as error:
            self.referee.no_start(color, str(error), error.errno)
        else:
            self._arrivals.watch(process.stdout)

    async def _watch_exit(self, color: Color, process: BotProcess) -> None:
        await process.wait_exit()
        self._driver.exited(color, process)

    async def _watch_use(self, color: Color, process: BotProcess) -> None:
        excess = await process.watch()
        process.kill_now()  # at once: the game may still have to wait for the other side
        self.referee.over_limit(color, excess)
        self._driver.disturb()

    def _excuse(self, color: Color, taken: float, limit: float) -> str:
        """Return why a late side is not to blame, in words that follow its name, or an empty string.

        A bot that has not answered and wants no CPU at its deadline is not late because of the machine. A bot that is
        given a CPU only now may have answered and be asleep again when its activity is read.
        """
        has_answered, process = self.referee.seats[color].is_late, self._processes.get(color)
        if not isinstance(process, BotProcess):
            return ""
        if not (has_answered or process.activity() is Activity.RUNS or process.has_output()):
            return ""
        delay = self._driver.delay_of(color)
        if delay is None or not delay.excuses(taken * 1e6, limit * 1e6):
            return ""
        return (
            f"had {limit * 1000:.0f} ms and took {taken * 1000:.0f}, but used a CPU for {delay.used_us / 1000:.0f} ms "
            f"and waited {delay.waited_us / 1000:.0f} ms for one that other programs had"
        )

    def _advised(self, bots: tuple[BotSpec, BotSpec], seat: Seat, fault: Fault) -> Fault:
        process = self._processes.get(seat.color)
        if isinstance(process, PersonParticipant):
            return fault
        bot, live, turn = bots[seat.color], self.referee.live, None
        if fault.reason is Reason.TIMEOUT and (turn := self._driver.turn_of(seat.color)):
            fault = with_processor_time(fault, turn.used_us)
        seen = seen_of(seat, fault, live, process, bot, turn=turn)
        return msgspec.structs.replace(fault, hint=diagnose(seen))

    def _send_quit(self) -> None:
        for color in self.referee.due():
            data = self.referee.take(color)
            if color in self._processes and self._processes[color].write_now(data):
                self._unwritten.add(color)

    async def _end(self, bots: tuple[BotSpec, BotSpec]) -> None:
        with trio.CancelScope(shield=True):
            async with trio.open_nursery() as nursery:
                for color, process in self._processes.items():
                    nursery.start_soon(self._end_or_keep, color, bots[color], process)
                for process in self._processes.values():  # before the first of them is closed
                    self._arrivals.forget(process.stdout)

    async def _end_or_keep(self, color: Color, bot: BotSpec, process: Participant) -> None:
        keeper = self._options.keeper
        can_go_on = self.referee.can_go_on(color) and color not in self._unwritten
        if keeper and can_go_on and isinstance(process, BotProcess):
            kept = KeptBot(process, self.referee.seats[color].introduction)
            if await process.settle():
                keeper.keep(bot, kept)
            else:
                await kept.end()
            return
        await process.end(self._grace(color))

    def _grace(self, color: Color) -> float:
        """Return the seconds that a bot has to exit by itself; none if it exceeded a limit."""
        fault = self.referee.seats[color].fault
        if self.referee.verdict is None or (fault and fault.reason in STOPPED_AT_ONCE):
            return 0
        return FAULT_GRACE if fault else QUIT_GRACE

    # --- what came of it ------------------------------------------------------------------------------------------

    def history(self) -> History | None:
        history = self.referee.history(self._ended)
        return history and msgspec.structs.replace(history, cpu_us=tuple(self._driver.cpu_us))

    def record(self, started: float, seconds: float) -> GameRecord:
        processes = (self._processes.get(color) for color in Color)
        bots = [process if isinstance(process, BotProcess) else None for process in processes]
        first, second = (Use(bot.used_us, bot.peak_memory) if bot else Use() for bot in bots)
        pondered = [bot.pondered_us if bot else 0 for bot in bots]
        stderr = _pair(bot.stderr_tail if bot else "" for bot in bots)
        return msgspec.structs.replace(
            judged(self.referee, arena=__version__, started=started, seconds=seconds, stderr=stderr),
            cpu_us=tuple(self._driver.cpu_us),
            used=(first, second),
            confinement=_pair(bot.sandbox if bot else "" for bot in bots),
            pondered_us=None if self._options.pondering else (pondered[0], pondered[1]),
            kept=(Color.RED in self._kept, Color.BLUE in self._kept) if self._kept else msgspec.UNSET,
            machine=this_machine(),
        )


def _pair(texts: Iterable[str]) -> tuple[str, str]:
    red, blue = texts
    return red, blue


def seen_of(
    seat: Seat,
    fault: Fault,
    live: LiveGame,
    process: BotProcess | None,
    bot: BotSpec,
    *,
    turn: TurnUse | None = None,
) -> Seen:
    """Return what is known of a side's bot when its fault is found; `process` is None if it was not started.

    Takes well under a millisecond, or a few for a bot that has crashed and has many files.
    """
    is_silent = fault.reason in LOOKED_AT and not seat.has_ended and process is not None
    if process is not None:
        process.read_stderr_now()
    if seat.phase is Phase.INTRODUCING:
        answered = bool(seat.declared or seat.author or seat.wants)
    else:
        last = live.notes[-1] if live.notes else None
        answered = last is not None and last.color == seat.color.word and last.ply == len(live.actions) + 1
    is_confined = bool(process and process.is_confined)
    has_links = is_confined and seat.has_ended and fault.reason in BY_ITS_FILES
    return Seen(
        phase=seat.phase,
        fault=fault,
        language=language_of(bot),
        stderr=process.stderr_tail if process else "",
        status=process.exit_status() if process and seat.has_ended else None,
        activity=process.activity() if process and is_silent else Activity.UNKNOWN,
        has_unread=bool(process and is_silent and process.has_unread()),
        has_closed_input=bool(process and is_silent and process.has_closed_input()),
        has_ended=seat.has_ended,
        answered=answered,
        is_late=seat.is_late,
        unfinished=seat.connection.unfinished,
        kind=live.kind,
        state=live.state,
        rows=seat.rows or (),
        setups=live.setups,
        actions=tuple(live.actions) if fault.reason is Reason.ILLEGAL_ACTION else (),
        gets_legal=Want.LEGAL in seat.wants,
        is_confined=is_confined,
        not_sent=bot.not_sent,
        links_out={str(link.place): link.target for link in links_out(bot.folder, bot.files)} if has_links else {},
        turn=turn,
    )
