"""What a bot's processes are doing at a moment: waiting for input, working, asleep. Read from /proc, on Linux only.

Where a thread waits in the kernel says `wchan`, in which system call and with which arguments `syscall`. A program that
waits without end for events (epoll, poll, select) has nothing to wait for but its input, as far as an arena is
concerned. What cannot be read, as on a machine that hides it, is unknown, and nothing is concluded from it.
"""

import os
from collections.abc import Iterable

from arena.bots.sandbox.procfs import read_file, stat_fields
from arena.game.hints.values import Activity

MOST_THREADS = 64
"""Threads that are looked at, of all processes together: each costs three files."""
WITHOUT_END = 0xFFFFFFFF
"""A time-out of -1 in 32 bits."""
_TIMEOUTS = {7: 2, 232: 3, 281: 3, 22: 3}
"""Of system calls that wait for events, by number (x86-64, and `epoll_pwait` on arm64), the argument that is a time-out
in milliseconds;"""
_POINTERS = {23: 4, 270: 4, 271: 2, 73: 2, 72: 4}
"""and of those that take a pointer to one, which is null if there is none."""
_FIRST = (Activity.WAITS_FOR_INPUT, Activity.RUNS, Activity.WAITS_TO_WRITE, Activity.WAITS, Activity.STOPPED)
"""What counts of several threads: one that reads its input speaks for all of them, one that is stopped for none."""


def activity_of(pids: Iterable[int]) -> Activity:
    """What these processes, all of one bot, are doing together."""
    found: set[Activity] = set()
    looked = 0
    for pid in pids:
        try:
            threads = os.listdir(f"/proc/{pid}/task")
        except OSError:
            continue
        for thread in threads:
            looked += 1
            if looked > MOST_THREADS:
                break
            found.add(_of_thread(f"/proc/{pid}/task/{thread}"))
    return next((activity for activity in _FIRST if activity in found), Activity.UNKNOWN)


def _of_thread(folder: str) -> Activity:
    state = stat_fields(read_file(f"{folder}/stat"))[:1]
    if state in ([b"R"], [b"D"]):
        return Activity.RUNS
    if state in ([b"T"], [b"t"]):
        return Activity.STOPPED
    if state != [b"S"]:
        return Activity.UNKNOWN
    place = read_file(f"{folder}/wchan").decode("ascii", "replace")
    words = read_file(f"{folder}/syscall").decode("ascii", "replace").split()
    if not words or not words[0].isdigit():
        return Activity.UNKNOWN
    number, *arguments = int(words[0]), *(int(word, 16) for word in words[1:7])
    if "pipe_read" in place:
        return Activity.WAITS_FOR_INPUT if arguments[0] == 0 else Activity.WAITS
    if "pipe_write" in place:
        return Activity.WAITS_TO_WRITE
    if "poll" in place and _is_endless(number, arguments):
        return Activity.WAITS_FOR_INPUT
    return Activity.WAITS


def _is_endless(number: int, arguments: list[int]) -> bool:
    if number in _TIMEOUTS:
        return arguments[_TIMEOUTS[number]] & WITHOUT_END == WITHOUT_END
    return number in _POINTERS and arguments[_POINTERS[number]] == 0
