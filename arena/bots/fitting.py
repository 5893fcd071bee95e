"""Whether bots of 2012 can play what a host has chosen: their dialect has no words for some rules, and for openings."""

from arena.bots.finding import broken
from arena.bots.spec import BotSpec
from arena.rules.ruleset import Ruleset
from arena.system.printable import printable
from protocol.ucc2012 import unspeakable


def why_unfit(bot: BotSpec, ruleset: Ruleset) -> str:
    """Return why a bot cannot play under these rules, in words, or an empty string if it can."""
    lacking = unspeakable(dict(ruleset.lines())) if bot.is_of_2012 else ""
    return f"ucc-2012 has no words for {lacking}, which the rules of {ruleset.name} have" if lacking else ""


def fitting(bot: BotSpec, ruleset: Ruleset, *, has_openings: bool) -> BotSpec:
    """Return the same bot, broken if it cannot play under these rules, or with openings where there are some."""
    why = why_unfit(bot, ruleset)
    if has_openings and bot.is_of_2012:
        why = "in ucc-2012 each bot chooses its set-up: expected no --openings"
    return broken(bot, f"{printable(str(bot.path))}: {why}") if why and bot.fault is None else bot
