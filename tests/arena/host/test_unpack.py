"""Submissions from strangers: what is unpacked, and what is refused without harm."""

import bz2
import gzip
import io
import os
import random
import stat
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from itertools import count
from pathlib import Path

import pytest
from hosted import tar, zipped

from arena.host.cup_settings import Submissions
from arena.host.unpack import DEEPEST, LONGEST_PART, UnpackError, remove, unpack

LIMITS = Submissions(files=50, unpacked_mib=1)
Unpacked = dict[str, tuple[bytes, int]]


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "7"


@pytest.fixture
def take(target: Path) -> Callable[..., Unpacked]:
    """`take(data, name)`: unpack, and return the files with their modes."""
    target.parent.mkdir()

    def run(data: bytes, name: str = "bot", limits: Submissions = LIMITS) -> Unpacked:
        unpack(io.BytesIO(data), target, name, limits)
        files = (path for path in target.rglob("*") if not path.is_dir())
        return {
            str(path.relative_to(target)): (path.read_bytes(), stat.S_IMODE(path.lstat().st_mode)) for path in files
        }

    return run


def refused(take: Callable[..., Unpacked], target: Path, data: bytes, words: str, **more: object) -> None:
    """Check that data is refused with these words, and that nothing is left of it, inside the folder or outside."""
    outside = set(target.parent.parent.rglob("*"))
    with pytest.raises(UnpackError, match=words) as caught:
        take(data, **more)
    assert str(target) not in str(caught.value)
    assert str(caught.value).isprintable()
    assert set(target.parent.parent.rglob("*")) == outside


def made_tar(*members: tarfile.TarInfo, content: bytes = b"") -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for member in members:
            member.size = len(content) if member.isreg() else 0
            archive.addfile(member, io.BytesIO(content))
    return out.getvalue()


def member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    return info


def made_zip(*names: str, content: bytes = b"x", mode: int = 0) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            info = zipfile.ZipInfo(name)
            info.external_attr, info.compress_type = mode << 16, zipfile.ZIP_DEFLATED
            archive.writestr(info, content)
    return out.getvalue()


BOT: Mapping[str, str | bytes] = {"bot.toml": "command = ['./run']\n", "run": "#!/bin/sh\n", "lib/data.bin": b"\0\xff"}


@pytest.mark.parametrize("data", [tar(BOT, ""), tar(BOT, "gz"), tar(BOT, "bz2"), tar(BOT, "xz")])
def test_a_tar_keeps_files_and_programs(take: Callable[..., Unpacked], data: bytes) -> None:
    assert take(data) == {
        "bot.toml": (b"command = ['./run']\n", 0o644),
        "run": (b"#!/bin/sh\n", 0o755),
        "lib/data.bin": (b"\0\xff", 0o644),
    }


def test_a_zip_keeps_files_and_programs(take: Callable[..., Unpacked]) -> None:
    assert take(made_zip("a", "b/c", mode=stat.S_IFREG | 0o755)) == {"a": (b"x", 0o755), "b/c": (b"x", 0o755)}


def test_modes_do_not_depend_on_the_archive_or_the_umask(take: Callable[..., Unpacked], target: Path) -> None:
    before = os.umask(0o077)
    try:
        files = take(made_zip("a/b", mode=stat.S_IFREG | 0o6777))
    finally:
        os.umask(before)
    assert files == {"b": (b"x", 0o755)}
    assert stat.S_IMODE(target.stat().st_mode) == 0o755


@pytest.mark.parametrize("data", [b"#!/bin/sh\nexit\n", b"\x7fELF\x02\x01", b"\x7fELF" + bytes(1 << 19)])
def test_a_single_program_is_taken_as_it_is(take: Callable[..., Unpacked], data: bytes) -> None:
    assert take(data, "mine") == {"mine": (data, 0o755)}


def test_a_file_with_the_ending_of_a_program_is_one(take: Callable[..., Unpacked]) -> None:
    assert take(b"import sys\n", "mine.py") == {"mine.py": (b"import sys\n", 0o755)}


def test_a_program_that_is_too_large_is_refused(take: Callable[..., Unpacked], target: Path) -> None:
    refused(take, target, b"#!" + bytes(1 << 20), "at most 1 MiB")


def test_a_single_folder_is_taken_for_the_whole(take: Callable[..., Unpacked]) -> None:
    assert set(take(tar({"mine-1.0/run": "#!", "mine-1.0/lib/x": ""}))) == {"run", "lib/x"}


def test_what_systems_add_to_archives_is_left_out(take: Callable[..., Unpacked]) -> None:
    assert set(take(zipped({"mine/run": "#!", "__MACOSX/mine/._run": "?", "mine/.DS_Store": "?"}))) == {"run"}


def test_names_that_differ_in_case_only_are_different_files(take: Callable[..., Unpacked]) -> None:
    assert set(take(tar({"Bot.py": "", "bot.py": ""}))) == {"Bot.py", "bot.py"}


@pytest.mark.parametrize(
    "name",
    [
        *("../evil", "a/../../evil", "a/..", "/etc/evil", "//evil", "a\\..\\evil", "C:\\evil"),
        *("a\nb", "\x1b[2J", "a\u202eb", "\udcff\udcfe", "x" * (LONGEST_PART + 1), "/".join("x" * (DEEPEST + 2))),
    ],
)
@pytest.mark.parametrize("form", [tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_names_outside_the_folder_or_without_sense_are_refused(
    take: Callable[..., Unpacked], target: Path, name: str, form: int
) -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form, encoding="utf-8", errors="surrogateescape") as archive:
        archive.addfile(member("first"))
        archive.addfile(member(name))
    refused(take, target, out.getvalue(), "expected names")


@pytest.mark.parametrize("name", ["../evil", "/etc/evil", "a/../../evil", "a\\..\\evil"])
def test_a_zip_cannot_name_a_file_outside_either(take: Callable[..., Unpacked], target: Path, name: str) -> None:
    refused(take, target, made_zip("first", name), "expected names")


@pytest.mark.parametrize(
    ("kind", "link"),
    [
        (tarfile.SYMTYPE, "/etc/passwd"),
        (tarfile.SYMTYPE, "run"),
        (tarfile.LNKTYPE, "run"),
        (tarfile.LNKTYPE, "/etc/passwd"),
        (tarfile.CHRTYPE, ""),
        (tarfile.BLKTYPE, ""),
        (tarfile.FIFOTYPE, ""),
        (b"Z", ""),  # an unknown type
    ],
)
def test_links_and_devices_are_refused(take: Callable[..., Unpacked], target: Path, kind: bytes, link: str) -> None:
    data = made_tar(member("run"), member("x", kind, link), member("x/y"))
    refused(take, target, data, "x: expected files and folders only, found a link or a device")


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFCHR, stat.S_IFIFO, stat.S_IFSOCK])
def test_links_and_devices_in_a_zip_are_refused(take: Callable[..., Unpacked], target: Path, kind: int) -> None:
    refused(take, target, made_zip("x", content=b"/etc/passwd", mode=kind | 0o777), "found a link or a device")


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("names", [("a", "a"), ("a", "./a"), ("a", "a/b"), ("a/b", "a"), (".",)])
@pytest.mark.parametrize("archive", [lambda names: made_tar(*map(member, names)), lambda names: made_zip(*names)])
def test_a_name_that_is_there_twice_is_refused(
    take: Callable[..., Unpacked], target: Path, archive: Callable[[tuple[str, ...]], bytes], names: tuple[str, ...]
) -> None:
    refused(take, target, archive(names), "is in the archive twice")


def bomb_of_zeros() -> bytes:
    return tar({"zeros": bytes(64 << 20)})


def nested_bomb() -> bytes:
    return tar({"run": "#!", "inner.gz": gzip.compress(bz2.compress(bytes(64 << 20)))})


def zip_bomb() -> bytes:
    return made_zip("a", content=bytes(64 << 20))


def many_small_bombs() -> bytes:
    return made_zip(*(f"f{number}" for number in range(40)), content=bytes(1 << 16))


def header_bomb() -> bytes:
    """A long name of 64 MiB, which the library would keep in memory."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz", format=tarfile.GNU_FORMAT) as archive:
        info = member("././@LongLink", tarfile.GNUTYPE_LONGNAME)
        info.size = 64 << 20
        archive.addfile(info, io.BytesIO(bytes(64 << 20)))
        archive.addfile(member("x"))
    return out.getvalue()


def sparse() -> bytes:
    """A file of 8 EiB of which nothing is in the archive."""
    info = member("x")
    info.pax_headers = {"GNU.sparse.major": "0", "GNU.sparse.minor": "1", "GNU.sparse.size": str(2**62),
                        "GNU.sparse.map": "0,0", "GNU.sparse.name": "x"}  # fmt: skip
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        archive.addfile(info)
    return out.getvalue()


@pytest.mark.parametrize("bomb", [bomb_of_zeros, zip_bomb, many_small_bombs, header_bomb, sparse])
def test_bombs_are_refused_at_the_limit(take: Callable[..., Unpacked], target: Path, bomb: Callable[[], bytes]) -> None:
    refused(take, target, bomb(), "expected at most 1 MiB of files after unpacking")


def test_an_archive_in_an_archive_stays_as_it_is(take: Callable[..., Unpacked]) -> None:
    assert len(take(nested_bomb())["inner.gz"][0]) < 10_000


@pytest.mark.parametrize("archive", [tar, zipped])
def test_a_million_files_are_refused_at_the_limit(
    take: Callable[..., Unpacked], target: Path, archive: Callable[[Mapping[str, bytes]], bytes]
) -> None:
    files = {f"f{number}": b"" for number in range(LIMITS.files + 1)}
    refused(take, target, archive(files), "at most 50 files and folders")


def test_folders_count_as_files(take: Callable[..., Unpacked], target: Path) -> None:
    data = made_tar(*(member(f"f{number}", tarfile.DIRTYPE) for number in range(LIMITS.files + 1)))
    refused(take, target, data, "at most 50 files and folders")


def encrypted_zip() -> bytes:
    data = bytearray(made_zip("a"))
    data[6] |= 1  # the flag in the file's own header
    data[data.index(b"PK\x01\x02") + 8] |= 1  # and in the list of all files
    return bytes(data)


def lying_zip() -> bytes:
    """A zip that claims a smaller size than the file has."""
    data = bytearray(made_zip("a", content=b"x" * 1000))
    at = data.index(b"PK\x01\x02") + 24
    data[at : at + 4] = (10).to_bytes(4, "little")
    return bytes(data)


GOOD_TAR = tar({"run": "#!/bin/sh\n" * 500, "x": random.Random(1).randbytes(5000)})


@pytest.mark.parametrize(
    "data",
    [
        *(b"", b"\0", b"hello, I am no archive", bytes(10_240), b"PK", b"PK\x03\x04" + bytes(100), b"PK\x05\x06"),
        *(GOOD_TAR[:-1], GOOD_TAR[: len(GOOD_TAR) // 2], GOOD_TAR[:20], b"BZh9" + bytes(50), b"\xfd7zXZ\0" + bytes(50)),
        *(gzip.decompress(GOOD_TAR)[:5000], tar({}), encrypted_zip(), made_zip("a")[:-30], made_zip(), lying_zip()),
    ],
    ids=map(str, count()),  # not by their bytes, in which the time is
)
def test_what_is_no_whole_archive_is_refused(take: Callable[..., Unpacked], target: Path, data: bytes) -> None:
    refused(take, target, data, "this cannot be unpacked|the archive is empty")


@pytest.mark.parametrize("seed", range(60))
def test_a_damaged_archive_is_unpacked_below_the_folder_or_refused(
    take: Callable[..., Unpacked], target: Path, seed: int
) -> None:
    dice = random.Random(seed)
    data = bytearray(zipped(BOT) if seed % 2 else tar(BOT, ""))
    for _ in range(dice.randint(1, 20)):
        data[dice.randrange(len(data))] = dice.randrange(256)
    outside = set(target.parent.parent.rglob("*"))
    is_refused = False
    try:
        take(bytes(data))
    except UnpackError:
        is_refused = True
    assert target.exists() is not is_refused
    assert all(path.is_relative_to(target) for path in set(target.parent.parent.rglob("*")) - outside)


def test_what_an_interrupted_unpacking_has_left_is_removed(take: Callable[..., Unpacked], target: Path) -> None:
    take(tar(BOT))
    target.with_name("7.inner").mkdir()
    remove(target)
    assert list(target.parent.iterdir()) == []
    remove(target)
