"""What perceptrons say about themselves, in both forms."""

import pytest
from sklearn.exceptions import NotFittedError

from eigentext import KernelPerceptron, Perceptron
from eigentext.kernels import LinearKernel

SEPARABLE = [[(0.0, 1.0), (1.0, 0.0)], [(0.0, 2.0), (2.0, 1.0)]], [1, 1]
CONTRADICTORY = [[(0.0, 1.0), (1.0, 0.0)], [(1.0, 0.0), (0.0, 1.0)]] * 2, [0, 0, 1, 0]
FIRST = [[(1.0, 0.0), (0.0, 1.0)]] * 3, [0, 0, 0]
MODELS = {"primal": Perceptron, "dual": lambda **given: KernelPerceptron(LinearKernel(), **given)}


@pytest.fixture(params=MODELS)
def make(request):
    return MODELS[request.param]


def test_a_separating_model_says_so(make):
    found = make().fit(*SEPARABLE).findings()
    assert {one.severity for one in found} == {"note"}
    assert found[0].sentence.startswith("It separates the examples: pass 2 over the 2 examples")


def test_many_mistakes_are_a_warning_with_a_remedy(make):
    first = make(n_epochs=4).fit(*CONTRADICTORY).findings()[0]
    assert first.severity == "warning"
    assert "a wrong candidate in 50% of the examples" in first.sentence
    assert first.remedy.startswith("Raise n_epochs (now 4), or ")


def test_a_model_without_a_mistake_has_learned_nothing(make):
    model = make().fit(*FIRST)
    first = model.findings()[0]
    assert first.severity == "warning"
    assert "it always chooses the first candidate" in first.sentence
    assert model.predict([[(0.0, 1.0), (1.0, 0.0)]]).tolist() == [0]


def test_the_primal_form_tells_its_bound_and_the_dual_its_supports():
    primal, dual = (make().fit(*SEPARABLE).findings()[-1].sentence for make in MODELS.values())
    assert primal.startswith("The mistake bound with its last weights allows")
    assert dual.startswith("2 of 4 candidates are supports.")


def test_an_unfitted_model_has_no_findings(make):
    with pytest.raises(NotFittedError):
        make().findings()
