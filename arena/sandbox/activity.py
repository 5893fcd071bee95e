"""Find out from /proc (Linux only) what a bot's processes are doing: waiting for input, working, asleep.

`wchan` says where a thread waits in the kernel, `syscall` in which system call and with which arguments. Runtimes such
as those of Node, Java and Go have helper threads that wait for events of their own, so only a main thread that waits
for events without end (epoll, poll, select) counts as waiting for input. A wait with a time-out may be for input or for
a timer: it is unknown.
"""

import os
from collections.abc import Iterable

from arena.game.hints.seen import Activity
from arena.sandbox.procfs import read_file, stat_fields

MOST_THREADS = 64
"""The most threads that are examined, of all processes together: each costs three files."""
WITHOUT_END = 0xFFFFFFFF
"""A time-out of -1 in 32 bits."""
_TIMEOUTS = {7: 2, 232: 3, 281: 3, 22: 3}
"""The index of the time-out in milliseconds, for system calls that wait for events, by number (x86-64, and
`epoll_pwait` on arm64).
"""
_POINTERS = {23: 4, 270: 4, 271: 2, 73: 2, 72: 4}
"""The index of the pointer to a time-out; it is null for a wait without end."""
_COUNTS = {23: 0, 270: 0, 72: 0, 7: 1, 271: 1, 73: 1}
"""The index of the number of descriptors; a wait for none of them is a sleep."""
_FIRST = (
    Activity.RUNS,
    Activity.WAITS_TO_WRITE,
    Activity.WAITS_FOR_INPUT,
    Activity.UNKNOWN,
    Activity.WAITS,
    Activity.STOPPED,
)
"""Activities by precedence: a process with several threads has the first that any of them shows."""


def activity_of(pids: Iterable[int]) -> Activity:
    """Return what the processes of a bot are doing, taken together."""
    found: set[Activity | None] = set()
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
            found.add(_of_thread(f"/proc/{pid}/task/{thread}", is_main=thread == str(pid)))
    return next((activity for activity in _FIRST if activity in found), Activity.UNKNOWN)


def _of_thread(folder: str, *, is_main: bool) -> Activity | None:
    state = stat_fields(read_file(f"{folder}/stat"))[:1]
    if state in ([b"R"], [b"D"]):
        return Activity.RUNS
    if state in ([b"T"], [b"t"]):
        return Activity.STOPPED
    if state != [b"S"]:
        return None
    place = read_file(f"{folder}/wchan").decode("ascii", "replace")
    words = read_file(f"{folder}/syscall").decode("ascii", "replace").split()
    if not words or not words[0].isdigit():
        return Activity.UNKNOWN
    number, *arguments = int(words[0]), *(int(word, 16) for word in words[1:7])
    if "pipe_read" in place:
        return Activity.WAITS_FOR_INPUT if arguments[0] == 0 else Activity.WAITS
    if "pipe_write" in place:
        return Activity.WAITS_TO_WRITE
    if "poll" in place and is_main and not (number in _COUNTS and arguments[_COUNTS[number]] == 0):
        return Activity.WAITS_FOR_INPUT if _is_endless(number, arguments) else Activity.UNKNOWN
    return Activity.WAITS


def _is_endless(number: int, arguments: list[int]) -> bool:
    if number in _TIMEOUTS:
        return arguments[_TIMEOUTS[number]] & WITHOUT_END == WITHOUT_END
    return number in _POINTERS and arguments[_POINTERS[number]] == 0
