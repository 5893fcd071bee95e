"""The executor of many machines, a client of dask: games go out as dask tasks, whole records come back.

    client       the executor (trio): which games are sent, and records judged again
    bridge       a thread with dask's event loop: connects, lists workers, submits tasks
    dask_worker  what dask runs on a worker: bots unpacked and built, then a `LocalExecutor`

Dask assigns tasks to workers, runs tasks of a lost worker again, speaks TLS, and frees what a lost client held.
"""
