"""Guess the language of a bot by its command, its build and the names of its files."""

import re
from collections import Counter
from pathlib import Path, PurePath

from arena.bots.program_files import FIRST_LINE, SCRIPT_MARK
from arena.bots.spec import BotSpec
from arena.game.hints.seen import ProgramLanguage
from arena.system.user_files import read_start

_BY_ENDING = {
    ".py": ProgramLanguage.PYTHON,
    ".pyz": ProgramLanguage.PYTHON,
    ".c": ProgramLanguage.C,
    ".cc": ProgramLanguage.CPP,
    ".cpp": ProgramLanguage.CPP,
    ".cxx": ProgramLanguage.CPP,
    ".rs": ProgramLanguage.RUST,
    ".go": ProgramLanguage.GO,
    ".java": ProgramLanguage.JAVA,
    ".jar": ProgramLanguage.JAVA,
    ".class": ProgramLanguage.JAVA,
    ".kt": ProgramLanguage.JAVA,
    ".js": ProgramLanguage.JAVASCRIPT,
    ".mjs": ProgramLanguage.JAVASCRIPT,
    ".cjs": ProgramLanguage.JAVASCRIPT,
    ".ts": ProgramLanguage.JAVASCRIPT,
    ".sh": ProgramLanguage.SHELL,
    ".bash": ProgramLanguage.SHELL,
}
_PROGRAMS = (
    (re.compile(r"^(?:python|pypy)[\d.]*$"), ProgramLanguage.PYTHON),
    (re.compile(r"^(?:java)$"), ProgramLanguage.JAVA),
    (re.compile(r"^(?:node|nodejs|deno|bun)$"), ProgramLanguage.JAVASCRIPT),
    (re.compile(r"^(?:sh|bash|dash|zsh|ksh)$"), ProgramLanguage.SHELL),
    (re.compile(r"^(?:gcc|cc|clang)$"), ProgramLanguage.C),
    (re.compile(r"^(?:g\+\+|c\+\+|clang\+\+)$"), ProgramLanguage.CPP),
    (re.compile(r"^(?:cargo|rustc)$"), ProgramLanguage.RUST),
    (re.compile(r"^(?:go)$"), ProgramLanguage.GO),
    (re.compile(r"^(?:javac|mvn|gradle)$"), ProgramLanguage.JAVA),
)
SHELLS = frozenset({ProgramLanguage.SHELL, ProgramLanguage.UNKNOWN})


def language_of(bot: BotSpec) -> ProgramLanguage:
    """Guess the language of a bot. A shell script next to files of another language most likely only starts these."""
    if bot.language is not None:
        return bot.language
    found = _of_words(bot.command)
    if found is ProgramLanguage.UNKNOWN:
        found = _of_script(bot)
    if found in SHELLS and bot.build:
        built = _of_words(re.split(r"[\s;&|]+", bot.build))
        found = found if built in SHELLS else built
    if found in SHELLS:
        counted = Counter(_BY_ENDING.get(PurePath(name).suffix.lower(), ProgramLanguage.UNKNOWN) for name in bot.files)
        others = [language for language, _ in counted.most_common() if language not in SHELLS]
        found = others[0] if others else found
    return found


def _of_words(words: tuple[str, ...] | list[str]) -> ProgramLanguage:
    for word in words:
        name = PurePath(word).name
        for pattern, language in _PROGRAMS:
            if pattern.match(name):
                return language
        ending = PurePath(name).suffix.lower()
        if ending in _BY_ENDING:
            return _BY_ENDING[ending]
    return ProgramLanguage.UNKNOWN


def _of_script(bot: BotSpec) -> ProgramLanguage:
    try:
        start = read_start(Path(bot.command[0]), FIRST_LINE, follow=True)
    except (OSError, ValueError, IndexError):  # no such file, no name of a file, no command
        return ProgramLanguage.UNKNOWN
    if not start.startswith(SCRIPT_MARK):
        return ProgramLanguage.UNKNOWN
    line = start[len(SCRIPT_MARK) :].partition(b"\n")[0].decode("utf-8", "replace")
    return _of_words([word.strip() for word in line.split()])
