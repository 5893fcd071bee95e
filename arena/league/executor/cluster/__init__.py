"""The executor of many machines: games go to the workers of a dask cluster, and whole records come back.

    the arena (trio)        `client`: which games go where, what comes back judged again
      | a pipe
    the gate (asyncio)      `gate`: speaks with the dask scheduler, knows nothing of games
      | dask
    a dask worker           `service`: hands on what comes
      | a pipe
    its station (trio)      `station`: bots unpacked and built, then the worker processes of one machine
                            (`arena.league.executor.local`)

Dask carries bytes between the two and nothing else: all messages are `messages`, decoded by us. No bot and no game is
below a process of dask's, and no object of dask's gets into the arena.
"""
