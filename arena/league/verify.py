"""A store checked as a whole: is every game what the store says, and can it have been played so?

Each record is played again through the engine and must give the verdict that is stored; each row must say what its
record says; every id must follow from the settings, the players and a round; the checksums and SQLite's own structures
must be sound. A store that somebody has forged as a whole, consistently, cannot be told from a true one.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace

from arena.game.recheck import check_record
from arena.game.record import GameRecord, RecordError
from arena.game.spec import Player
from arena.league.schedule import Settings, misfit, pair_seed_of, starter
from arena.league.store import Damage, Store
from arena.rules.rule_lines import ruleset_from_lines
from arena.rules.ruleset import Ruleset, RulesetError, Starts

ROUNDS_TRIED = 1000
"""A game's round is not in its record; so many are tried beyond twice the games that its players have played."""

Progress = Callable[[int, int], None]


def verify(store: Store, progress: Progress) -> Iterator[Damage]:
    """All that is wrong with a store, as it is found. `progress` is told how many of how many games are done."""
    yield from store.file_damage()
    contents = store.read()
    yield from (damage for damage in contents.damage if damage.game is None)
    numbers = store.numbers()
    league = League(contents.settings, Counter(frozenset(row.players) for row in contents.rows))
    seen: dict[str, int] = {}
    for done, number in enumerate(numbers, start=1):
        stored = store.stored(number)
        yield from stored.damage
        if stored.record is not None:
            if stored.record.id in seen:
                yield Damage(number, f"it has the id of game {seen[stored.record.id]}")
            seen[stored.record.id] = number
            yield from (Damage(number, words) for words in league.faults(stored.record))
        progress(done, len(numbers))


class League:
    """What the games of one store have in common, and what follows from it for each."""

    def __init__(self, settings: dict[str, str], meetings: Counter[frozenset[Player]]) -> None:
        self._settings = settings
        self._meetings = meetings
        self._pair_seeds: dict[tuple[str, frozenset[Player]], frozenset[int]] = {}
        self._digests: dict[object, str] = {}

    def faults(self, record: GameRecord) -> list[str]:
        """What is wrong with a game, in words."""
        faults = []
        try:
            check_record(record)
        except RecordError as error:
            faults.append(str(error).removeprefix(f"game {record.id}: "))
        words = misfit(record)
        if words:
            faults.append(words)
        try:
            ruleset = ruleset_from_lines(record.ruleset, record.rules)
        except RulesetError:
            return faults  # which the first check has named
        return faults + self._strange(record, ruleset)

    def _strange(self, record: GameRecord, ruleset: Ruleset) -> list[str]:
        """Where a game is not one of this league."""
        if "rules" not in self._settings or not self._settings.get("seed", "").isdecimal():
            return []  # the games were stored without a league
        if "starts chosen" in self._settings["rules"].split("; "):
            if ruleset.starts is not starter(record.pair_seed):
                return ["the other side began than the pair's seed says"]
            ruleset = replace(ruleset, starts=Starts.CHOSEN)
        settings = Settings(ruleset, record.time, int(self._settings["seed"]))
        faults = [
            f"it was played under {name} {value!r}, and the store is for {self._settings[name]!r}"
            for name, value in settings.described().items()
            if name != "pondering" and self._settings.get(name, value) != value
        ]
        if not faults and record.pair_seed not in self._seeds(settings, record.players):
            faults.append("its pair's seed follows from no round of this league")
        return faults

    def _seeds(self, settings: Settings, players: tuple[Player, Player]) -> frozenset[int]:
        """What names the pairs of games that these two can have played."""
        key = (settings.ruleset, settings.time)
        if key not in self._digests:
            self._digests[key] = settings.digest()
        common, who = self._digests[key], frozenset(players)
        if (common, who) not in self._pair_seeds:
            rounds = 2 * self._meetings[who] + ROUNDS_TRIED
            self._pair_seeds[common, who] = frozenset(pair_seed_of(common, players, number) for number in range(rounds))
        return self._pair_seeds[common, who]
