"""Who meets whom: a league asks its pairing for games until there are none, one short module for each format.

`arena.league.pairing.chosen` makes the format that was asked for; `ledger` is what formats share whose games depend on
results.
"""
