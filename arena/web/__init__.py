"""Served pages: the parts that all servers of the arena share.

An application is a list of routes with its state; `guard.application` checks each request and answer, and
`server.Server` limits connections, sizes and times. No request names a file. A server never runs in a process that
times games.
"""
