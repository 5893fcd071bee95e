"""Languages of bots: those with a template (`arena.bots.new`), and a guess of what a bot is written in.

The templates are the folders of `arena/templates`, one per language and one that all share.
"""

import re
import shutil
from collections import Counter
from dataclasses import dataclass
from pathlib import Path, PurePath

from arena.bots.program_files import FIRST_LINE, SCRIPT_MARK
from arena.bots.spec import BotSpec
from arena.errors import UsageError, suggest
from arena.game.hints import ProgramLanguage
from arena.system.printable import printable, shown
from arena.system.user_files import read_start

TEST_SCRIPT = "sh test.sh"


@dataclass(frozen=True)
class Tool:
    program: str
    packages: str

    @property
    def is_missing(self) -> bool:
        return shutil.which(self.program) is None


@dataclass(frozen=True)
class Language:
    """A language with a template: `name` as on the command line, with `aliases`; `title` in sentences.

    `source` is the file for the author's own code, `test` the command that tests a bot in its folder, `needs` the
    requirements in words. `makes` is the line for .gitignore: files of builds and tests. `shares` are files of other
    languages' templates that a bot gets, too.
    """

    name: str
    title: str
    folder: str
    source: str
    needs: str
    makes: str
    tools: tuple[Tool, ...] = ()
    test: str = TEST_SCRIPT
    aliases: tuple[str, ...] = ()
    note: str = ""
    shares: tuple[str, ...] = ()


_KIT = (
    "`python3 bot.py --play-itself` plays a whole game of the bot against itself and prints it; what the bot raises "
    "is shown\nwith its traceback. It has to be the Python that the arena is installed in. All that `view` knows "
    "is in the arena's\n`docs/kit.md`."
)
_POLICY = (
    "`policy.npz` in this folder has the network's weights (`numpy.savez`), and in `setups` its set-ups if it has any; "
    "they may\nalso be lines of `setups.txt`. The file is part of what the bot is: with other weights it is another "
    "bot in tables. `bot.py`\nimports `arena.learn.observation`, so it has to run in the Python that the arena is "
    "installed in. How to train: the arena's\n`docs/learning.md`."
)
_JVM = (
    "`-Xmx256m` in `bot.toml` keeps the heap within the 512 MB that a bot usually has, and `-J-Xmx256m` that of the "
    "compiler;\nelse Java takes their sizes from the machine's memory. `-J-XX:TieredStopAtLevel=1` "
    "lets the compiler\nfinish sooner."
)

LANGUAGES = (
    Language(
        name="python",
        title="Python, with the arena's kit",
        folder="python",
        source="bot.py",
        needs="only the arena",
        makes="__pycache__/",
        test="python3 -m unittest",
        aliases=("py", "python3"),
        note=_KIT,
    ),
    Language(
        name="python-plain",
        title="Python, without the arena's kit",
        folder="python_plain",
        source="bot.py",
        needs="Python 3.10 or later",
        makes="__pycache__/",
        test="python3 -m unittest",
    ),
    Language(
        name="policy",
        title="Python, for a trained network",
        folder="policy",
        source="network.py",
        needs="only the arena (and its numpy)",
        makes="__pycache__/",
        test="python3 -m unittest",
        note=_POLICY,
        shares=("python/test_bot.py",),
    ),
    Language(
        name="c",
        title="C",
        folder="c",
        source="bot.c",
        needs="a C compiler (Debian: gcc libc6-dev)",
        makes="/bot",
        tools=(Tool("cc", "gcc libc6-dev"),),
    ),
    Language(
        name="c++",
        title="C++",
        folder="cpp",
        source="bot.cpp",
        needs="a C++ compiler (Debian: g++)",
        makes="/bot",
        tools=(Tool("c++", "g++"),),
        aliases=("cpp", "cxx", "cc"),
    ),
    Language(
        name="rust",
        title="Rust",
        folder="rust",
        source="src/main.rs",
        needs="Rust 1.61 or later (Debian: cargo) and no crates",
        makes="/target/",
        tools=(Tool("cargo", "cargo"),),
        test="cargo test --offline",
        aliases=("rs",),
    ),
    Language(
        name="go",
        title="Go",
        folder="go",
        source="bot.go",
        needs="Go 1.19 or later (Debian: golang-go) and no modules",
        makes="/bot",
        tools=(Tool("go", "golang-go"),),
        test="go test",
        aliases=("golang",),
    ),
    Language(
        name="java",
        title="Java",
        folder="java",
        source="Bot.java",
        needs="a JDK of version 11 or later (Debian: default-jdk-headless)",
        makes="/build/",
        tools=(Tool("javac", "default-jdk-headless"), Tool("java", "default-jdk-headless")),
        note=_JVM,
    ),
    Language(
        name="javascript",
        title="JavaScript",
        folder="javascript",
        source="bot.js",
        needs="Node.js 18 or later (Debian: nodejs) and no packages",
        makes="node_modules/",
        tools=(Tool("node", "nodejs"),),
        test="node --test",
        aliases=("js", "node", "nodejs"),
    ),
    Language(
        name="shell",
        title="POSIX shell",
        folder="shell",
        source="bot.sh",
        needs="only a POSIX system",
        makes="",
        aliases=("sh", "posix", "bash"),
    ),
)
DEFAULT = LANGUAGES[0]
_OTHER_ENDINGS = {".cc": "c++", ".cxx": "c++", ".mjs": "javascript", ".cjs": "javascript"}
"""Endings of source files other than those of the templates."""


def needed(program: str) -> str:
    """Describe a needed program: for `cc` "a C compiler", otherwise the program's name."""
    for language in LANGUAGES:
        if any(tool.program == program for tool in language.tools):
            return language.needs.partition(" (")[0]
    return printable(program, 100)


def language_of_source(ending: str) -> Language | None:
    """Return the language of source files with this ending, such as `.c`; None if no template has it."""
    for language in LANGUAGES:
        if ending and (language.source.endswith(ending) or _OTHER_ENDINGS.get(ending) == language.name):
            return language
    return None


def find_language(word: str) -> Language:
    """Return the language of a name or alias, in any case. Raises `UsageError` with the known ones."""
    wanted = word.strip().lower()
    for language in LANGUAGES:
        if wanted in (language.name, *language.aliases):
            return language
    names = [language.name for language in LANGUAGES]
    hint = suggest(wanted, names)
    known = "" if hint.startswith("known") else f"; known are {', '.join(names)}"
    raise UsageError(
        f"--language {shown(word)}: there is no template for it: {hint}{known}. A bot in any other language needs only "
        "docs/protocol.md"
    )


_SIGNS = {
    ProgramLanguage.PYTHON: ("python", "pypy", ".py", ".pyz"),
    ProgramLanguage.C: ("gcc", "cc", "clang", ".c"),
    ProgramLanguage.CPP: ("g++", "c++", "clang++", ".cc", ".cpp", ".cxx"),
    ProgramLanguage.RUST: ("cargo", "rustc", ".rs"),
    ProgramLanguage.GO: ("go", ".go"),
    ProgramLanguage.JAVA: ("java", "javac", "mvn", "gradle", ".java", ".jar", ".class", ".kt"),
    ProgramLanguage.JAVASCRIPT: ("node", "nodejs", "deno", "bun", ".js", ".mjs", ".cjs", ".ts"),
    ProgramLanguage.SHELL: ("sh", "bash", "dash", "zsh", "ksh", ".sh", ".bash"),
}
"""Programs and endings of files by which a language is known."""
_BY_SIGN = {sign: language for language, signs in _SIGNS.items() for sign in signs}
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
        counted = Counter(_BY_SIGN.get(PurePath(name).suffix.lower(), ProgramLanguage.UNKNOWN) for name in bot.files)
        others = [language for language, _ in counted.most_common() if language not in SHELLS]
        found = others[0] if others else found
    return found


def _of_words(words: tuple[str, ...] | list[str]) -> ProgramLanguage:
    for word in words:
        name = PurePath(word).name
        found = _BY_SIGN.get(name.rstrip("0123456789.")) or _BY_SIGN.get(PurePath(name).suffix.lower())
        if found:
            return found
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
