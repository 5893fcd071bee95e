"""A path as a bot: what its folder says (`manifest`), what it is (`identity`), what it is called (`names`)."""

from arena.bots.entering import assign_identities
from arena.bots.finding import Found, broken, find_bots, find_entrants
from arena.bots.loading import load_bot
from arena.bots.manifest import Manifest, read_manifest
from arena.bots.spec import BotSpec, base_environment

__all__ = [
    "BotSpec",
    "Found",
    "Manifest",
    "assign_identities",
    "base_environment",
    "broken",
    "find_bots",
    "find_entrants",
    "load_bot",
    "read_manifest",
]
