"""Rate the checkpoints of a training: each one plays a ladder of bots, and gets an Elo number with its interval."""

import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arena.api.leagues import League
from arena.api.matches import OnResult
from arena.bots.loading import load_bot
from arena.bots.samples import bot_path
from arena.errors import UsageError
from arena.league.store import Store
from arena.report.placings import stored_table

LADDER = ("drifter", "raider", "warden")
"""Sample bots of rising strength; the first of a ladder is the zero of its ratings."""
POLICY = "policy"
"""The name of a checkpoint in a bot's folder, before its ending."""
_NAME_LINE = re.compile(r"^name\s*=.*$", re.MULTILINE)


@dataclass(frozen=True)
class RatedCheckpoint:
    """A checkpoint's Elo above the first bot of the ladder, with the ends of the 95% interval, None where it is open.

    `scores` has the points per game against each bot of the ladder.
    """

    name: str
    elo: float | None
    low: float | None
    high: float | None
    games: int
    forfeits: int
    scores: Mapping[str, float]

    def __str__(self) -> str:
        low, elo, high = ("?" if end is None else f"{end:+.0f}" for end in (self.low, self.elo, self.high))
        scores = ", ".join(f"{name} {score:.1%}" for name, score in self.scores.items())
        lost = f", {self.forfeits} forfeited" if self.forfeits else ""
        return f"{self.name}: {elo} Elo ({low} to {high}) in {self.games} games{lost}; {scores}"


class CheckpointLeague:
    """A callback for trainers: `play(file)` lets a checkpoint play the ladder and returns its rating.

    `bot` is a folder that `arena new NAME --language policy` wrote. Each checkpoint plays in a copy of it, kept in the
    folder `checkpoints` beside the `store`, under a name of its own. The ladder's bots play each other once, before
    the first checkpoint. Games that are in the store are not played again, so a training may be resumed. Options are
    those of `arena.League`; `games` are those with each bot of the ladder, an even number, as colours change.
    """

    def __init__(
        self,
        store: Path | str,
        bot: Path | str,
        *,
        ladder: Sequence[str] = LADDER,
        games: int = 20,
        **options: Any,
    ) -> None:
        self._store, self._bot, self._options = Path(store), Path(bot), options
        self._ladder = tuple(ladder)
        if not (self._bot / "bot.toml").is_file():
            raise UsageError(f"{bot}: expected the folder of a bot, with a bot.toml. arena new makes one.")
        if not self._ladder or type(games) is not int or games < 2 or games % 2:
            raise UsageError(f"games: expected an even number from 2 and a ladder of bots, got {games!r} and {ladder}")
        self._rounds, self._zero = games // 2, load_bot(bot_path(self._ladder[0])).name

    def play(self, checkpoint: Path | str, name: str = "", *, on_result: OnResult | None = None) -> RatedCheckpoint:
        """Play a checkpoint (`.npz` or `.pt`) against each bot of the ladder; its `name` is otherwise the file's."""
        if len(self._ladder) > 1:
            with self._league(*self._ladder) as league:
                league.run(self._rounds, on_result=on_result)
        folder = self._copy(Path(checkpoint), name or Path(checkpoint).stem)
        with self._league(folder, *self._ladder) as league:
            played = league.run(self._rounds, format="gauntlet", challengers=1, on_result=on_result)
        line = played[folder.name]
        with Store(self._store, create=False) as store:
            table = stored_table(store, everyone=True, anchor=self._zero).table
        rated = next(each for each in table.lines if each.digest == line.digest)
        met = played.table.crosstable.row(line.name)
        scores = {opponent: each.points / each.games for opponent, each in met.items()}
        return RatedCheckpoint(line.name, rated.elo, rated.elo_low, rated.elo_high, line.games, line.forfeits, scores)

    def _league(self, *bots: Path | str) -> League:
        league = League(self._store, **self._options)
        league.add(*bots)
        return league

    def _copy(self, checkpoint: Path, name: str) -> Path:
        """Write the bot with this checkpoint into a folder of its own."""
        if not checkpoint.is_file():
            raise UsageError(f"{checkpoint}: expected a checkpoint, found no such file")
        folder = self._store.parent / "checkpoints" / name
        shutil.copytree(
            self._bot, folder, ignore=shutil.ignore_patterns("__pycache__", f"{POLICY}.*"), dirs_exist_ok=True
        )
        for old in folder.glob(f"{POLICY}.*"):
            old.unlink()  # of another kind, from an earlier training
        shutil.copyfile(checkpoint, folder / f"{POLICY}{checkpoint.suffix}")
        manifest = folder / "bot.toml"
        manifest.write_text(_NAME_LINE.sub(f'name = "{name}"', manifest.read_text("utf-8"), count=1), "utf-8")
        return folder
