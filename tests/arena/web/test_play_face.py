"""A session that is shown to people: the addresses they are told, and how long the pages are there."""

from functools import partial

import trio
from play_table import at_random, seated

from arena.game.record import GameRecord
from arena.system.concurrency import background
from arena.web.address import Address, listen
from arena.web.seat_server import page_face
from protocol.notation import Color


def no_complaint(text: str) -> None:
    raise AssertionError(text)


async def followed(address: str) -> trio.SocketStream:
    """A browser's stream of events, once it has been answered."""
    host, _, rest = address.removeprefix("http://").partition("/")
    name, _, port = host.rpartition(":")
    stream = await trio.open_tcp_stream(name, int(port))
    await stream.send_all(f"GET /{rest}events HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
    assert b"200" in await stream.receive_some()
    return stream


def test_the_pages_are_there_until_the_game_is_over_and_nobody_looks_any_more() -> None:
    session, told, is_told, has_returned = seated(), dict[Color, str](), trio.Event(), trio.Event()
    listening = listen(Address("127.0.0.1", 0))

    def tell(addresses: dict[Color, str]) -> None:
        told.update(addresses)
        is_told.set()

    async def show() -> None:
        await page_face(listening, tell, complain=no_complaint, linger=0.05)(session)
        listening.close()
        has_returned.set()

    async def main() -> None:
        async with background(show):
            await is_told.wait()
            streams = [await followed(told[color]) for color in Color]
            async with background(*(partial(at_random(1, 20), session, color) for color in Color)):
                assert isinstance(await session.play(), GameRecord)
            with trio.move_on_after(0.5):
                await has_returned.wait()
            assert not has_returned.is_set()
            for stream in streams:
                await stream.aclose()
            with trio.fail_after(120):
                await has_returned.wait()

    trio.run(main)
    assert len({address.split("/")[3] for address in told.values()}) == 2
