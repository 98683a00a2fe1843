"""Damaged model files: a part of what ``benchmarks/fuzz.py`` tries, in processes that may die."""

import re
import subprocess
import sys
from importlib import util
from pathlib import Path

import pytest

from eigentext.storage import models

ROOT = Path(__file__).parents[2]
# The most telling of what the first fuzzing found: crashes, hangs, foreign memory, stray errors.
FOUND = """
hmm/spectral: about has_rare: = True
hmm/spectral: array operators.places: first = 1000000
hmm/em: array parameters.emission: transposed
hmm/em: about has_rare: = True
pcfg: array level0.states: first = 1000000
pcfg: array level0.states: all = 1099512627776
pcfg: array classes.offsets: one entry
pcfg: array word_classes: 1 bits flipped
latent-pcfg/em: array middle.states: all = 1099511627776
hmm-tagger: array counts.indices: all = 1000000
hmm-tagger: array counts.data: all = -1099511627776
tagger: about columns.0: = None
tagger/states: array state.operators.places: first = 1000000
kneser-ney: about parameters.order: = 3.0
automaton/plain: about options.unit: missing
"""


def fuzz(*options):
    command = [sys.executable, ROOT / "benchmarks" / "fuzz.py", *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=600)


def counts(output):
    """How many files of each model were tried, and how many refused."""
    rows = re.findall(r"^([a-z][\w/-]*) +([\d,]+) +([\d,]+) ", output, re.MULTILINE)
    return {name: [int(count.replace(",", "")) for count in row] for name, *row in rows}


@pytest.fixture(scope="module")
def zoo():
    path = ROOT / "tests" / "contract" / "zoo_saved.py"
    spec = util.spec_from_file_location("zoo_saved", path)
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.ZOO


def test_every_format_has_a_model_in_the_zoo(zoo):
    families = {f"eigentext.{name.partition('/')[0]}" for name in zoo}
    assert families == set(models._READERS)


def test_what_was_found_once_is_gone(tmp_path):
    cases = [line.split(": ", 1) for line in FOUND.strip().splitlines()]
    (tmp_path / "cases").write_text("\n".join("\t".join(case) for case in cases))
    run = fuzz("--cases", tmp_path / "cases")
    assert run.returncode == 0, run.stdout + run.stderr
    # Answers would be from foreign memory, which shows only where kernels check bounds.
    assert counts(run.stdout)["all"] == [len(cases)] * 2, run.stdout


def test_damaged_files_are_refused_or_work(zoo):
    run = fuzz("--mutations", "20")
    assert run.returncode == 0, run.stdout + run.stderr
    found = counts(run.stdout)
    assert found.keys() == {*zoo, "all"}
    assert all(tried >= refused > 0 for tried, refused in found.values())
