"""The commands by name: what each is for, in a line, and where it is. `arena --help` is made of this alone.

Nothing is imported here, and a command only when it is asked for: `arena --help` has to be quick.
"""

COMMANDS = (
    ("Write", "new", "a first bot, in one of eight languages"),
    ("Write", "check", "whether a bot is ready: a checklist, with what to do"),
    ("Play", "league", "a league between bots, in one of several formats"),
    ("Play", "match", "two bots, a number of games"),
    ("Play", "compare", "whether a new bot is better than an old one"),
    ("Play", "play", "play yourself: against a bot"),
    ("Play", "resume", "go on with a game that 'arena match --pause' saved"),
    ("Look", "standings", "the table of a store again"),
    ("Look", "games", "the games of a store, a line each"),
    ("Look", "bots", "who has played in a store, version by version"),
    ("Look", "report", "the standings and games of a store as web pages"),
    ("Look", "serve", "the same pages live, as games are added"),
    ("Look", "show", "a game, move by move, as boards"),
    ("Look", "log", "every line that was said in a game"),
    ("Check", "rerun", "play a stored game again: is it the same?"),
    ("Check", "verify", "whether a store is sound, every game played again"),
    ("Keep", "export", "the games of a store as lines of JSON"),
    ("Keep", "import", "add exported games, or another store"),
    ("Help", "rules", "the rulesets, or one of them in plain words"),
    ("Help", "doctor", "which sandboxes work on this machine"),
    ("Help", "completion", "have your shell complete commands, bots and games"),
)
"""Under which word a command is listed, its name, and what it does, in the order in which they are listed."""

NAMES = tuple(name for _, name, _ in COMMANDS)
_ELSEWHERE = {"import": "import_", "play": "play_bot"}
"""Modules that are not called as the command is: one name is a keyword, one was that of what leagues print."""


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
"""Words that somebody may take for a command, because others have one of that name or a page here has the word."""


def home_of(name: str) -> tuple[str, str]:
    """The module that has a command, and what the command is called there."""
    plain = name.replace("-", "_")
    return f"arena.cli.{_ELSEWHERE.get(name, plain)}", f"{plain}_command"
