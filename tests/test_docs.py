"""Pages and tutorials: links work, generated pages are current, and cheap examples run."""

import importlib.util
import re
import shlex
import sys
from pathlib import Path

import pytest

import eigentext

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
SOURCES = ROOT / "src" / "eigentext"
PAGES = sorted([*DOCS.glob("*.md"), *DOCS.glob("*/[!_]*.md")])
TUTORIALS = sorted((ROOT / "examples").glob("*.py"))


def script(name: str):
    """Load a script of docs/ as a module."""
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def blocks_of(page: Path) -> list[tuple[str, str]]:
    """The fenced blocks of a page: their languages and texts."""
    fence = r"^ *```(.*)\n((?:(?! *```).*\n)*?) *```$"
    return re.findall(fence, page.read_text(encoding="utf-8"), flags=re.M)


def python_blocks(page: Path) -> list[str]:
    return [text for language, text in blocks_of(page) if language == "python"]


def without_code(text: str) -> str:
    return re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)


def anchors(page: Path) -> set[str]:
    """Those that GitHub and MyST give to headings."""
    headings = re.findall(r"^#+ (.*)$", without_code(page.read_text()), flags=re.M)
    plain = [re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings]
    return {heading.replace(" ", "-") for heading in plain}


@pytest.mark.parametrize("page", [*PAGES, ROOT / "README.md"], ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        if "://" in target:
            continue
        name, _, anchor = target.partition("#")
        file = page.parent / name if name else page
        assert file.exists(), target
        if anchor:
            assert anchor in anchors(file), target


@pytest.mark.parametrize("name", ["_parameters", "_tree"])
def test_a_generated_page_is_current(name):
    module = script(name)
    written = module.PAGE.read_text(encoding="utf-8")
    assert written == module.page(), f"run: python docs/{name}.py"


def test_generated_figures_are_current_and_name_files_that_exist():
    walks = script("_walks")
    for name, steps in walks.WALKS.items():
        file = walks.FOLDER / f"walk-{name}.svg"
        assert file.read_text(encoding="utf-8") == walks.figure(name), "run: python docs/_walks.py"
        for step in steps:
            for files in step.files.split("; "):
                folder, *others = files.split(", ")
                paths = [Path(folder), *(Path(folder).with_name(one) for one in others)]
                for path in paths:
                    assert (SOURCES / path).is_file(), path


def test_files_named_by_pages_exist():
    pages = [DOCS / "architecture.md", *DOCS.glob("decisions/*.md")]
    for page in pages:
        for path in re.findall(r"`((?:\w+/)+\w+\.py)`", page.read_text()):
            places = (ROOT, SOURCES, SOURCES.parent)
            assert any((place / path).is_file() for place in places), f"{page.name}: {path}"


def test_every_page_is_on_the_map():
    index = (DOCS / "index.md").read_text()
    trees = "\n".join(re.findall(r"```\{toctree\}(.*?)```", index, re.S))
    listed = set(re.findall(r"^[\w/-]+$", trees, re.M))
    assert {page.stem for page in DOCS.glob("*.md")} - {"index"} <= listed
    assert {"reference", "decisions/index"} <= listed
    decisions = (DOCS / "decisions" / "index.md").read_text()
    for page in DOCS.glob("decisions/0*.md"):
        assert f"({page.name})" in decisions
        headings = re.findall(r"^## (.*)$", page.read_text(), re.M)
        assert headings == ["Context", "Decision", "Consequences"]


# A name as papers have it, with coauthors or not, and a year: "Hsu, Kakade and Zhang (2009)".
_NAME = r"(?:Mc|Mac|de|Rosen-)?[A-Z][a-zäé]+(?:-[A-Z][a-z]+)?"
_CITATION = re.compile(
    rf"({_NAME})(?:, {_NAME})*(?: and {_NAME}| et al\.| and others)?(?:'s)? \(?((?:19|20)\d\d)\b"
)
_NO_AUTHORS = {"December", "March", "Copyright", "Unix", "Python", "Wikipedia"}


def test_every_citation_has_an_entry():
    bibliography = (DOCS / "references.bib").read_text(encoding="utf-8")
    known = set()
    for entry in bibliography.split("\n@")[1:]:
        authors = re.search(r"author = \{(.*)\}", entry).group(1)
        year = re.search(r"year = \{(\d+)\}", entry)
        surnames = [one.partition(",")[0] for one in authors.split(" and ")]
        known |= {(name.split()[-1], year.group(1) if year else "") for name in surnames}
    files = [*PAGES, *SOURCES.rglob("*.py"), ROOT / "README.md"]
    missing = {
        f"{file.relative_to(ROOT)}: {found.group()}"
        for file in files
        for found in _CITATION.finditer(" ".join(file.read_text(encoding="utf-8").split()))
        if found.group(1) not in _NO_AUTHORS and found.groups() not in known
    }
    assert not missing, "add to docs/references.bib"


def test_pages_name_no_place_outside_the_repository():
    for file in [*PAGES, ROOT / "README.md", *TUTORIALS]:
        text = file.read_text(encoding="utf-8")
        assert not re.search(r"\.\./shared|\bseed 00\d|\bslides\b|\b[Mm]ended\b", text), file.name


def test_tutorials_are_scripts_with_a_title():
    order = (DOCS / "conf.py").read_text()
    for tutorial in TUTORIALS:
        title, rule = tutorial.read_text().removeprefix('"""').splitlines()[:2]
        assert len(rule) == len(title)
        assert f'"{tutorial.stem}"' in order


def test_the_reference_has_all_public_names():
    listed = (DOCS / "reference.rst").read_text()
    rooms = {"engine", "trellis", "storage", *eigentext._ROOMS}
    for name in set(eigentext.__all__) - rooms:
        assert re.search(rf"^   {name}$", listed, re.M), name


def commands_of(page: Path) -> list[list[str]]:
    """The calls of ``eigentext`` in the blocks of a page, without pipes and shell syntax."""
    blocks = [text.replace("\\\n", " ") for language, text in blocks_of(page) if not language]
    lines = [line.removeprefix("$ ").strip() for block in blocks for line in block.splitlines()]
    parts = [part.strip() for line in lines for part in re.split(r" \| |; | > ", line)]
    return [shlex.split(part, comments=True)[1:] for part in parts if part.startswith("eigentext ")]


@pytest.mark.parametrize("page", [*PAGES, ROOT / "README.md"], ids=lambda page: page.name)
def test_commands_and_options_of_pages_exist(page):
    from typer.main import get_command

    from eigentext.cli.main import app

    for words in commands_of(page):
        command, rest = get_command(app), list(words)
        while hasattr(command, "commands"):
            command = command.get_command(None, rest.pop(0))
            assert command is not None, words
        shown = [one for one in command.params if not getattr(one, "hidden", False)]
        known = {flag for one in shown for flag in (*one.opts, *one.secondary_opts)}
        for word in rest:
            if re.match(r"--?[a-z]", word):
                assert word in known, f"{' '.join(words)}: {word}"


# Which Python blocks of a page need no data, counted from 0.
CHEAP = {
    "grammars": [0],
    "kernels": [0, 2, 4, 5, 6, 7, 8],
    "sequences": [0, 1],
    "tables": [0, 1, 2],
    "tagging": [1],
    "topics": [0],
}


@pytest.mark.parametrize("page", CHEAP)
def test_snippets_that_need_no_data(page, tmp_path, monkeypatch):
    """In order and in one module, as a reader would type them."""
    monkeypatch.chdir(tmp_path)
    blocks = python_blocks(DOCS / f"{page}.md")
    names: dict = {"et": eigentext}
    for number in CHEAP[page]:
        assert "load_dataset" not in blocks[number]
        exec(compile(blocks[number], f"{page}.md", "exec"), names)


def test_the_code_for_other_tools_runs(tmp_path, monkeypatch):
    """In order, except what needs the network or tools that the tests do not install."""
    pytest.importorskip("gensim")
    pytest.importorskip("nltk")
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    for block in python_blocks(DOCS / "other-tools.md"):
        if not re.search(r"hub\.push|spacy|fastapi", block):
            exec(compile(block, "other-tools.md", "exec"), names)
    assert names["pipeline"].predict(["the dog sleeps"]) == ["pet"]
    assert (tmp_path / "my-words" / "README.md").exists()


def test_the_code_of_the_readme_runs(tmp_path, monkeypatch, capsys):
    """All blocks in order, as they stand; and they show what they say."""
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    exec(compile("\n".join(python_blocks(ROOT / "README.md")), "README.md", "exec"), names)
    near = [word for word, _ in names["words"].most_similar("sparse", 5)]
    assert {"dense", "csr", "csc"} <= set(near)
    trees = capsys.readouterr().out.splitlines()
    assert "(NP (NP (DT the) (NN cat)) (PP (IN of)" in trees[0]
    assert "(NP (DT the) (NN cat)) (PP (IN through)" in trees[1]
    assert names["topics"].components_.shape[0] == 16


def test_the_code_of_the_first_hour_runs(tmp_path, monkeypatch):
    """On the text of that page, with the models that its commands make."""
    from pydoc_data.topics import topics

    pytest.importorskip("matplotlib").use("Agg")
    monkeypatch.chdir(tmp_path)
    lines = [" ".join(one.split()) for text in topics.values() for one in text.split("\n\n")]
    corpus = eigentext.TextCorpus(lines, kind="texts", tokenizer="simple", lowercase=True)
    eigentext.Eigenwords(50, window=3).fit(corpus).save("my-words")
    eigentext.TopicModel(12, max_df=0.1).fit(lines).save("my-topics")
    (code,) = python_blocks(DOCS / "start.md")
    exec(compile(code, "start.md", "exec"), {})
    assert (tmp_path / "map.svg").exists()


def test_the_first_hour_names_text_that_comes_with_python():
    assert "pydoc_data" in (DOCS / "start.md").read_text()
    assert importlib.util.find_spec("pydoc_data.topics"), sys.version
