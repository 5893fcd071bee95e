"""Pages that are served: what every server of the arena has in common, and nothing of what its pages say.

An application is a list of routes and its own state; `guard.application` puts the guard round it (who may
ask, what a browser may do with the answer), and `server.Server` the limits below it (how many, how large, how long).
Nothing here opens a file by what a request says. A server is one task of trio and never runs in a process that times
games.
"""
