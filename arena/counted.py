"""Numbers of things in words: one home for "1 game" beside "2 games"."""


def counted(number: int, one: str, many: str = "") -> str:
    """So many of what is called `one`, and `many` where it is more than one or none; else with an s."""
    return f"{number} {one if number == 1 else many or one + 's'}"
