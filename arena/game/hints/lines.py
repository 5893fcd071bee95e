"""What is wrong with a line that a bot has sent, by the words of the fault, which quote it."""

import re
from collections.abc import Sequence

from arena.game.hints.values import Hint, Language, Mistake, Seen
from arena.game.hints.words import DEBUG
from arena.game.view import legal_actions
from protocol.bot_codec import decode_for_bot
from protocol.codec import is_action
from protocol.conversation import Phase
from protocol.lines import MAX_BOT_LINE, RemoteProtocolError
from protocol.messages import Error, Legal, Opponent, Rule
from protocol.notation import BOARD_SIZE, EMPTY, RANK_BY_LETTER, SETUP_ROWS, Reason

VERBS = ("name", "author", "want", "ready", "setup", "move", "note")
_GOT = re.compile(r"got '(.*)'(?:$|; )", re.DOTALL)
_CAME = re.compile(r"'(\w+)' came (.+?);")
_OTHER_PROTOCOLS = re.compile(
    r"^(uci|uciok|readyok|bestmove|id (name|author)|info |option name|xboard|feature |= |usermove|BOARD|OK\b)"
)
_ACTION = re.compile(r"(?<![\w?+-])[a-j](?:10|[1-9])-[a-j](?:10|[1-9])(?![\w?+-])")
_NO_ACTION = re.compile(r"^(?:none|null|nil|undefined|nan|0000|pass|skip)$", re.IGNORECASE)
_ROW = re.compile(r"^[FBSM2-9I.*_]{8,12}(?:[/ ,][FBSM2-9I.*_]{8,12})*$")
_SWAPPED = re.compile(r"^(?:10|[1-9])[a-j]\W?(?:10|[1-9])[a-j]$")
_NEARLY = re.compile(r"^([a-jA-J](?:10|[1-9]))\W*([a-jA-J](?:10|[1-9]))$")
INTRODUCED = ": with name, author and want, as it likes, and then ready"
MOST_ROWS = 12
"""Rows of a set-up that are counted in words."""


def wrong_line(seen: Seen) -> Hint | None:
    """A line that cannot be read, or must not come now."""
    text = seen.fault.text
    if seen.fault.reason is Reason.ILLEGAL_SETUP:
        return _wrong_army(text)
    if "lines without an answer" in text:
        return Hint(Mistake.FLOOD, "it writes without end: it has to wait for its next 'turn' after each answer")
    if "a line of" in text and "bytes" in text:
        words = f"end each line with a newline, and print what is long with {DEBUG[seen.language]}"
        return Hint(Mistake.TOO_LONG, words)
    if match := _CAME.search(text):
        return _out_of_turn(match[1], match[2], seen)
    got = _GOT.search(text)
    line = got[1] if got else ""
    if "printable ASCII" in text:
        return _not_ascii(line, seen.language)
    if "expected 'want'" in text and "got ''" not in text:
        words = "legal, board or both may stand behind 'want', with one space between them"
        return Hint(Mistake.WANTED, f"{words}: 'want legal board'; what is not wanted is not sent")
    if "expected 'want'" in text or "expected 'cannot'" in text:
        line = "want"
    verb = line.split(" ")[0]
    if verb == "setup":
        return _malformed_setup(line)
    if verb == "move":
        return _malformed_move(line, seen)
    if verb in ("ready", "want"):
        return Hint(Mistake.SPACES, "fields are separated by single spaces, and none stands at the end of a line")
    return _no_message(line, seen)


def _wrong_army(text: str) -> Hint:
    if "got 0" in text or "(got" in text:
        return Hint(
            Mistake.WRONG_ARMY,
            "count the pieces by the 'rule army' line of this game: another ruleset has another army",
        )
    return Hint(Mistake.WRONG_ARMY, "place exactly the pieces that the 'rule army' line names")


def _out_of_turn(verb: str, when: str, seen: Seen) -> Hint:
    if verb == "setup" and seen.phase in (Phase.WAITING, Phase.THINKING):
        words = "a set-up is sent once, at 'setup'; 'restore' gives a bot its set-up: take it, and do not answer"
        return Hint(Mistake.ANSWERED_RESTORE, words)
    if verb == "move" and "opponent" in when:
        return Hint(
            Mistake.TWO_ANSWERS, "send one 'move' for each 'turn' line, and nothing at 'moved', 'legal' or 'board'"
        )
    if verb in ("name", "author", "want", "ready"):
        return Hint(Mistake.UNASKED, "introduce yourself once, at 'hello', and end that with 'ready'")
    if verb == "note" and "opponent" in when:
        return Hint(Mistake.UNASKED, "a note goes before the answer: first 'note ...', then the 'move' of this turn")
    asks = {"setup": "setup", "move": "turn", "note": "turn"}.get(verb, "turn")
    return Hint(Mistake.UNASKED, f"it sends ahead: '{verb}' may come only after the arena's line '{asks}'")


def _not_ascii(line: str, language: Language) -> Hint:
    if r"\x00" in line:
        words = "a NUL byte is part of what it writes: write the length of the string, not of its buffer"
        return Hint(Mistake.NUL_BYTE, words)
    if r"\xef\xbb\xbf" in line:
        return Hint(Mistake.NOT_ASCII, "it begins with a byte order mark: write UTF-8 without one, or ASCII")
    if r"\t" in line:
        return Hint(Mistake.SPACES, "fields are separated by single spaces, not by tabs")
    return Hint(
        Mistake.NOT_ASCII,
        f"only plain ASCII may stand in a line, in notes and names too; other output: {DEBUG[language]}",
    )


def _counted(lengths: Sequence[int]) -> str:
    """`3 rows of 10+10+9 squares`."""
    squares = "1 square" if lengths == [1] else f"{'+'.join(map(str, lengths)) or '0'} squares"
    return f"1 row of {squares}" if len(lengths) == 1 else f"{len(lengths)} rows of {squares}"


def _malformed_setup(line: str) -> Hint:
    rows = [row for row in re.split(r"[/ ,]+", line.removeprefix("setup").strip()) if row]
    lengths = [len(row) for row in rows]
    if "10" in line and [len(row.replace("10", "M")) for row in rows] == [BOARD_SIZE] * SETUP_ROWS:
        return Hint(Mistake.SHORT_SETUP, "the marshal is M, not 10: there is one character for each square")
    if len(rows) != SETUP_ROWS or any(length != BOARD_SIZE for length in lengths):
        cells = sum(lengths)
        words = "many rows" if len(rows) > MOST_ROWS else _counted(lengths)
        return Hint(
            Mistake.SHORT_SETUP,
            f"{words}, {cells} in all: expected 4 rows of 10, with a dot on each empty square",
        )
    if "/" not in line or " " in line.removeprefix("setup "):
        return Hint(Mistake.SPACES, "rows are separated by '/', without spaces")
    odd = sorted({character for row in rows for character in row} - {*RANK_BY_LETTER, EMPTY})
    wrong = " and ".join(f"'{character}'" for character in odd[:3])
    if all(character.upper() in RANK_BY_LETTER for character in odd):
        return Hint(Mistake.UPPER_CASE, f"{wrong}: pieces are F B S 2 to 9 M I, in capitals")
    is_spy = "; the spy is S" if "1" in odd else ""
    words = f"{wrong}: an empty square is a dot, a piece one of F B S 2 to 9 M I, in capitals{is_spy}"
    return Hint(Mistake.SHORT_SETUP, words)


def _malformed_move(line: str, seen: Seen) -> Hint | None:
    action = line.removeprefix("move").strip()
    if is_action(action):
        return Hint(Mistake.SPACES, "one space between 'move' and its action, and none at the end of the line")
    if _SWAPPED.match(action):
        return Hint(Mistake.RANKS_AND_FILES, "a square is its file and then its rank: a4, not 4a")
    if match := _NEARLY.match(action):
        return Hint(
            Mistake.ACTION_FORM,
            f"the two squares are in small letters, with one '-' between them: {match[1].lower()}-{match[2].lower()}",
        )
    if re.match(r"^\d+\W\d+|^\(", action):
        return Hint(
            Mistake.ACTION_FORM, "squares have names, from a1 to j10; numbers of rows and columns are no action"
        )
    if _NO_ACTION.match(action):
        return _no_action(action)
    if whole := _cut_off(action, seen):
        words = f"that is a part of the legal action {whole}: lines have up to {MAX_BOT_LINE:,} bytes; read them whole"
        return Hint(Mistake.CUT_OFF, words)
    found = _ACTION.findall(action)
    if len(found) > 1:
        return Hint(Mistake.ACTION_FORM, f"one action for each turn: 'move {found[0]}'")
    if found:
        return Hint(Mistake.ACTION_FORM, f"nothing but the action stands behind 'move': 'move {found[0]}'")
    return Hint(Mistake.ACTION_FORM, "an action is FROM-TO, such as a4-a5; copy one from the 'legal' line")


def _cut_off(action: str, seen: Seen) -> str | None:
    """The legal action that this is the beginning or the end of: what a buffer held that was too small for its line."""
    if not (action and seen.gets_legal and seen.game):
        return None
    return next((one for one in legal_actions(seen.game) if one.startswith(action) or one.endswith(action)), None)


def _no_action(word: str) -> Hint:
    if word.lower() in ("pass", "skip"):
        words = "nobody may pass: play one of the legal actions, of which there is one in each turn, or 'move resign'"
    else:
        words = f"{word} is what its program has where it found no action; in each turn there is a legal one"
    return Hint(Mistake.PASSED, words)


def _no_message(line: str, seen: Seen) -> Hint:
    verb = line.strip().split(" ")[0]
    if is_action(line.strip()) or _NEARLY.match(line.strip()):
        return Hint(Mistake.NO_VERB, f"the verb is missing: 'move {line.strip()}'")
    if _ROW.match(line.strip()):
        return Hint(Mistake.NO_VERB, "the verb is missing, and the rows stand on one line: setup ROW/ROW/ROW/ROW")
    if line != line.lstrip() and verb in VERBS:
        return Hint(Mistake.SPACES, "no space may stand before the verb")
    if verb.lower() in VERBS:
        return Hint(Mistake.UPPER_CASE, f"verbs are in small letters, without a colon: '{verb.lower()}'")
    if verb.rstrip(":").lower() in VERBS:
        return Hint(Mistake.UPPER_CASE, f"verbs are in small letters, without a colon: '{verb.rstrip(':').lower()}'")
    if _NO_ACTION.match(line):
        return _no_action(line)
    if line.startswith(("{", "[")) and (found := _ACTION.search(line)):
        return Hint(Mistake.NO_VERB, f"a line is a verb and its fields, and no JSON: 'move {found[0]}'")
    if _is_the_arenas(line):
        words = f"'{verb}' is a line of the arena's: do not repeat what is received, but answer it"
        return Hint(Mistake.ARENAS_VERB, f"{words}{INTRODUCED if verb == 'hello' else ''}")
    if _OTHER_PROTOCOLS.match(line):
        return Hint(Mistake.OTHER_PROTOCOL, "it speaks the protocol of another program: see docs/protocol.md")
    return Hint(
        Mistake.DEBUG_OUTPUT,
        f"standard output is for answers alone; print for yourself with {DEBUG[seen.language]}, or begin with '#'",
    )


def _is_the_arenas(line: str) -> bool:
    """Whether the arena could have sent it so; "board:" and "error in move" are for the bot's author."""
    try:
        message = decode_for_bot(line.encode())
    except RemoteProtocolError:
        return False
    return message is not None and not isinstance(message, Error | Legal | Opponent | Rule)  # any words go into these
