"""One bot, tried as a league would try it: a script of situations, what came of each, and what is to be done.

`arena.check.situations` says what is tried, as values; `arena.check.talk` plays it with the bot's real process
against an opponent that is part of this program; `arena.check.service` is what the command line calls.
"""
