"""The built page belongs to its sources, is small, and loads nothing from other hosts."""

import hashlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "explorer"
BUILT = ROOT / "src/eigentext/explorer/static"
FILES = ("index.html", "explorer.js", "explorer.css", "favicon.svg")
LEFT_OUT = {"node_modules", "package-lock.json", "__pycache__"}


def sources_hash() -> str:
    """The SHA-256 of what `sha256sum` prints for all sources, as in explorer/scripts/stamp.mjs."""
    paths = [path for path in SOURCES.rglob("*") if path.is_file()]
    names = {path.relative_to(SOURCES).as_posix(): path for path in paths}
    lines = [
        f"{hashlib.sha256(names[name].read_bytes()).hexdigest()}  {name}\n"
        for name in sorted(names)
        if not any(part in LEFT_OUT or part.startswith(".") for part in Path(name).parts)
    ]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


@pytest.mark.skipif(
    not SOURCES.is_dir(), reason="the sources of the page are not here, as in a wheel"
)
def test_built_files_are_not_stale():
    stamp = (BUILT / ".sources").read_text().strip()
    assert stamp == sources_hash(), "the page is stale: cd explorer && npm ci && npm run build"


def test_only_the_known_files_are_there_and_they_are_small():
    assert {path.name for path in BUILT.iterdir()} == {*FILES, ".sources"}
    assert sum((BUILT / name).stat().st_size for name in FILES) < 150_000


@pytest.mark.parametrize("name", FILES)
def test_nothing_is_asked_of_another_host(name):
    text = (BUILT / name).read_text("utf8")
    hosts = set(re.findall(r"https?://([^/\"'`\s)]*)", text))
    assert hosts <= {"www.w3.org"}  # the name space of SVG, which no browser opens
    assert "@import" not in text and "sourceMappingURL" not in text
    assert not re.search(r"[\"'(]//\w", text)


def test_the_page_has_nothing_inline():
    html = (BUILT / "index.html").read_text("utf8")
    assert re.findall(r"<script[^>]*>(.*?)</script>", html, re.DOTALL) == [""]
    assert "<style" not in html
    assert not re.search(r"\s(style|on\w+)\s*=", html)
    assert not re.search(r"(javascript|data):", html)


def test_no_source_parses_markup_or_code():
    if not SOURCES.is_dir():
        pytest.skip("the sources of the page are not here, as in a wheel")
    for path in (SOURCES / "src").rglob("*.ts"):
        text = path.read_text("utf8")
        for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(",
                    "new Function", "DOMParser", "createContextualFragment"):  # fmt: skip
            assert way not in text, f"{path.name} has {way}"
