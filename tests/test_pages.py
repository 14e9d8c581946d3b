"""Pages for people hold together: links, headings, commands, the index of the pages and the changelog."""

from __future__ import annotations

import argparse
import itertools
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

import hookport
from hookport.cli import COMMANDS, make_command_parser
from hookport.errors import UsageError

ROOT = Path(__file__).parent.parent
WRITTEN = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")),
    *sorted(ROOT.glob("docs/*.md")),
    *sorted(ROOT.glob("examples/**/README.md")),
]
PAGES = [*WRITTEN, *sorted(ROOT.glob("docs/dialects/*.md"))]
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
# The languages of blocks that a reader types; a synopsis is `text`.
TYPED = ("", "sh", "console", "yaml")
COMMAND = re.compile(r"^\s*(?:- run: |\$ )?(hookport .*)$", re.MULTILINE)
CLAUSE = re.compile(r"\b(how|what|when|where|which|who|why)\b", re.IGNORECASE)
SENTENCE = re.compile(r"\b(is|are|was|were|does|has|have|can|will)\b")
each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())


def read_prose(page: Path) -> str:
    """A page without its code blocks."""
    return FENCE.sub("", page.read_text("utf-8"))


def list_headings(page: Path) -> list[str]:
    return re.findall(r"^#+ (.*)$", read_prose(page), re.MULTILINE)


def list_anchors(page: Path) -> set[str]:
    """The ids that GitHub gives to headings."""
    texts = [re.sub(r"\]\([^)]*\)", "", heading).lower() for heading in list_headings(page)]
    return {re.sub(r"[^\w\- ]", "", text).replace(" ", "-") for text in texts}


def list_links(page: Path) -> Iterator[tuple[Path, str]]:
    """The files and anchors in this repository that a page links."""
    for target in re.findall(r"\]\(([^)\s]+)\)", read_prose(page)):
        path, _, anchor = target.partition("#")
        if ":" not in path:
            yield ((page.parent / path).resolve() if path else page), anchor


@each_page
def test_links_lead_somewhere(page: Path) -> None:
    """To a file or a folder, and to a heading in it."""
    lost = [
        (path, anchor)
        for path, anchor in list_links(page)
        if not path.exists() or (anchor and anchor not in list_anchors(path))
    ]
    assert lost == []


def test_every_page_is_reached_from_the_readme() -> None:
    """Link by link; a link to a folder reaches its index."""
    reached: set[Path] = set()
    waiting = [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        page = next((page / name for name in ("README.md", "index.md") if (page / name).is_file()), page)
        if page.suffix == ".md" and page.is_file() and page not in reached:
            reached.add(page)
            waiting += [path for path, _ in list_links(page)]
    assert [page.relative_to(ROOT).as_posix() for page in PAGES if page not in reached] == []


def test_the_index_lists_every_page() -> None:
    """Of `docs`, once in its lists by reader."""
    text = (ROOT / "docs" / "README.md").read_text("utf-8")
    linked = re.findall(r"^- \[[^\]]*\]\(([\w-]+\.md)\)", text, re.MULTILINE)
    assert sorted(linked) == sorted(page.name for page in ROOT.glob("docs/*.md") if page.name != "README.md")


@each_page
def test_headings_are_phrases(page: Path) -> None:
    """One title, and no heading that is a sentence."""
    assert len(re.findall(r"^# ", read_prose(page), re.MULTILINE)) == 1
    sentences = [
        heading
        for heading in list_headings(page)
        if heading.endswith((".", ":", "!", "?")) or (SENTENCE.search(heading) and not CLAUSE.search(heading))
    ]
    assert sentences == []


def list_commands(page: Path) -> Iterator[list[str]]:
    """What a reader is to type after `hookport`, from fenced blocks, up to a pipe or a redirection."""
    blocks = (body for language, body in FENCE.findall(page.read_text("utf-8")) if language in TYPED)
    for line in COMMAND.findall(re.sub(r"\\\n\s*", "", "\n".join(blocks))):
        lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        yield [*itertools.takewhile(lambda word: not re.fullmatch(r"[|&;<>]+", word), lexer)][1:]


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_commands_parse(page: Path) -> None:
    """With the parser of the command, and nothing is run."""
    if page.name == "cli.md":
        pytest.skip("shows the help of each command, made from the parsers")
    for words in list_commands(page):
        try:
            make_command_parser(words[0]).parse(words[1:])
        except UsageError as error:
            pytest.fail(f"hookport {shlex.join(words)}: {error}")


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_options_in_sentences_exist(page: Path) -> None:
    """In every `hookport COMMAND --option` of the text; the changelog speaks of options that are gone too."""
    unknown = []
    for span in re.findall(r"`hookport\s([^`]*)`", read_prose(page)):
        words = span.split()
        if words[0] in COMMANDS and page.name != "CHANGELOG.md":
            known = list_options(make_command_parser(words[0]))
            unknown += [span for word in words[1:] if re.match(r"--\w", word) if word not in known]
    assert unknown == []


def list_options(parser: argparse.ArgumentParser) -> set[str]:
    # argparse has no public list of them.
    return set(parser._option_string_actions)


RELEASE = re.compile(r"^## \[(Unreleased|\d+\.\d+\.\d+)\](?: - (\d{4}-\d{2}-\d{2}))?$", re.MULTILINE)
KINDS = ("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security")


def test_the_changelog_keeps_its_form() -> None:
    """Keep a Changelog: `Unreleased`, then releases from new to old, each with its day and known kinds."""
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    heads = RELEASE.findall(text)
    versions = [tuple(map(int, name.split("."))) for name, _ in heads[1:]]
    assert [name for name, _ in heads[:1]] == ["Unreleased"]
    assert len(heads) == len(re.findall(r"^## ", text, re.MULTILINE))
    assert hookport.__version__ in [name for name, _ in heads]
    assert versions == sorted(set(versions), reverse=True)
    assert [bool(day) for _, day in heads] == [False] + [True] * len(versions)
    for section in RELEASE.split(text)[3::3]:
        kinds = re.findall(r"^### (.*)$", section, re.MULTILINE)
        assert kinds == [kind for kind in KINDS if kind in kinds]
        assert all(re.match(r"\n+- ", part) for part in re.split(r"^### .*", section, flags=re.MULTILINE)[1:])
