"""The pytest plugin: matches in tests, and how they went where such a test fails.

    def test_beats_raider(arena_play):
        assert arena_play("./mine", "raider", games=20).score > 0.8

The trap: pytest imports this module at each start wherever the arena is installed, so what takes time to import is
imported when the first match is played.
"""

import os
from collections import Counter
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from arena.api import MatchResult
    from arena.api.keywords import GameWord, Rules

USUAL_GAMES = 20
NUMBERS = ("games", "seed", "jobs")
OPTIONS = {
    "games": f"how many games a match has (default: {USUAL_GAMES})",
    "time": "the time control, as of 'arena match' (default: 100ms)",
    "game": "the game: a name, or a Python file (default: Stratego)",
    "rules": "the rules of the game (default: isf)",
    "sandbox": "isolation level: basic, bwrap, cgroup or auto (default: basic)",
    "seed": "the seed of all random numbers (default: 1)",
    "jobs": "games at a time (default: the usable CPUs)",
    "openings": "a file of set-ups that games begin with (default: the bots set up)",
}
"""Options of all matches: `--arena-NAME`, else `arena_NAME` in pytest's configuration."""
STDERR_LINES = 10

Word = str | os.PathLike[str]


@dataclass(frozen=True)
class _Played:
    """A match that a test has played."""

    test: str
    title: str
    result: "MatchResult"
    store: Path


@dataclass
class _Session:
    """The options of all matches, the id of the running test, and the matches played so far."""

    said: Mapping[str, str | int]
    test: str = ""
    played: list[_Played] = field(default_factory=list)


_SESSION = pytest.StashKey[_Session]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("arena", "matches of bots (stratego-arena)")
    for name, words in OPTIONS.items():
        note = f"{words}; a call of arena_play overrides it"
        group.addoption(f"--arena-{name}", dest=f"arena_{name}", metavar=name.upper(), help=f"arena_play: {note}")
        parser.addini(f"arena_{name}", f"arena_play: {note}", type="string", default=None)


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_SESSION] = _Session({name: value for name in OPTIONS if (value := _said(config, name)) is not None})


def _said(config: pytest.Config, name: str) -> str | int | None:
    for where, value in (
        (f"--arena-{name}", config.getoption(f"arena_{name}")),
        (f"arena_{name} in {config.inipath}", config.getini(f"arena_{name}")),
    ):
        if value is None:
            continue
        if name not in NUMBERS:
            return str(value)
        if not (value.isascii() and value.isdigit()):
            raise pytest.UsageError(f"{where}: expected a whole number, got {value!r}")
        return int(value)
    return None


class ArenaPlay:
    """Plays a match between two bots when called: the value of the fixture `arena_play`."""

    def __init__(self, session: _Session, folder: Path) -> None:
        self._session = session
        self._folder = folder

    def __call__(
        self,
        first: Word,
        second: Word,
        *,
        games: int | None = None,
        time: str | tuple[str, str] | None = None,
        game: "GameWord | None" = None,
        rules: "Rules | None" = None,
        sandbox: str | None = None,
        seed: int | None = None,
        jobs: int | None = None,
        openings: Word | None = None,
    ) -> "MatchResult":
        """Play a match, with the defaults of `--arena-NAME`, of the configuration, or else of `arena.match` (20 games).

        A bot is a path, from the current folder, or the bare name of a sample bot. Fails the test, without an inner
        traceback, for an unknown bot or an invalid option; a bot that crashes only loses its game.
        """
        asked = {name: value for name, value in locals().items() if name in OPTIONS and value is not None}
        __tracebackhide__ = True
        store = self._folder / f"match-{len(self._session.played) + 1}.sqlite"
        result = _play(first, second, store, {"games": USUAL_GAMES, **self._session.said, **asked})
        if isinstance(result, str):
            pytest.fail(f"arena_play: {result}")
        title = f"{os.fspath(first)} against {os.fspath(second)}"
        self._session.played.append(_Played(self._session.test, title, result, store))
        return result


def _play(first: Word, second: Word, store: Path, options: Mapping[str, Any]) -> "MatchResult | str":
    import arena

    try:
        return arena.match(first, second, store=store, **options)
    except arena.ArenaError as error:
        return str(error)


@pytest.fixture(scope="session")
def arena_play(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> ArenaPlay:
    """arena_play(first, second, games=20, rules="isf", time="100ms", ...): the result of a match between two bots."""
    return ArenaPlay(pytestconfig.stash[_SESSION], tmp_path_factory.mktemp("arena"))


# --- what is told of a test that fails --------------------------------------------------------------------------------


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    item.config.stash[_SESSION].test = item.nodeid


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.failed and report.when != "teardown":
        used = [id(value) for value in getattr(item, "funcargs", {}).values()]  # of fixtures of a wider scope
        for played in item.config.stash[_SESSION].played:
            if played.test == item.nodeid or id(played.result) in used:
                report.sections.append((f"arena: {played.title}", describe(played.result, played.store)))
    return report


def describe(result: "MatchResult", store: Path) -> str:
    lines = [
        f"score {result.score:.3f} in {len(result.records)} games: "
        f"{result.wins} won, {result.draws} drawn, {result.losses} lost"
    ]
    reasons = Counter(record.verdict.reason.value for record in result.records)
    lines.append("ended by " + ", ".join(f"{reason} ({count})" for reason, count in reasons.most_common()))
    seen: set[str] = set()
    for number, record in sorted(zip(result.numbers, result.records, strict=True), key=itemgetter(0)):
        if not record.verdict.reason.is_forfeit:
            continue
        for color, player in enumerate(record.players):
            if record.verdict.result.winner != color and player.name not in seen:
                seen.add(player.name)
                lines.append(f"first forfeit of {player.name}, game {number}: {record.verdict.detail}")
                stderr = record.stderr[color].strip().splitlines()
                lines += [f"    stderr: {line}" for line in stderr[-STDERR_LINES:]]
    return "\n".join([*lines, f"to see a game: arena show {store} 1"])
