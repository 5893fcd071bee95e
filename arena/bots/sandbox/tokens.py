"""The tokens in the environments of bots: a worker's begin with a prefix that the process above it has given it."""

import secrets

PREFIX_LENGTH = 16
"""Characters of a worker's prefix, which are random, as are the first ones of a token without a prefix."""
worker_prefixes: set[str] = set()
"""How the tokens begin that the bots of workers have, of living workers and dead ones."""
_token_prefix = ""


def new_prefix() -> str:
    """How the tokens of a worker's bots are to begin."""
    return secrets.token_hex(PREFIX_LENGTH // 2)


def new_token() -> str:
    """A token for a bot that is about to be started."""
    return f"{_token_prefix}{secrets.token_hex(8)}"


def begin_tokens_with(prefix: str) -> None:
    """Say how all tokens of this process begin from here on: with what the process above has registered for it."""
    global _token_prefix  # noqa: PLW0603  (a property of the process as a whole, not of any object in it)
    _token_prefix = prefix


def is_of_worker(token: str) -> bool:
    """Whether a token is one of a bot that a worker of this process has started."""
    return token[:PREFIX_LENGTH] in worker_prefixes
