"""The wish to stop reaches the tasks that play, from any thread."""

import threading

import trio
import trio.testing

from arena.league.stop import StopRequest, Wish


def test_whoever_waits_is_told_of_a_stronger_wish() -> None:
    stop = StopRequest()
    heard: list[Wish] = []

    async def wait(known: Wish) -> None:
        heard.append(await stop.wait_beyond(known))

    async def main() -> None:
        async with trio.open_nursery() as nursery:
            for known in (Wish.GO_ON, Wish.GO_ON):
                nursery.start_soon(wait, known)
            await trio.testing.wait_all_tasks_blocked()
            thread = threading.Thread(target=stop.ask, args=(Wish.STOP_NOW,))
            thread.start()
        thread.join()

    trio.run(main)
    assert heard == [Wish.STOP_NOW] * 2


def test_a_weaker_wish_changes_nothing() -> None:
    stop = StopRequest()
    for wish in (Wish.STOP_NOW, Wish.STOP_SOON, Wish.GO_ON):
        stop.ask(wish)
    assert stop.wish is Wish.STOP_NOW


def test_a_wish_that_is_known_already_is_returned_at_once() -> None:
    stop = StopRequest()
    stop.ask(Wish.STOP_SOON)
    assert trio.run(stop.wait_beyond, Wish.GO_ON) is Wish.STOP_SOON
