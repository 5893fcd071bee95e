"""`arena games`: the games of a store, a line each, with a second line for a fault."""

from collections import deque
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import click

from arena.cli.helping import Whole, command, exclusive
from arena.cli.shared_options import (
    OutputForm,
    bot_name_option,
    form_of,
    json_option,
    known_game_option,
    lines_option,
    offer_names,
    offer_reasons,
    store_argument,
)
from arena.cli.stores import open_to_read, warn_of_damage
from arena.cli.streams import remark, result
from arena.errors import UsageError, suggest
from arena.system.printable import printable, shown
from protocol.seats import Reason

if TYPE_CHECKING:
    from arena.league.store import Damage


FORFEIT = "forfeit"
RESULTS = ("red", "blue", "draw", "neither")
LONGEST_DETAIL = 2000
"""Characters of the words on a fault; the arena's own have at most some 1,200."""
NOTE = ", not counted"


@command(
    ("arena games league.sqlite --lost-by warden", "the games it lost"),
    ("arena games league.sqlite --reason forfeit --long", ""),
    ("arena games league.sqlite --last 20", ""),
    ("arena games league.sqlite --jsonl", "for a program"),
)
@store_argument
@bot_name_option
@click.option("--against", metavar="NAME", shell_complete=offer_names, help="With --bot: only games against this bot.")
@click.option("--lost-by", metavar="NAME", shell_complete=offer_names, help="Only games that this bot lost.")
@click.option("--result", "outcome", type=click.Choice(RESULTS), metavar="WINNER", help="Only games with this winner.")
@click.option(
    "--reason",
    "reasons",
    multiple=True,
    metavar="REASON",
    shell_complete=offer_reasons,
    help="Only games that ended so; forfeit: by any fault of a bot; repeatable.",
)
@click.option("--last", type=Whole(min=1), help="Only the last N of these games.")
@click.option("--long", "is_long", is_flag=True, help="With the date, the pair and the digests of both bots.")
@known_game_option
@json_option
@lines_option
def games_command(
    store: Path,
    *,
    bot: str | None,
    against: str | None,
    lost_by: str | None,
    outcome: str | None,
    reasons: tuple[str, ...],
    last: int | None,
    is_long: bool,
    as_json: bool,
    as_lines: bool,
) -> int:
    """List the games in STORE."""
    from arena.game.faults import GameResult
    from arena.league.settings import reasons_in
    from arena.report.game_list import GameFilter, Roster, game_entry, game_line, long_line, players_of
    from arena.system.terminal_text import to_json, to_line

    exclusive(long=is_long, json=as_json, jsonl=as_lines)
    form = form_of(as_json=as_json, as_lines=as_lines)
    with open_to_read(store, needs_game=False) as opened:
        damage: list[Damage] = []
        if last is None:
            counted = opened.count()
            damage += counted.damage
            settings, kept, has_games = counted.settings, counted.kept, bool(counted.rows.games)
            roster = Roster(players_of(counted.rows, counted.entrants), counted.rows)
        else:  # constant time for any number of games
            document, damage[:] = opened.read_document()
            settings, kept, has_games = document.games, document.kept, bool(opened.last_number())
            roster = Roster(opened.players_as_now_called())
        known = [*reasons_in(settings), FORFEIT] if reasons else []
        for word in reasons:
            if word not in known and word not in (row.reason.value for row in opened.each_row()):
                raise UsageError(
                    f"--reason: expected a reason for the end of games, got {shown(word)}; {suggest(word, known)}"
                )
        wanted = GameFilter(
            bot=bot,
            against=against,
            lost_by=lost_by,
            result=GameResult(outcome) if outcome else None,
            reasons=frozenset(map(Reason, set(reasons) - {FORFEIT})),
            forfeits=FORFEIT in reasons,
        )
        try:
            if last is None or bot is not None:
                candidates = opened.each_row(roster.called(bot) if bot is not None else None)
                rows = wanted.select(candidates, roster)
                rows = rows if last is None else iter(deque(rows, maxlen=last))
            else:
                rows = reversed(list(islice(wanted.select(opened.newest_rows(damage), roster), last)))
        except UsageError as error:
            raise UsageError(f"{store}: {error}") from None
        if form is OutputForm.JSON:
            result(to_json([game_entry(row, roster.names, kept) for row in rows]))
            return warn_of_damage(store, tuple(damage))
        found = False
        for row in rows:
            found = True
            if form is OutputForm.LINES:
                result(to_line(game_entry(row, roster.names, kept)))
                continue
            result(game_line(row, roster.names) + (NOTE if kept.leaves_out(row.number) else ""))
            if row.reason.is_forfeit:
                result(f"    {printable(row.detail, LONGEST_DETAIL)}")
            if is_long:
                result(f"    {long_line(row)}")
        if not found and form is OutputForm.TEXT:
            words = "no game is as asked for" if has_games else "it holds no games"
            remark(f"{store}: {words}")
    return warn_of_damage(store, tuple(damage))
