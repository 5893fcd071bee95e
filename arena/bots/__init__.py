"""A path as a bot: what its folder says (`manifest`), what it is (`identity`), what it is called (`names`)."""

from arena.bots.finding import Found, broken, find_bots, find_entrants, load_bot
from arena.bots.manifest import MANIFEST_KEYS
from arena.bots.spec import BotSpec, base_environment

__all__ = ["MANIFEST_KEYS", "BotSpec", "Found", "base_environment", "broken", "find_bots", "find_entrants", "load_bot"]
