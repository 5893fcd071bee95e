"""The page on which a person plays: a seat of a session, shown in a browser.

`Table` is a session with a secret address for each seat, `serving.serving` serves it. The page is given the seat's
state and nothing else, so a browser never has what its seat was not told; and what it sends is judged by the session,
whatever the page itself would have allowed.
"""
