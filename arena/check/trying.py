"""The situations in sequence, each with a new process of the bot."""

from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import replace
from random import Random

import trio

from arena.bots.finding import why_unfit
from arena.bots.languages import language_of
from arena.bots.spec import BotSpec
from arena.check.situations import Failure, Mark, Situation, SituationOutcome, Twist
from arena.check.talk import Manner, Talk, Times, talk_with
from arena.game import Game, Variant
from arena.game.faults import Fault, Hint, Mistake, Unstartable
from arena.game.game_spec import GameSpec, Opening, Player
from arena.game.hints import Seen
from arena.game.hints.diagnosis import diagnose
from arena.game.record import History
from arena.game.referee import Referee
from arena.game.seat import Introduction
from arena.game.time_control import TimeControl
from arena.processes.process import QUIT_GRACE
from arena.processes.starting import Sandbox
from arena.sandbox.launch import StartError
from protocol.conversation import Phase
from protocol.seats import Color, Reason

now = trio.current_time

OF_NOISE = (
    "in this game lines have further fields ('later 7'), and there are lines that no bot knows: it must pass over both"
)
"""The hint of a bot that fails there alone, before any other."""
GAMES_IN_ONE_PROCESS = 3
FOE = Player("opponent", "")
INTERRUPTED_AFTER = 14
"""Plies after which a game is resumed in a new process."""
FOE_SECONDS = 0.06
"""The time of a slow opponent for a move."""
SLOW_PLIES = 6
"""The first plies of a game, in which it is slow."""
SAME_MISTAKES = 4
"""Failures of one kind after which the rest is not tried."""
AT_THE_END = frozenset({Mistake.EXCEPTION, Mistake.WILD_POINTER, Mistake.ABORTED})
"""Mistakes that are reported of a bot that has played to the end and fails then."""
RESIGNED_HINT = "'move resign' gives the game up; a bot that finds no action should play any of the legal ones"
SAYS_THAT_IT_CANNOT = "it says 'cannot restore'"

GoOn = Callable[[Situation, int], None]


def variant_in(game: Game, situation: Situation) -> Variant:
    """Return the rules of a situation; if players choose who begins, the bot does."""
    # as a seed of a pair, the colour draws this seat
    return game.settled(game.variant(situation.rules), situation.color)


class PlannedGame:
    """One game of a situation from the side of the opponent; the same seed plays the same."""

    def __init__(self, game: Game, situation: Situation, seed: int, *, breaks: bool = False) -> None:
        self._game = game
        self._situation = situation
        self._random = Random(seed)
        self._breaks = breaks or situation.twist in (Twist.BROKEN_OFF, Twist.INPUT_ENDS)
        self._begun: float | None = None
        self._setup = ""
        self.opening: Opening | None = None
        if game.has_setups:
            color, variant = situation.color, variant_in(game, situation)
            self._setup = game.random_setup(variant, color.opponent, seed)
            if situation.twist is Twist.OPENING:
                given = game.tight_setup(variant, color, seed)
                self.opening = (self._setup, given) if color else (given, self._setup)

    def seconds(self, referee: Referee) -> float:
        is_slow = self._situation.twist is Twist.SLOW_FOE and len(referee.actions) < SLOW_PLIES
        return FOE_SECONDS if is_slow and referee.state is not None else 0.0

    def answer(self, referee: Referee) -> bytes | None:
        situation = self._situation
        phase = referee.seats[situation.color.opponent].phase
        if phase is Phase.INTRODUCING:
            if situation.twist is not Twist.NO_GAME:
                return b"ready\n"
            referee.no_start(situation.color.opponent, "it is not there")
            return None
        if phase is Phase.SETTING_UP:
            return f"setup {self._setup}\n".encode()
        state = referee.state
        assert state is not None
        if self._begun is None:
            self._begun = now()
        is_long = situation.plies is not None and state.ply >= situation.plies and not self._breaks
        if is_long or now() - self._begun > situation.seconds:
            return b"move resign\n"
        return f"move {self._game.policy(state, self._random.getrandbits(64), situation.manner)}\n".encode()

    def is_at_break(self, referee: Referee) -> bool:
        """Whether to break the game off here, where the bot has received its turn."""
        situation = self._situation
        if not self._breaks or referee.state is None or situation.plies is None:
            return False
        seat = referee.seats[situation.color]
        return referee.state.ply >= situation.plies and seat.phase is Phase.THINKING and not seat.due


class BotTrial:
    """Tries one bot. `declared`, `author`, `times` and `memory` are the observations so far."""

    def __init__(self, game: Game, bot: BotSpec, held: Sandbox, time: TimeControl, seed: int) -> None:
        self.times = Times()
        self.memory = 0
        self.declared, self.author = "", ""
        self._game, self._bot, self._held, self._time, self._seed = game, bot, held, time, seed
        self._language = language_of(bot)

    async def run(self, situations: Iterable[Situation], begins: GoOn) -> list[SituationOutcome]:
        """Try these situations; `begins` is called before each, with the number of earlier ones."""
        outcomes: list[SituationOutcome] = []
        why = ""
        for situation in situations:
            if why := why or _why_not(outcomes):
                outcomes.append(SituationOutcome(situation, Mark.NOT_TRIED, why))
                continue
            if why_never := why_unfit(self._bot, variant_in(self._game, situation)):
                outcomes.append(SituationOutcome(situation, Mark.NOT_APPLICABLE, why_never))
                continue
            begins(situation, len(outcomes))
            outcomes.append(await self._try(situation))
        return [_with_noise_named(outcome, outcomes) for outcome in outcomes]

    async def _try(self, situation: Situation) -> SituationOutcome:
        try:
            match situation.twist:
                case Twist.SEVERAL:
                    return await self._several(situation)
                case Twist.RESUMED:
                    return await self._resumed(situation)
                case _:
                    return await self._one_game(situation)
        except StartError as error:
            fault = Fault(Reason.NO_START, str(error), Unstartable(error.errno)).shown
            seen = Seen(Phase.INTRODUCING, fault, language=self._language, has_ended=True)
            hint = diagnose(seen)
            said = (hint.mistake.value, hint.text) if hint else ()
            return SituationOutcome(situation, Mark.FAILED, "", Failure(0, fault.reason, fault.text, *said))

    # --- kinds of situations ------------------------------------------------------------------------------------------

    async def _one_game(self, situation: Situation) -> SituationOutcome:
        color, twist = situation.color, situation.twist
        game = PlannedGame(self._game, situation, self._seed)
        referee = Referee(self._spec(situation, game.opening))
        async with self._talk(situation) as talk:
            await talk.play(referee, color, game)
            if referee.refused is not None:
                return SituationOutcome(situation, Mark.NOT_APPLICABLE, SAYS_THAT_IT_CANNOT)
            if referee.void is None and referee.verdict is None:
                if twist is Twist.BROKEN_OFF:
                    referee.gone(color.opponent, "is gone", exited=True)
                    await talk.write_due(referee, color)
                else:
                    talk.end_input()
            self._introduced(referee, color)
            if fault := referee.seats[color].fault:
                return self._fault(situation, referee, talk, fault)
            if game.opening is None and _gave_up(referee, color):
                return self._resigned(situation, referee, talk)
            return await self._ended(situation, referee, talk)

    async def _ended(self, situation: Situation, referee: Referee, talk: Talk) -> SituationOutcome:
        """Check that the bot exits after its games."""
        plies = len(referee.actions)
        is_input = situation.twist is Twist.INPUT_ENDS
        what = "its input had ended" if is_input else "'quit'"
        if await talk.exits_within(QUIT_GRACE):
            words = f"expected it to exit after {what} without an error; the bot {talk.process.exit_words()}"
            hint = self._failed_at_the_end(talk, words)
            if hint is None:
                return SituationOutcome(situation, Mark.PASSED, plies=plies)
            failure = talk.failure(plies, None, words, hint.mistake.value, hint.text)
        elif is_input or situation.twist in (Twist.BROKEN_OFF, Twist.NO_GAME):
            words = f"expected it to exit within {round(QUIT_GRACE * 1000)} ms after {what}; it is killed then"
            hint_words = "leave the loop that reads lines at 'quit', and when there are no more"
            failure = talk.failure(plies, None, words, "stays", hint_words)
        else:
            return SituationOutcome(situation, Mark.PASSED, plies=plies)
        return SituationOutcome(situation, Mark.PARTLY, "no game is lost by it", failure, plies)

    def _failed_at_the_end(self, talk: Talk, words: str) -> Hint | None:
        """Return the exception or signal that ended the bot after its games; other exit codes are ignored."""
        status = talk.process.exit_status()
        if status == 0:
            return None
        talk.process.read_stderr_now()
        fault, errors = Fault(Reason.CRASH, words), talk.process.stderr_tail
        hint = diagnose(
            Seen(Phase.CLOSED, fault, language=self._language, stderr=errors, status=status, has_ended=True)
        )
        return hint if hint and hint.mistake in AT_THE_END else None

    async def _several(self, situation: Situation) -> SituationOutcome:
        color, plies = situation.color, 0
        introduction: Introduction | None = None
        async with self._talk(situation) as talk:
            for number in range(GAMES_IN_ONE_PROCESS):
                side = color if number % 2 == 0 else color.opponent
                game = PlannedGame(self._game, replace(situation, color=side), self._seed + number)
                is_last = number == GAMES_IN_ONE_PROCESS - 1
                introduced = {side: introduction} if introduction else None
                spec = self._spec(situation, None, number)
                referee = Referee(spec, introduced=introduced, keeps=not is_last)
                await talk.play(referee, side, game)
                plies += len(referee.actions)
                if fault := referee.seats[side].fault:
                    return self._fault(situation, referee, talk, fault, f"game {number + 1} of its process: ")
                if _gave_up(referee, side):
                    return self._resigned(situation, referee, talk)
                introduction = referee.seats[side].introduction
                if not is_last and not await talk.process.settle():
                    words = (
                        f"expected it to wait for its next line, half a second after 'end' at the latest, and to say "
                        f"nothing; it was not so after game {number + 1}"
                    )
                    hint = "go back to reading lines at 'end', whether 'game' or 'quit' comes then"
                    failure = talk.failure(0, None, words, "not-idle", hint)
                    return SituationOutcome(situation, _mark(situation), "", failure, plies)
        return SituationOutcome(situation, Mark.PASSED, plies=plies)

    async def _resumed(self, situation: Situation) -> SituationOutcome:
        color = situation.color
        game = PlannedGame(self._game, replace(situation, plies=INTERRUPTED_AFTER), self._seed, breaks=True)
        spec = self._spec(situation, None)
        referee = Referee(spec, can_pause=True)
        async with self._talk(situation, grace=0) as talk:
            await talk.play(referee, color, game)
            if referee.refused is not None:
                return SituationOutcome(situation, Mark.NOT_APPLICABLE, SAYS_THAT_IT_CANNOT)
            if fault := referee.seats[color].fault:
                return self._fault(situation, referee, talk, fault, "before it was interrupted: ")
            if _gave_up(referee, color):
                return self._resigned(situation, referee, talk)
            history: History | None = referee.history(now())
        if history is None or referee.is_over:
            return SituationOutcome(situation, Mark.PASSED, "the game was over before", plies=len(referee.actions))
        again = Referee(spec, history=history)
        game = PlannedGame(self._game, situation, self._seed + 1)
        async with self._talk(situation) as talk:
            await talk.play(again, color, game)
            if fault := again.seats[color].fault:
                return self._fault(situation, again, talk, fault)
        return SituationOutcome(situation, Mark.PASSED, plies=len(again.actions))

    # --- what they are made of ----------------------------------------------------------------------------------------

    @asynccontextmanager
    async def _talk(self, situation: Situation, grace: float = QUIT_GRACE) -> AsyncIterator[Talk]:
        manner = Manner(
            open_verbs=self._game.open_verbs if situation.twist is Twist.NOISE else None,
            in_pieces=situation.twist is Twist.PIECES,
        )
        process = self._held.start(self._bot)
        async with talk_with(process, self._bot, self.times, manner, grace) as talk:
            yield talk
        self.memory = max(self.memory, process.peak_memory)

    def _spec(self, situation: Situation, opening: Opening | None, number: int = 0) -> GameSpec:
        me = self._bot.player
        return GameSpec(
            id="check",
            variant=variant_in(self._game, situation),
            time=self._time,
            players=(me, FOE) if situation.color is Color.RED else (FOE, me),
            seeds=(self._seed + number, self._seed + number),
            pair_seed=self._seed,
            opening=opening,
        )

    def _introduced(self, referee: Referee, color: Color) -> None:
        seat = referee.seats[color]
        self.declared, self.author = seat.declared or self.declared, seat.author or self.author

    def _fault(
        self, situation: Situation, referee: Referee, talk: Talk, fault: Fault, where: str = ""
    ) -> SituationOutcome:
        failure = talk.failure_of(referee, fault, where)
        return SituationOutcome(situation, _mark(situation), "", failure, len(referee.actions))

    def _resigned(self, situation: Situation, referee: Referee, talk: Talk) -> SituationOutcome:
        words, plies = "expected it to play, and it resigned in its first turn", len(referee.actions)
        failure = talk.failure(plies, Reason.RESIGN, words, Mistake.RESIGNED.value, RESIGNED_HINT)
        return SituationOutcome(situation, _mark(situation), "", failure, plies)


def _gave_up(referee: Referee, color: Color) -> bool:
    verdict = referee.verdict
    is_resigned = verdict is not None and verdict.reason is Reason.RESIGN and verdict.result.winner is color.opponent
    return is_resigned and len(referee.actions) <= len(Color)


def _mark(situation: Situation) -> Mark:
    return Mark.PARTLY if situation.needed_by else Mark.FAILED


def _with_noise_named(outcome: SituationOutcome, outcomes: list[SituationOutcome]) -> SituationOutcome:
    """Put `OF_NOISE` before the hint of a bot that failed at the noise, and in no other situation in the same way."""
    failure = outcome.failure
    if failure is None or outcome.situation.twist is not Twist.NOISE or outcome.mark is not Mark.FAILED:
        return outcome
    others = [other.failure for other in outcomes if other is not outcome and other.failure]
    if failure.hint in [other.hint for other in others]:
        return outcome
    return replace(outcome, failure=replace(failure, hint="; ".join(filter(None, (OF_NOISE, failure.hint)))))


def _why_not(outcomes: list[SituationOutcome]) -> str:
    """Return why the rest is not tried, or an empty string."""
    tried = [outcome for outcome in outcomes if outcome.mark is not Mark.NOT_APPLICABLE]
    failures = [outcome.failure for outcome in tried if outcome.mark is Mark.FAILED]
    if failures and (tried[0].situation.twist is Twist.NO_GAME and tried[0].mark is Mark.FAILED):
        return "the bot did not start"
    kinds = Counter((failure.reason, failure.mistake) for failure in failures if failure)
    if kinds and kinds.most_common(1)[0][1] >= SAME_MISTAKES:
        return f"the bot failed {SAME_MISTAKES} times for the same reason"
    games = [outcome for outcome in tried if outcome.situation.twist is not Twist.NO_GAME]
    if len(failures) == len(games) >= 2:
        return "every game failed"
    return ""
