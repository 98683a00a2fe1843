"""Pages and tutorials: links lead somewhere, and snippets that are cheap do run."""

import importlib.util
import re
from pathlib import Path

import pytest

import eigentext

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs").glob("*.md"))
TUTORIALS = sorted((ROOT / "examples").glob("*.py"))


def anchors(page: Path) -> set[str]:
    """Those that GitHub and MyST give to headings."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S)
    headings = re.findall(r"^#+ (.*)$", text, flags=re.M)
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


def test_the_page_of_parameters_says_what_the_tables_say():
    script = ROOT / "docs" / "_parameters.py"
    spec = importlib.util.spec_from_file_location("_parameters", script)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    written = module.PAGE.read_text(encoding="utf-8")
    assert written == module.page(), "run: python docs/_parameters.py"


def test_every_page_is_on_the_map():
    index = (ROOT / "docs" / "index.md").read_text()
    listed = set(
        re.findall(r"^[\w-]+$", "\n".join(re.findall(r"```\{toctree\}(.*?)```", index, re.S)), re.M)
    )
    assert {page.stem for page in PAGES} - {"index"} <= listed
    assert "reference" in listed


def test_tutorials_are_scripts_with_a_title():
    order = (ROOT / "docs" / "conf.py").read_text()
    for script in TUTORIALS:
        title, rule = script.read_text().removeprefix('"""').splitlines()[:2]
        assert len(rule) == len(title)
        assert f'"{script.stem}"' in order


def test_the_reference_has_all_public_names():
    listed = (ROOT / "docs" / "reference.rst").read_text()
    rooms = {"engine", "trellis", "storage", *eigentext._ROOMS}
    for name in set(eigentext.__all__) - rooms:
        assert re.search(rf"^   {name}$", listed, re.M), name


# Which Python blocks of a page need no data, counted from 0.
CHEAP = {
    "grammars": [0],
    "kernels": [0, 2, 4, 5, 6, 7, 8],
    "sequences": [0, 1],
    "tagging": [1],
    "topics": [0],
}


@pytest.mark.parametrize("page", CHEAP)
def test_snippets_that_need_no_data(page, tmp_path, monkeypatch):
    """In order and in one module, as a reader would type them."""
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / f"{page}.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", text, flags=re.M | re.S)
    names: dict = {"et": eigentext}
    for number in CHEAP[page]:
        assert "load_dataset" not in blocks[number]
        exec(compile(blocks[number], f"{page}.md", "exec"), names)
