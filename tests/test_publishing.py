"""What is published says nothing that leads nowhere, and the image for hosts is made of what is there."""

import re
import tomllib
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LINKS = re.compile(r"\]\(([^)\s]+)\)")
HOME = "https://host.example/owner/arena"


# --- links ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def build() -> Any:
    pytest.importorskip("hatchling", reason="needs hatchling (pip install hatchling)")
    import hatch_build

    return hatch_build


@pytest.fixture(autouse=True)
def at_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))


def test_without_an_address_the_readme_of_an_index_has_no_link_to_a_file(build: Any) -> None:
    text = build.on_its_own(README, "")
    assert [link for link in LINKS.findall(text) if not link.startswith("https://")] == []
    assert "](docs/" not in text
    assert "![" not in text
    assert re.findall(r"```.*?```", text, re.DOTALL) == re.findall(r"```.*?```", README, re.DOTALL)
    assert build.urls("") == {}


def test_with_an_address_every_link_is_absolute_and_leads_to_a_file_that_is_there(build: Any) -> None:
    links = LINKS.findall(build.on_its_own(README, HOME))
    assert len(links) == len(LINKS.findall(README))
    own = [link for link in (*links, *build.urls(HOME).values()) if link.startswith(f"{HOME}/")]
    assert all(link.startswith("https://") for link in links)
    for link in own:
        kind, _, path = link.removeprefix(f"{HOME}/").partition("/main/")
        assert kind == "issues" or (ROOT / path.partition("#")[0]).exists(), link
    assert f"{HOME}/raw/main/docs/images/game.svg" in links


@pytest.mark.parametrize("address", ["http://x.org/a", "here", "https://", "https://x.org/ a"])
def test_an_address_that_is_none_is_refused(build: Any, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENA_HOME", address)
    hook = build.ArenaMetadataHook(str(ROOT), {})
    with pytest.raises(ValueError, match="expected an address such as https://host/owner/project, got"):
        hook.update({})


def test_the_address_is_said_in_one_place(build: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ARENA_HOME", raising=False)
    metadata: dict[str, Any] = {}
    build.ArenaMetadataHook(str(ROOT), {"home": f"{HOME}/"}).update(metadata)
    assert metadata["urls"]["Homepage"] == HOME
    assert metadata["readme"]["content-type"] == "text/markdown"
    assert {"readme", "urls"} == set(PROJECT["project"]["dynamic"])
    assert "home" in PROJECT["tool"]["hatch"]["metadata"]["hooks"]["custom"]


def test_the_source_distribution_has_what_its_tests_look_at() -> None:
    listed = PROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    assert [name for name in listed if not (ROOT / name).exists()] == []
    assert {"tests", "docs", "benchmarks", ".ci", "Dockerfile", "hatch_build.py"} <= set(listed)


# --- the image --------------------------------------------------------------------------------------------------------


def instructions() -> list[tuple[str, str]]:
    """The instructions of the Dockerfile and what each is given, with lines that go on made one."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    whole = re.sub(r"\s*\\\n\s*", " ", "\n".join(lines)).splitlines()
    return [(line.split()[0], line.partition(" ")[2].strip()) for line in whole]


def last_stage() -> list[tuple[str, str]]:
    found = instructions()
    start = max(number for number, (name, _) in enumerate(found) if name == "FROM")
    return found[start:]


def test_both_stages_of_the_image_are_of_one_slim_debian() -> None:
    bases = [words.split()[0] for name, words in instructions() if name == "FROM"]
    assert len(bases) == 2
    assert len(set(bases)) == 1, "an environment made in one is used in the other"
    assert re.fullmatch(r"debian:[a-z]+-slim", bases[0])


def test_the_image_runs_the_arena_as_an_ordinary_user() -> None:
    stage = dict(last_stage())
    assert stage["USER"] not in ("root", "0")
    assert stage["ENTRYPOINT"] == '["arena"]'
    assert "bubblewrap" in next(words for name, words in last_stage() if name == "RUN")


def test_the_image_is_made_of_all_that_the_wheel_is_made_of() -> None:
    copied = {
        source
        for name, words in instructions()
        if name == "COPY" and "--from" not in words
        for source in words.split()[:-1]
    }
    wheel = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert {*wheel["only-include"], *wheel["shared-data"], "pyproject.toml", "hatch_build.py", "README.md"} <= copied
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    shown = [line[1:] for line in ignored if line.startswith("!")]
    assert ignored[1] == "*"
    for source in copied:
        assert (ROOT / source).exists()
        assert any(fnmatch(source, pattern) for pattern in shown), source
