"""The batches that a station has: which of their games are to be begun, under way and over. Nothing is played here.

A game may be asked for a second time while it is here: the arena has lost its connection, or a reply has. Then it goes
over to the newer batch, as far as it has come, and is not played twice.
"""

from collections.abc import Iterable

from arena.league.executor.cluster.messages import Batch, BatchPlayed
from arena.league.executor.task import Failed, GameTask, NotPlayed, Said


class BatchUnderWay:
    """A batch, and what has come of it since the arena was last told."""

    def __init__(self, number: int, games: Iterable[str], load: float) -> None:
        self.number = number
        self.load = load
        self.waiting = set(games)
        """Those that have not been begun."""
        self.open = set(self.waiting)
        self.records: dict[str, bytes] = {}
        self.others: list[NotPlayed | Failed | Said] = []
        self.back: list[str] = []
        self.begun_at: dict[str, float] = {}
        self.seconds = 0.0
        """How long the games of these records were under way, together."""

    def give_back(self) -> None:
        """What has not been begun will not be."""
        self.back += sorted(self.waiting)
        self.open -= self.waiting
        self.waiting.clear()

    def take_over(self, game: str, older: "BatchUnderWay") -> bool:
        """A game of this one is here already, in an older one: take it over. Returns whether that is so."""
        if game in older.open:
            older.open.discard(game)
            if game in older.waiting:
                older.waiting.discard(game)
            else:
                self.waiting.discard(game)
            if game in older.begun_at:
                self.begun_at[game] = older.begun_at.pop(game)
            return True
        told = [other for other in older.others if not isinstance(other, Said) and other.id == game]
        if game not in older.records and not told:
            return False
        if game in older.records:
            self.records[game] = older.records.pop(game)
        older.others = [other for other in older.others if other not in told]
        self.others += told
        self.open.discard(game)
        self.waiting.discard(game)
        return True

    def told(self) -> BatchPlayed:
        """What there is to tell of it; after that there is nothing, until there is more."""
        answer = BatchPlayed(
            tuple(self.records.values()), tuple(self.others), tuple(self.back), self.seconds, self.load
        )
        self.records, self.others, self.back, self.seconds = {}, [], [], 0.0
        return answer


class Batches:
    """All batches of a station, the oldest first."""

    def __init__(self) -> None:
        self._batches: list[BatchUnderWay] = []

    def add(self, number: int, batch: Batch, load: float) -> tuple[BatchUnderWay, list[GameTask]]:
        """A further batch has come; returns it with the tasks of it that are to be played."""
        new = BatchUnderWay(number, (game.id for task in batch.tasks for game in task.games), load)
        tasks: list[GameTask] = []
        for task in batch.tasks:
            left = [game for game in task.games if not any(new.take_over(game.id, older) for older in self._batches)]
            tasks += [task] if len(left) == len(task.games) else [GameTask(game) for game in left]
        self._batches.append(new)
        return new, tasks

    def of(self, game: str) -> BatchUnderWay:
        """The batch that a game is of which is not over."""
        return next(batch for batch in self._batches if game in batch.open)

    def note_begun(self, game: str, now: float) -> BatchUnderWay | None:
        """A game has been begun at this time; returns its batch if no game of that is left to begin."""
        batch = self.of(game)
        batch.waiting.discard(game)
        batch.begun_at[game] = now
        return None if batch.waiting else batch

    def note_lost(self, game: str) -> None:
        """A game that was under way is to be begun again."""
        self.of(game).waiting.add(game)

    def note_played(self, game: str, record: bytes, now: float) -> BatchUnderWay:
        """A game is over, with this record."""
        batch = self.of(game)
        batch.open.discard(game)
        batch.records[game] = record
        batch.seconds += now - batch.begun_at.pop(game, now)
        return batch

    def note_other(self, game: str, outcome: NotPlayed | Failed) -> BatchUnderWay:
        """A game is over, and has no record."""
        batch = self.of(game)
        batch.open.discard(game)
        batch.others.append(outcome)
        return batch

    def has_open(self, game: str) -> bool:
        """Whether a game is here that is not over."""
        return any(game in batch.open for batch in self._batches)

    @property
    def numbers(self) -> list[int]:
        """Those of the batches that are here."""
        return [batch.number for batch in self._batches]

    def note_said(self, line: Said) -> None:
        """There is something to tell the user."""
        if self._batches:
            self._batches[0].others.append(line)

    def take_finished(self) -> list[BatchUnderWay]:
        """Those that are over, which are no longer here then."""
        finished = [batch for batch in self._batches if not batch.open]
        self._batches = [batch for batch in self._batches if batch.open]
        return finished

    def give_back(self) -> None:
        """What has not been begun will not be."""
        for batch in self._batches:
            batch.give_back()

    def told(self) -> BatchPlayed:
        """What there is to tell of all of them so far."""
        told = [batch.told() for batch in self._batches]
        return BatchPlayed(
            tuple(record for one in told for record in one.records),
            tuple(other for one in told for other in one.others),
            tuple(game for one in told for game in one.back),
            sum(one.seconds for one in told),
            max((one.load for one in told), default=0.0),
        )
