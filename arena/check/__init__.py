"""Tries one bot as a league would: a script of situations, their outcomes, and advice.

`arena.check.situations` has the script, as values; `arena.check.talk` plays it with the bot's real process against an
opponent that is part of this program; `arena.check.service` is called by the command line.
"""
