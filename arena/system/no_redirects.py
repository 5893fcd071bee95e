"""Requests that follow no redirect, which would carry a token or a message to another site."""

import urllib.request
from typing import Any


class NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *arguments: Any) -> None:
        """Follow no redirect: urllib raises the answer as an error."""
