"""Files of openings: set-ups that games begin with, instead of those that the bots choose.

A text file in UTF-8. An opening is two lines, Red's set-up and then Blue's, in the notation of the protocol:

    # lines that start with '#' and empty lines are ignored
    red  .........F/2........B/..S.2...../.39.M.....
    blue F........./B....9...2/........../2.S.3.M...
"""

from pathlib import Path

from arena.errors import IllegalAnswerError, UsageError
from arena.game import Variant
from arena.game.game_spec import Opening
from arena.system.printable import printable, shown
from arena.system.user_files import FileError, read_file
from protocol.lines import RemoteProtocolError
from protocol.seats import COLOR_BY_WORD, Color

COMMENT = "#"
WHAT = "a file of openings"


def load_openings(path: Path, variant: Variant) -> tuple[Opening, ...]:
    """Return the openings of a file. Raises `FileError` if it cannot be read, and `UsageError` for an invalid one."""
    where = printable(str(path))
    data = read_file(path, where, what=WHAT)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise FileError(f"{where}: expected {WHAT} in UTF-8, and it is not at byte {error.start}") from None
    return tuple(parse_openings(text, variant, where))


def parse_openings(text: str, variant: Variant, where: str) -> list[Opening]:
    found: dict[Opening, int] = {}
    red, begun = "", 0
    number = 0
    for place, content in enumerate(text.removeprefix("\ufeff").split("\n"), start=1):
        line = content.strip()
        if not line or line.startswith(COMMENT):
            continue
        number, color = place, Color.BLUE if red else Color.RED
        setup = _setup(line, color, variant, f"{where}: line {number}")
        if color is Color.RED:
            red, begun = setup, number
            continue
        first = found.setdefault((red, setup), begun)
        if first != begun:
            raise UsageError(f"{where}: line {begun}: expected another opening, got that of line {first} again")
        red = ""
    if red:
        raise UsageError(f"{where}: line {number}: expected Blue's set-up after Red's, got the end of the file")
    if not found:
        raise UsageError(f"{where}: expected {WHAT}, got none in it: 'red ROWS' and 'blue ROWS' for each")
    return list(found)


def _setup(line: str, color: Color, variant: Variant, where: str) -> str:
    word, *rows = line.split(maxsplit=1)
    setup = "".join(rows)
    if COLOR_BY_WORD.get(word) is not color or not setup:
        raise UsageError(f"{where}: expected '{color.word} ROWS', the set-up of {color.word}, got {shown(line)}")
    try:
        variant.kind.check_setup(variant, color, setup)  # first: of the form alone it says more than is said to bots
        variant.kind.check_setup_form(setup)
    except (IllegalAnswerError, RemoteProtocolError) as error:
        raise UsageError(f"{where}: {color.word}: {printable(str(error))}: {shown(setup)}") from None
    return setup
