"""A bot of the dialect of 2012, in plain Python 3: any of the moves that it sees, chosen by a seed.

It keeps its own board from the lines of moves alone, and exits with status 3 if that is not what it is sent.
"""

import random
import sys

Place = tuple[int, int]

ROWS = ["8BFB8s8BB8", "B7777B6666", "5555444332", "9999899199"]
STEPS = {"UP": (0, -1), "DOWN": (0, 1), "LEFT": (-1, 0), "RIGHT": (1, 0)}


def read() -> list[str]:
    line = sys.stdin.readline()
    if not line or line.startswith("QUIT"):
        sys.exit(0)
    return line.split()


def main() -> None:
    color, _, _, height = read()
    chance = random.Random(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
    print("\n".join(ROWS if color == "RED" else reversed(ROWS)), flush=True)
    own: dict[Place, str] = {}
    enemy: set[Place] = set()
    first = True
    while True:
        told = read()
        rows = [read()[0] for _ in range(int(height))]
        if first:
            for y, row in enumerate(rows):
                for x, cell in enumerate(row):
                    if cell == "#":
                        enemy.add((x, y))
                    elif cell not in ".+":
                        own[x, y] = cell
            first = False
        else:
            follow(told, own, enemy)
        check(rows, own, enemy)
        moves = [(x, y, way) for (x, y), cell in sorted(own.items()) if cell not in "BF" for way in STEPS]
        moves = [move for move in moves if is_open(rows, *move)]
        if not moves:
            print("SURRENDER", flush=True)
            continue
        x, y, way = chance.choice(moves)
        print(x, y, way, *((1,) if chance.random() < 0.1 else ()), flush=True)
        follow(read(), own, enemy)


def is_open(rows: list[str], x: int, y: int, way: str) -> bool:
    x, y = x + STEPS[way][0], y + STEPS[way][1]
    return 0 <= x < 10 and 0 <= y < 10 and rows[y][x] in ".#"


def follow(told: list[str], own: dict[Place, str], enemy: set[Place]) -> None:
    x, y = int(told[0]), int(told[1])
    way, *rest = told[2:]
    count = int(rest.pop(0)) if rest[0].isdigit() else 1
    last = x + count * STEPS[way][0], y + count * STEPS[way][1]
    mover = own.pop((x, y), None)
    if mover is None:
        enemy.remove((x, y))
    outcome = rest[0]
    if outcome in ("KILLS", "BOTHDIE"):
        if mover is None:
            del own[last]
        else:
            enemy.remove(last)
    if outcome in ("OK", "KILLS"):
        if mover is None:
            enemy.add(last)
        else:
            own[last] = mover


def check(rows: list[str], own: dict[Place, str], enemy: set[Place]) -> None:
    for y, row in enumerate(rows):
        for x, cell in enumerate(row):
            mine = own.get((x, y), "#" if (x, y) in enemy else ".")
            if cell not in ("+", mine):
                print(f"({x}, {y}) is {mine}, and {cell} was sent", file=sys.stderr)
                sys.exit(3)


main()
