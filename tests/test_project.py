"""The files around the code agree with each other: versions, bounds, types, changelog."""

import importlib.resources
import re
import tomllib
from pathlib import Path

import pytest

import eigentext

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = ("crf", "dask", "faiss", "hub", "web", "plot")  # those that change what users can do


def test_the_oldest_versions_are_the_lower_bounds():
    listed = dict(re.findall(r"^([\w-]+)==(.+)$", (ROOT / ".ci" / "oldest.txt").read_text(), re.M))
    wanted = list(PROJECT["dependencies"])
    wanted += [one for extra in EXTRAS for one in PROJECT["optional-dependencies"][extra]]
    bounds = dict(one.split(">=") for one in wanted)
    assert listed.keys() == bounds.keys()
    for name, bound in bounds.items():
        assert f"{listed[name]}.".startswith(f"{bound}."), name


def test_types_are_shipped():
    assert (importlib.resources.files("eigentext") / "py.typed").is_file()


def test_the_citation_has_this_version():
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(r"^version: (.+)$", text, re.M)[1] == eigentext.__version__


def test_the_changelog_has_this_version_and_dates_the_newest_first():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    versions = re.findall(r"^## (\S+) \((unreleased|\d{4}-\d\d-\d\d)\)$", text, re.M)
    assert len(versions) == len(re.findall(r"^## ", text, re.M))
    assert versions[0][0] == eigentext.__version__
    assert all(date != "unreleased" for _, date in versions[1:])
    steps = re.findall(r"^### (.+)$", text, re.M)
    dates = [re.match(r"(\d{4}-\d\d-\d\d): ", step)[1] for step in steps]
    assert dates == sorted(dates, reverse=True)


@pytest.mark.parametrize("name", ["CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"])
def test_links_lead_somewhere(name):
    for target in re.findall(r"\]\(([^)\s]+)\)", (ROOT / name).read_text(encoding="utf-8")):
        assert "://" in target or (ROOT / target.partition("#")[0]).exists(), target


def test_hooks_call_the_linters_of_make_lint():
    makefile = (ROOT / "Makefile").read_text()
    recipe = re.search(r"^lint:.*\n((?:\t.*\n)+)", makefile, re.M)[1]
    wanted = re.findall(r"\$\(BIN\)/(.+?)(?: \.)?\n", recipe)
    hooks = (ROOT / ".pre-commit-config.yaml").read_text()
    called = re.findall(r"entry: \.venv/bin/(.+?)(?: --force-exclude)?\n", hooks)
    assert called == wanted
