"""Who is to be played no more, since copies of bots have changed on workers while games were played. Pure.

That happens at the default level of the sandbox, where bots can write to their own files and to those of others. A bot
whose copy has changed while it played has most likely written there itself. But where a copy has changed of a bot that
did not play, or that has played before without that, somebody else has done it: who played each time, and is the only
one, or the only one who has never played without such a change. A hint and no proof, so that nobody forfeits for it.

In a batch of many games anybody may have done it: such a change counts for nothing but that games are sent one by one
from then on.
"""

from collections import Counter
from collections.abc import Collection, Mapping

MOST_SPOILT = 3
"""So often copies may change."""
CLEAN_ENOUGH = 20
"""So many batches without a change, and workers have as many games at a time as before."""
IN_A_GAME = 2
MOST_UNTOLD = 2 * MOST_SPOILT
"""So often copies may change by somebody else, and nobody can be told to have done it."""
NAMED = 3
CURE = "--sandbox bwrap has no bot write to any bot's files"
OWN = f"what it writes itself can be named under ignore in its bot.toml; {CURE}"


class Spoils:
    """What has happened to copies in one run."""

    def __init__(self) -> None:
        self.is_careful = False
        """Whether each worker is to have one game at a time, so that it shows in which one copies change."""
        self._clean = 0
        """Batches without a change since the last change."""
        self._cleared: set[str] = set()
        """Who has played without a change."""
        self._own: Counter[str] = Counter()
        """How often the copy of a bot has changed, most likely by its own doing."""
        self._beside: dict[str, set[str]] = {}
        """Who else played each of these times, by the bot."""
        self._foreign = 0
        """How often a copy has changed by somebody else."""
        self._suspects: set[str] = set()
        """Who played each of these times."""

    def note_clean(self, players: Collection[str]) -> None:
        """These have played a batch of games, and nothing has changed."""
        self._cleared.update(players)
        self._clean += 1
        if self._clean >= CLEAN_ENOUGH:
            self.is_careful = False

    def note(self, changed: Collection[str], players: Collection[str]) -> Mapping[str, str]:
        """Copies of these bots have changed while these were playing; returns who is to be left out, and why."""
        self.is_careful, self._clean = True, 0
        victims, playing = set(changed), set(players)
        if len(playing) > IN_A_GAME:
            return {}
        others = playing - self._cleared - victims
        if victims <= playing and not (victims <= self._cleared and len(others) == 1):
            return self._note_own(victims, playing)
        return self._note_foreign(victims, playing)

    def _note_own(self, victims: set[str], playing: set[str]) -> dict[str, str]:
        for name in victims:
            self._own[name] += 1
            self._beside[name] = self._beside.get(name, playing) & playing - {name}
        return {name: self._why_own(name) for name in sorted(victims) if self._own[name] >= MOST_SPOILT}

    def _why_own(self, name: str) -> str:
        beside = sorted(self._beside[name] - self._cleared)[:NAMED]
        others = f", and each time {', '.join(beside)} played as well" if beside else ""
        return f"{self._own[name]} times its copies have changed while it played{others}; {OWN}"

    def _note_foreign(self, victims: set[str], playing: set[str]) -> dict[str, str]:
        self._suspects = self._suspects & playing if self._foreign else playing
        self._foreign += 1
        suspects = self._suspects - self._cleared or self._suspects
        if self._foreign >= MOST_SPOILT and len(suspects) == 1:
            why = f"{self._foreign} times, each time that it played, copies of other bots have changed; {CURE}"
            left_out = dict.fromkeys(suspects, why)
        elif self._foreign >= MOST_UNTOLD or not suspects:
            why = f"its copies change while others play, and who does it cannot be told; {CURE}"
            left_out = dict.fromkeys(sorted(victims), why)
        else:
            return {}
        self._foreign = 0
        self._own.clear()
        return left_out
