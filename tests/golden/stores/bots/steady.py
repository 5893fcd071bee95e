"""Plays one of its legal actions, chosen by the number of the ply alone."""

import sys

actions: list[str] = []
for line in sys.stdin:
    words = line.split()
    if words[0] == "hello":
        print("name steady 1.0\nwant legal\nready", flush=True)
    elif words[0] == "setup":
        print("setup FBBS2339M./........../........../2.........", flush=True)
    elif words[0] == "legal":
        actions += words[1:]
    elif words[0] == "turn":
        ply = int(words[1])
        if ply < 5:
            print(f"note ply {ply}", flush=True)
        print("move", actions[7 * ply % len(actions)], flush=True)
        actions = []
    elif words[0] == "quit":
        break
