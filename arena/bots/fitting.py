"""Whether bots can play what a host has chosen: what they speak has to have words for it."""

from arena.bots.finding import broken
from arena.bots.spec import BotSpec
from arena.errors import UsageError
from arena.game.dialects import check_dialect
from arena.printable import printable
from arena.rules.ruleset import Ruleset


def fitting(bot: BotSpec, ruleset: Ruleset, *, keep_bots: bool, has_openings: bool) -> BotSpec:
    """The same bot; one that cannot play so is broken, as one that cannot be started is."""
    if bot.fault is not None:
        return bot
    where, word = printable(str(bot.path)), bot.dialect.value
    try:
        check_dialect(bot.dialect, ruleset)
    except UsageError as error:
        return broken(bot, f"{where}: {error}")
    if keep_bots and not bot.dialect.plays_on:
        return broken(bot, f"{where}: it speaks {word}, in which a process plays one game: expected no --keep-bots")
    if has_openings and not bot.dialect.can_be_restored:
        return broken(bot, f"{where}: it speaks {word}, in which each bot chooses its set-up: expected no --openings")
    return bot


def refuse_unrestorable(bot: BotSpec, asked_for: str) -> None:
    """Raise `UsageError` for a bot that cannot go on with a game in a new process."""
    if not bot.dialect.can_be_restored:
        raise UsageError(
            f"{printable(str(bot.path))}: {asked_for}: it speaks {bot.dialect.value}, in which a bot cannot be told a "
            "game that has begun: play it in one sitting"
        )
