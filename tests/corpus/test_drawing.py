"""A tree's drawing: well-formed, nothing lost, parents above children, no label over another."""

import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eigentext import Tree
from eigentext.corpus.drawing import tree_svg
from eigentext.corpus.trees import walk

SVG = "{http://www.w3.org/2000/svg}"
SENTENCE = "(S (NP (DT the) (NN cat)) (VP (VBZ sees) (NP (PRP it))))"

names = st.text(st.characters(), max_size=8)
trees = st.recursive(
    st.builds(Tree, names, st.lists(names, max_size=2)),
    lambda below: st.builds(Tree, names, st.lists(below | names, max_size=3)),
    max_leaves=8,
)


def parts(drawing):
    """The names with their places, and the lines from a name down to another."""
    root = ElementTree.fromstring(drawing)
    texts = [(x.text or "", float(x.get("x")), float(x.get("y"))) for x in root.iter(f"{SVG}text")]
    (path,) = root.iter(f"{SVG}path")
    numbers = [float(number) for number in re.findall(r"-?[\d.]+", path.get("d"))]
    return root, texts, list(zip(*(numbers[i::5] for i in range(5))))


def test_names_are_those_of_the_tree_and_words_are_one_row():
    tree = Tree.parse(SENTENCE)
    root, texts, lines = parts(tree._repr_svg_())
    assert [name for name, _, _ in texts] == [
        node if isinstance(node, str) else node.label for node in walk(tree)
    ]
    places = {name: (x, y) for name, x, y in texts if name != "NP"}
    words = [places[word] for word in tree.leaves()]
    assert words == sorted(words)
    assert len({y for _, y in words}) == 1
    assert places["S"][1] < places["VP"][1] < places["VBZ"][1] < places["sees"][1]
    assert places["VBZ"][0] == places["sees"][0]
    width, height = (float(root.get(side)) for side in ("width", "height"))
    assert root.get("viewBox") == f"0 0 {width:.0f} {height:.0f}"
    assert all(0 < x < width and 0 < y < height for _, x, y in texts)
    assert len(lines) == len(texts) - 1  # every node but the root hangs on another


@given(trees)
def test_any_tree_is_well_formed_and_hangs_together(tree):
    _, texts, lines = parts(tree_svg(tree))
    nodes = walk(tree)
    assert len(texts) == len(nodes)
    places = iter(range(1, len(nodes)))
    expected = []  # a line for each child, in the order of their parents
    below = {0: []}
    stack = [(0, len(nodes[0].children))]
    for i in places:
        while stack and not stack[-1][1]:
            stack.pop()
        parent, left = stack[-1]
        stack[-1] = parent, left - 1
        below[parent].append(i)
        below[i] = []
        stack.append((i, 0 if isinstance(nodes[i], str) else len(nodes[i].children)))
    for i in sorted(below):
        expected += [(texts[i][1], texts[j][1]) for j in below[i]]
        assert all(texts[i][2] < texts[j][2] for j in below[i])
    assert [(x1, x2) for x1, _, x2, _, _ in lines] == expected
    assert all(y1 < y2 <= y3 for _, y1, _, y2, y3 in lines)


def test_neighbours_do_not_overlap():
    tree = Tree.parse(
        "(A_LONG_LABEL_INDEED (X a) (ANOTHER_LONG_LABEL b) (Y incomprehensibilities))"
    )
    _, texts, _ = parts(tree_svg(tree))
    rows = {}
    for name, x, y in texts:
        rows.setdefault(y, []).append((x, name))
    for row in rows.values():
        for (x1, name1), (x2, name2) in pairwise(row):
            assert x2 - x1 > 7 * 0.55 * (len(name1) + len(name2))


def test_signs_of_markup_and_what_xml_has_no_place_for():
    tree = Tree("<&>", ["</text><script>", '"\x00\x1b\ud800', "猫"])
    drawing = tree_svg(tree)
    assert "<script>" not in drawing
    _, texts, _ = parts(drawing)
    assert [name for name, _, _ in texts] == ["<&>", "</text><script>", '"���', "猫"]


def test_colours_are_the_pages():
    drawing = tree_svg(Tree.parse(SENTENCE))
    assert set(re.findall(r'(?:fill|stroke|color)="([^"]*)"', drawing)) == {"currentColor", "none"}
    assert Tree.parse(SENTENCE)._repr_html_().count("<svg ") == 1


def test_a_title_for_those_who_do_not_see():
    root, _, _ = parts(tree_svg(Tree.parse(SENTENCE)))
    assert root.get("role") == "img"
    assert root.find(f"{SVG}title").text == SENTENCE


@pytest.mark.parametrize("tree", [Tree("X", []), Tree("X", ["w"]), Tree("", [""])])
def test_small_ones(tree):
    root, texts, _ = parts(tree_svg(tree))
    assert len(texts) == len(walk(tree))
    assert float(root.get("width")) > 0


def test_a_deep_one():
    tree = Tree("X", ["w"])
    for _ in range(20_000):
        tree = Tree("X", [tree])
    assert tree_svg(tree).count("<text") == 20_002
