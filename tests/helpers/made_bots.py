"""Programs of bots that are played by many tests. Those that are made on the spot are `make_bot`'s."""

from pathlib import Path

PREAMBLE = Path(__file__).parents[1] / "hostile" / "preamble.py"

PLAIN = """
import sys
for line in sys.stdin:
    words = line.split()
    if words[0] == "hello": print("want legal\\nready", flush=True)
    if words[0] == "setup": print("setup FBBS2339M./........../........../2.........", flush=True)
    if words[0] == "legal": actions = words[1:]
    if words[0] == "turn": print("move", actions[7 * int(words[1]) % len(actions)], flush=True)
    if words[0] == "quit": break
"""
"""Plays duels, and needs nothing but Python, wherever the arena itself may be."""

RESIGNS = f"""
exec(open({str(PREAMBLE)!r}).read())
introduce()
set_up()
hear("turn")
say("move resign")
hear("quit")
"""
"""Whoever begins resigns at once; the other is told so."""

MOVES = """#!/bin/sh
while read -r word rest; do
    case $word in
    hello) echo want legal; echo ready ;;
    setup) echo 'setup FBBS2339M./........../........../2.........' ;;
    legal) legal=$rest ;;
    turn) set -- $legal; shift $((7 * ${rest%% *} % $#)); echo "move $1" ;;
    quit) exit ;;
    esac
done
"""
"""Plays duels as `PLAIN` does, and starts at once."""

QUICK = """#!/bin/sh
{first}while read -r word rest; do
    case $word in
    hello) echo ready ;;
    setup) echo 'setup FBBS2339M./........../........../2.........' ;;
    turn) echo 'move resign' ;;
    quit) exit ;;
    esac
done
"""
"""Resigns duels, and starts at once; `first` are the lines before all others."""
ANSWERS = """#!/bin/sh
while read -r word rest; do
    case $word in
    hello) printf 'name Quick 1\\nauthor Nobody\\nready\\n' ;;
    game) if [ "${rest%% *}" = red ]; then row=4; else row=7; fi; files=abcdefghij ;;
    setup) echo 'setup FBBS2339M./........../........../2.........' ;;
    turn) DEED ;;
    quit) exit ;;
    esac
done
"""
STEPS = """next=${files#?}
        if [ -z "$next" ]; then echo 'move resign'; fi
        echo "move ${files%"$next"}$row-${next%"${next#?}"}$row"; files=$next"""
"""The deed of each turn: the scout steps along its row, nine times."""


def answers(turn: str) -> str:
    """A bot that plays duels, starts at once and does this in its turn."""
    return ANSWERS.replace("DEED", turn)


SHORT_GAMES = """#!/usr/bin/env python3
from protocol.bot import Bot, run


class Short(Bot):
    turns = 0

    def move(self, view):
        self.turns += 1
        return view.random.choice(view.legal) if self.turns < 30 else "resign"


run(Short)
"""
"""Moves at random, and resigns in its thirtieth turn."""
