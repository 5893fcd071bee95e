"""A secret in an address: who has it may change what the pages under it show."""

import hmac
import secrets
from dataclasses import dataclass

BYTES = 24


@dataclass(frozen=True)
class Token:
    """The secret of one seat or session. Its text is fit for a path."""

    text: str

    @classmethod
    def new(cls) -> "Token":
        """One that nobody can guess: 192 random bits."""
        return cls(secrets.token_urlsafe(BYTES))

    def matches(self, given: str) -> bool:
        """Whether that is it, found out in the same time whatever was given."""
        return hmac.compare_digest(self.text.encode(), given.encode("utf-8", "surrogatepass"))

    def __repr__(self) -> str:
        return "Token(...)"  # a secret stands in no traceback
