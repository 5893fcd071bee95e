"""A program for tests: `python host_pipeline.py FOLDER` runs the pipeline of a competition until its queue is empty."""

import sys
from pathlib import Path

import trio
from hosted import DUEL

from arena.host.cup_database import FILE, CupDatabase
from arena.host.cup_settings import Cup
from arena.host.pipeline import Pipeline, clear_left
from arena.host.submissions import queue


def main(folder: Path) -> None:
    cup = Cup(title="A test", address="http://127.0.0.1", trusted=True, play=DUEL)
    database = CupDatabase(folder / FILE)

    async def run() -> None:
        await clear_left(folder)
        async with trio.open_nursery() as nursery:

            def changed() -> None:
                if not queue(database):
                    nursery.cancel_scope.cancel()

            nursery.start_soon(Pipeline(folder, cup, database, changed=changed, complain=print).run)

    trio.run(run)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
