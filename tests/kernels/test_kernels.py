"""The package: its names, and names of other rooms that it also offers."""

import subprocess
import sys

import pytest

from eigentext import kernels, linear, reranking

ELSEWHERE = {
    "KernelPerceptron": linear,
    "Perceptron": linear,
    "Reranker": reranking,
    "jackknife": reranking,
    "read_candidates": reranking,
    "write_candidates": reranking,
}


def test_every_public_name_is_there():
    assert all(getattr(kernels, name).__name__ == name for name in kernels.__all__)
    with pytest.raises(AttributeError, match=r"module 'eigentext\.kernels' has no attribute 'x'"):
        _ = kernels.x


@pytest.mark.parametrize("name", ELSEWHERE)
def test_a_name_of_another_room_works_with_a_warning(name):
    with pytest.warns(DeprecationWarning, match=rf"kernels\.{name} is called eigentext\."):
        found = getattr(kernels, name)
    assert found is getattr(ELSEWHERE[name], name)


def test_a_module_of_another_room_works_with_a_warning():
    with pytest.warns(DeprecationWarning, match=r"called eigentext\.reranking\.folds now"):
        assert kernels.folds.jackknife is reranking.jackknife


def test_kernels_import_neither_linear_models_nor_rerankers():
    code = (
        "import sys; from eigentext import kernels; [getattr(kernels, n) for n in kernels.__all__];"
        "assert not {'eigentext.linear', 'eigentext.reranking'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
