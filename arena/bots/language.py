"""What a bot is written in, as far as its command, its build and the names of its files tell. Nothing is run."""

import re
from collections import Counter
from pathlib import Path, PurePath

from arena.bots.program_files import FIRST_LINE, SCRIPT_MARK
from arena.bots.spec import BotSpec
from arena.game.hints.values import Language
from arena.system.user_files import read_start

_BY_ENDING = {
    ".py": Language.PYTHON,
    ".pyz": Language.PYTHON,
    ".c": Language.C,
    ".cc": Language.CPP,
    ".cpp": Language.CPP,
    ".cxx": Language.CPP,
    ".rs": Language.RUST,
    ".go": Language.GO,
    ".java": Language.JAVA,
    ".jar": Language.JAVA,
    ".class": Language.JAVA,
    ".kt": Language.JAVA,
    ".js": Language.JAVASCRIPT,
    ".mjs": Language.JAVASCRIPT,
    ".cjs": Language.JAVASCRIPT,
    ".ts": Language.JAVASCRIPT,
    ".sh": Language.SHELL,
    ".bash": Language.SHELL,
}
_PROGRAMS = (
    (re.compile(r"^(?:python|pypy)[\d.]*$"), Language.PYTHON),
    (re.compile(r"^(?:java)$"), Language.JAVA),
    (re.compile(r"^(?:node|nodejs|deno|bun)$"), Language.JAVASCRIPT),
    (re.compile(r"^(?:sh|bash|dash|zsh|ksh)$"), Language.SHELL),
    (re.compile(r"^(?:gcc|cc|clang)$"), Language.C),
    (re.compile(r"^(?:g\+\+|c\+\+|clang\+\+)$"), Language.CPP),
    (re.compile(r"^(?:cargo|rustc)$"), Language.RUST),
    (re.compile(r"^(?:go)$"), Language.GO),
    (re.compile(r"^(?:javac|mvn|gradle)$"), Language.JAVA),
)
SHELLS = frozenset({Language.SHELL, Language.UNKNOWN})


def language_of(bot: BotSpec) -> Language:
    """Guess the language of a bot. A shell script next to files of another language most likely only starts these."""
    if bot.language is not None:
        return bot.language
    found = _of_words(bot.command)
    if found is Language.UNKNOWN:
        found = _of_script(bot)
    if found in SHELLS and bot.build:
        built = _of_words(re.split(r"[\s;&|]+", bot.build))
        found = found if built in SHELLS else built
    if found in SHELLS:
        counted = Counter(_BY_ENDING.get(PurePath(name).suffix.lower(), Language.UNKNOWN) for name in bot.files)
        others = [language for language, _ in counted.most_common() if language not in SHELLS]
        found = others[0] if others else found
    return found


def _of_words(words: tuple[str, ...] | list[str]) -> Language:
    """By the first word that names a program or a source file of a language that is known."""
    for word in words:
        name = PurePath(word).name
        for pattern, language in _PROGRAMS:
            if pattern.match(name):
                return language
        ending = PurePath(name).suffix.lower()
        if ending in _BY_ENDING:
            return _BY_ENDING[ending]
    return Language.UNKNOWN


def _of_script(bot: BotSpec) -> Language:
    """By the first line of the file that the command begins with."""
    try:
        start = read_start(Path(bot.command[0]), FIRST_LINE, follow=True)
    except (OSError, ValueError, IndexError):  # no such file, no name of a file, no command
        return Language.UNKNOWN
    if not start.startswith(SCRIPT_MARK):
        return Language.UNKNOWN
    line = start[len(SCRIPT_MARK) :].partition(b"\n")[0].decode("utf-8", "replace")
    return _of_words([word.strip() for word in line.split()])
