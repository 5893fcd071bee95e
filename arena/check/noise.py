"""Lines as a later arena may send them: with verbs, rules and fields that no bot knows today."""

TAKES_MORE = frozenset({"hello", "game", "seed", "setup", "restore", "turn", "moved", "battle", "reveal"}) | frozenset(
    {"rescued", "guess", "end", "quit"}
)
"""Verbs after whose fields there may be others. Nothing is ever added after a TEXT or a VALUE, nor to the lists of
`enemy`, `board` and `legal`."""


def noisy(data: bytes) -> bytes:
    """The same lines, and others that a bot has to ignore."""
    lines = []
    for line in data.decode("ascii").splitlines():
        verb = line.split(" ")[0]
        lines.append(f"{line} later 7" if verb in TAKES_MORE else line)
        if verb == "clock":
            lines[-1] += " later 7"
        if verb in ("hello", "moved", "seed", "enemy"):
            lines += ["", "# a comment", f"later {verb} is not for you 1 2 3"]
        if verb == "game":
            lines.append("rule later yes")
        if verb == "quit":
            break
    return "".join(f"{line}\n" for line in lines).encode("ascii")
