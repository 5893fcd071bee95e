"""The list of commands, and the output of `arena --help` and `arena --version`, which imports nothing slow."""

from arena.version import __version__

COMPLETION_VARIABLE = "_ARENA_COMPLETE"
"""Set by the shell's function when a line is to be completed."""

COMMANDS = (
    ("Write", "new", "create a bot, in one of eight languages"),
    ("Write", "new-game", "create a game of your own, with tests and two bots"),
    ("Write", "check", "check whether a bot is ready for a league"),
    ("Play", "league", "play a league, in one of six formats"),
    ("Play", "match", "play games between two bots"),
    ("Play", "compare", "test whether a new bot is better than an old one"),
    ("Play", "play", "play against a bot"),
    ("Play", "resume", "resume a game that 'arena match --pause' saved"),
    ("Look", "standings", "print the standings of a store"),
    ("Look", "games", "list the games of a store"),
    ("Look", "bots", "list the bots of a store and their versions"),
    ("Look", "report", "write the standings and games as web pages"),
    ("Look", "serve", "serve these web pages, with live updates"),
    ("Look", "openings", "count which pieces games begin with where"),
    ("Look", "show", "print a game as boards, move by move"),
    ("Look", "log", "print every line that was sent in a game"),
    ("Check", "rerun", "play a stored game again, and compare"),
    ("Check", "verify", "verify a store by replaying all its games"),
    ("Keep", "export", "export the games of a store as JSON lines"),
    ("Keep", "import", "import exported games, or another store"),
    ("Host", "host", "host a competition that takes bots over the web"),
    ("Host", "submit", "send a bot to such a competition"),
    ("Help", "rules", "list the rulesets, or explain one"),
    ("Help", "doctor", "show which sandboxes work on this machine"),
    ("Help", "completion", "set up completion in your shell"),
)
"""By command: the heading in the list, the name, and a description. Its module is `cmd_NAME`."""

NAMES = tuple(name for _, name, _ in COMMANDS)

MEANT = {
    **dict.fromkeys(("init", "create", "template"), "new"),
    **dict.fromkeys(("test", "validate", "lint"), "check"),
    **dict.fromkeys(("tournament", "round-robin"), "league"),
    **{name: f"league --format {name}" for name in ("gauntlet", "swiss", "knockout", "ladder")},
    **dict.fromkeys(("run", "game", "fight", "duel"), "match"),
    "sprt": "compare",
    **dict.fromkeys(("continue", "pause"), "resume"),
    **dict.fromkeys(("table", "ranking", "ratings", "elo", "crosstable"), "standings"),
    **dict.fromkeys(("list", "ls", "faults"), "games"),
    **dict.fromkeys(("html", "pages"), "report"),
    **dict.fromkeys(("web", "watch", "server"), "serve"),
    **dict.fromkeys(("replay", "view", "board"), "show"),
    **dict.fromkeys(("dialogue", "stderr", "debug"), "log"),
    **dict.fromkeys(("variants", "rulesets"), "rules"),
    **dict.fromkeys(("sandbox", "sandboxes"), "doctor"),
}
"""Words that a user may take for a command, and the command to suggest."""

EXAMPLES = (
    ("arena match mine.py warden --games 10", "your bot against a sample bot"),
    ("arena league bots/*", "all bots of a folder"),
)
HEAD = f"Usage: arena COMMAND ...  (details: COMMAND --help)  e.g. {EXAMPLES[-1][0]}\n"


def help_text() -> str:
    lines = [HEAD]
    width = max(map(len, NAMES))
    before = ""
    for heading, name, words in COMMANDS:
        lines.append(f"{heading if heading != before else '':5} {name:{width}}  {words}\n")
        before = heading
    return "".join(lines)


def version_text() -> str:
    from protocol.messages import PROTOCOL_VERSION

    return f"arena, version {__version__} (protocol version {PROTOCOL_VERSION})\n"


TEXTS = {"--help": help_text, "-h": help_text, "--version": version_text}
