"""Plays six moves of its own and then one that is illegal."""

import sys

actions: list[str] = []
moves = 0
for line in sys.stdin:
    words = line.split()
    if words[0] == "hello":
        print("want legal\nready", flush=True)
    elif words[0] == "setup":
        print("setup FBBS2339M./........../........../2.........", flush=True)
    elif words[0] == "legal":
        actions += words[1:]
    elif words[0] == "turn":
        moves += 1
        print("move", "a1-j10" if moves > 6 else actions[moves % len(actions)], flush=True)
        actions = []
    elif words[0] == "quit":
        break
