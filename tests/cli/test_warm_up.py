"""`eigentext warm-up` compiles the loops of models, so that nobody waits for them later."""

import json
import os

import pytest

from eigentext.cli._warm_up import TASKS, warm_up


@pytest.mark.parametrize("what", TASKS)
def test_every_kind_of_models_is_learned_and_used(what):
    warm_up(what)


def test_the_command_tells_how_long_it_took(cli):
    assert cli("warm-up", "kernels").out.split()[0] == "kernels"
    assert json.loads(cli("warm-up", "kernels", "--json").out)["kernels"] >= 0
    assert cli("warm-up", "kernels", "--quiet").out == ""
    assert "'parsers' is no kind of models; there are words" in cli("warm-up", "parsers").mistake


@pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled in this run"
)
def test_nothing_is_compiled_afterwards(process, tmp_path):
    cache = tmp_path / "cache"
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache), "EIGENTEXT_SHIPPED_LOOPS": "off"}
    process("warm-up", "kernels", env=environment)
    compiled = sorted(path.name for path in cache.rglob("*.nbc"))
    assert compiled
    process("warm-up", "kernels", env=environment)
    assert sorted(path.name for path in cache.rglob("*.nbc")) == compiled
