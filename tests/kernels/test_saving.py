"""Kernels and structures as JSON, and read again."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eigentext import PolynomialKernel, SequenceKernel, Tree, TreeKernel
from eigentext.errors import ModelFileError, ParameterError
from eigentext.kernels import Candidate, LinearKernel
from eigentext.kernels.kernel import Kernel
from eigentext.kernels.saving import described, kernel_of, structures_of, structures_to


def through_json(thing):
    return json.loads(json.dumps(thing))


KERNELS = [
    LinearKernel(),
    PolynomialKernel(3),
    TreeKernel(0.4),
    SequenceKernel(0.5, match="capitalization"),
    TreeKernel(0.5) + TreeKernel(),
    TreeKernel(0.5) * TreeKernel(),
    0.25 * TreeKernel(0.5).normalized(),
    (LinearKernel() * PolynomialKernel(2) + 3 * LinearKernel()).with_baseline(0.7),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_kernels_come_back(kernel):
    assert repr(kernel_of(through_json(described(kernel)))) == repr(kernel)


def test_a_kernel_that_came_back_has_the_same_values():
    kernel = (PolynomialKernel(2).normalized() + 0.3 * LinearKernel()).with_baseline(0.1)
    again = kernel_of(through_json(described(kernel)))
    rng = np.random.default_rng(0)
    structures = [Candidate(row, -k) for k, row in enumerate(rng.normal(size=(5, 3)).tolist())]
    np.testing.assert_array_equal(kernel.gram(structures), again.gram(structures))


def test_numbers_of_numpy_are_numbers():
    assert described(PolynomialKernel(np.int64(3))) == described(PolynomialKernel(3))
    assert described(TreeKernel(np.float64(0.4))) == described(TreeKernel(0.4))


def test_a_dictionary_of_classes_is_data():
    kernel = SequenceKernel(0.5, match={"kernel": "N", "dog": "N", "runs": "V"})
    again = kernel_of(through_json(described(kernel)))
    assert again.get_params()["match"] == kernel.get_params()["match"]


def test_functions_are_not_saved():
    with pytest.raises(ParameterError, match=r"phi=.*contain no code; compute the features first"):
        described(2 * LinearKernel(lambda structure: [1.0]))
    with pytest.raises(ParameterError, match=r"match=.*use 'exact', 'capitalization'"):
        described(SequenceKernel(match=str.lower))


def test_foreign_kernels_are_not_saved():
    class TreeKernel(LinearKernel): ...

    for kernel in (TreeKernel(), LinearKernel() + TreeKernel()):
        with pytest.raises(ParameterError, match="it is not a kernel of this library"):
            described(kernel)


@pytest.mark.parametrize(
    "damaged",
    [
        None,
        [],
        "tree",
        {},
        {"kernel": "tree"},
        {"kernel": "os.system", "parameters": {}, "parts": {}},
        {"kernel": ["tree"], "parameters": {}, "parts": {}},
        {"kernel": "linear", "parameters": {"degree": 2}, "parts": {}},
        {"kernel": "sum", "parameters": {}, "parts": {}},
        {"kernel": "sum", "parameters": {}, "parts": {"first": None, "second": None}},
        {"kernel": "sum", "parameters": {"first": 1, "second": 2}, "parts": {}},
        {"kernel": "scaled", "parameters": {"scale": -1.0}, "parts": {}},
    ],
)
def test_damaged_descriptions(damaged):
    with pytest.raises(ModelFileError, match="does not describe a kernel"):
        kernel_of(damaged)


def test_a_description_too_deep():
    deep = described(LinearKernel())
    for _ in range(5000):
        deep = {"kernel": "normalized", "parameters": {}, "parts": {"kernel": deep}}
    with pytest.raises(ModelFileError, match="does not describe a kernel"):
        kernel_of(deep)


# Structures.

trees = st.recursive(
    st.text("ab( )é\ud800", max_size=3),
    lambda children: st.builds(Tree, st.text("XY-(", max_size=2), st.lists(children, max_size=3)),
).filter(lambda tree: isinstance(tree, Tree))
numbers = st.integers() | st.floats(allow_nan=False)
names = st.text(max_size=4) | st.integers() | st.tuples(st.text(max_size=2), st.integers())
structures = (
    trees
    | st.lists(st.tuples(st.text(max_size=4), st.text(max_size=4)), max_size=4)
    | st.lists(numbers, max_size=4)
    | st.tuples(st.lists(st.integers(), max_size=3), st.lists(numbers, max_size=3))
    | st.dictionaries(names, numbers, max_size=3)
)


@given(st.lists(structures | st.builds(Candidate, structures, st.floats(allow_nan=False))))
def test_structures_come_back(given_structures):
    texts = structures_to(given_structures)
    assert all(text.isascii() for text in texts)
    again = structures_of(texts)
    assert again == given_structures
    assert [type(one) is tuple or type(one) for one in again] == [
        isinstance(one, tuple) or type(one) for one in given_structures
    ]


def test_brackets_where_they_say_all():
    plain, odd = Tree("NP", [Tree("NN", ["dog"])]), Tree("NP", [Tree("-LRB-", ["("])])
    assert structures_to([plain, odd]) == [
        '{"tree": "(NP (NN dog))"}',
        '{"tree": [["NP", 1], ["-LRB-", 1], "("]}',
    ]
    assert structures_of(structures_to([odd])) == [odd]


class ForeignTree(list):
    """Shaped like an nltk.Tree: a list with a label."""

    def __init__(self, label, children):
        super().__init__(children)
        self._label = label

    def label(self):
        return self._label


def test_trees_of_others():
    tree = ForeignTree("NP", [ForeignTree("DT", ["the"]), ForeignTree("NN", ["dog"])])
    assert structures_of(structures_to([tree])) == [Tree.parse("(NP (DT the) (NN dog))")]
    assert structures_of(structures_to(["(NN dog)"])) == ["(NN dog)"]


def test_a_deep_tree():
    tree = Tree("NN", ["("])
    for _ in range(3000):
        tree = Tree("X", [tree])
    for one in (tree, Tree.parse(str(tree))):
        assert structures_to(structures_of(structures_to([one]))) == structures_to([one])


def test_arrays_come_back_as_lists():
    places, values = np.array([1, 5]), np.array([0.1, 1 / 3])
    (vector, pair) = structures_of(structures_to([values, (places, values)]))
    assert vector == values.tolist()
    assert pair == (places.tolist(), values.tolist())
    assert structures_of(structures_to([{np.str_("a"): np.float32(0.5)}])) == [{"a": 0.5}]


def test_what_cannot_be_saved():
    with pytest.raises(ParameterError, match=r"structure 1 contains <object .* cannot be saved"):
        structures_to([[1.0], [object()]])


@pytest.mark.parametrize(
    "damaged",
    [
        "",
        "[1",
        "{}",
        '{"call": "os.system"}',
        '{"tree": "(NP"}',
        '{"tree": 3}',
        '{"tree": []}',
        '{"tree": ["dog"]}',
        '{"tree": [["NP", 2], "dog"]}',
        '{"tree": [["NP", -1], "dog"]}',
        '{"tree": [["NP", 0.5], "dog"]}',
        '{"tree": [["NP", 1], "dog", "cat"]}',
        '{"tuple": 3}',
        '{"dict": [[1]]}',
        '{"dict": [[[1], 2]]}',
        '{"tuple": [], "dict": []}',
        "[" * 100_000,
    ],
)
def test_damaged_structures(damaged):
    with pytest.raises(ModelFileError, match=r"structure 1, .* is damaged"):
        structures_of(["[1.0]", damaged])


def test_every_kernel_of_the_room_can_be_saved():
    from eigentext import kernels
    from eigentext.kernels import composed
    from eigentext.kernels.saving import _HOMES

    listed = {name for _, name in _HOMES.values()}
    for module in (kernels, composed):
        for name in getattr(module, "__all__", None) or vars(module):
            thing = getattr(module, name)
            is_kernel = isinstance(thing, type) and issubclass(thing, Kernel)
            if is_kernel and name != "Kernel" and not name.startswith("_"):
                assert name in listed
