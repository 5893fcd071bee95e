"""Interrupted games as games of a league: whose ids, seeds and settings have to be those that the league gives them."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from arena.bots import BotSpec, assign_identities
from arena.errors import UsageError
from arena.game.persons import is_person
from arena.league.game_ids import misfit, pair_seed_of, starter
from arena.league.games import Games, Settings, other_times
from arena.league.store import Store
from arena.play.saved_game import SavedGame
from arena.rules.ruleset import Ruleset, Starts


def agree(paused: SavedGame, store: Store, bots: Sequence[BotSpec] = (), rounds: range = range(1)) -> str | None:
    """Have a saved game's settings agree with those of the store that its result belongs to.

    It is the game of one of the `rounds` of its two players.

    Returns the id under which the store holds this game already; None if it does not. If the `bots` are given, that may
    be the id of the game of what these take part as in the store. Raises `UsageError` if the two do not
    agree, or if the game is not one that such settings give.
    """
    words = misfit(paused)
    if words:
        raise UsageError(f"this is not a game that was paused: {words}")
    known = store.settings().get("seed", "")
    seed = paused.seed if paused.seed is not None else int(known) if known.isdecimal() else None
    settings = _settings(paused, seed, rounds)
    described = settings.described(paused.players)
    if seed is None:
        del described["seed"]  # a file of the first version, whose store is gone
    store.agree(described, paused.players)
    if store.has(paused.id):
        return paused.id
    if paused.persons:  # whose other games against each other are of other rounds
        return None
    games = Games(settings)
    entered = [bot.player for bot in assign_identities(bots, store.players())]
    for players in (paused.players, entered):
        for red, blue in pairwise(players):
            game = games.game(red, blue, 0)
            if store.has(game.id):
                return game.id
    return None


def _settings(paused: SavedGame, seed: int | None, rounds: range = range(1)) -> Settings:
    """The settings that the match had, of which this is the game of one of the `rounds`.

    Raises `UsageError` if there are none from which this game follows."""
    spec = paused.spec()
    players = paused.players
    own = tuple(sorted(zip((player.name for player in paused.players), paused.limits, strict=True)))
    time = paused.usual_time or paused.time
    of_bots = (one for player, one in zip(players, spec.times, strict=True) if not is_person(player))
    if len({other_times(one) for one in (time, *of_bots)}) > 1:
        raise UsageError("this is not a game that was paused: its two sides have other times for more than their moves")
    own_times = {player.digest: own for player, own in zip(paused.players, spec.times, strict=True) if own != time}
    choices: list[Ruleset] = [spec.ruleset]
    if spec.ruleset.starts is starter(paused.pair_seed):
        choices.append(replace(spec.ruleset, starts=Starts.CHOSEN))
    for ruleset in choices:
        settings = Settings(
            ruleset,
            time,
            seed or 0,
            bot_limits=own,
            pondering=paused.pondering,
            bot_times=tuple(own_times.items()),
            names_told=spec.names_told,
        )
        if seed is None:
            return settings
        common = settings.digest(players)
        if any(pair_seed_of(common, players, number) == paused.pair_seed for number in rounds):
            return settings
    raise UsageError("this is not a game that was paused: its seeds do not follow from its rules, times and players")
