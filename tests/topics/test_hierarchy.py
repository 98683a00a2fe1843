"""The tree over topics: known pairs, laws of its heights, any order of topics, and its formats."""

import json

import numpy as np
import pytest

import eigentext as et
from eigentext.errors import ParameterError
from eigentext.topics.hierarchy import hierarchy, hierarchy_section, merged


def by_hand(phi, weights=None):
    """A fitted model with these topics."""
    K, d = phi.shape
    model = et.TopicModel(1, refine=0).fit(np.ones((5, d), int))
    model.components_ = phi
    model.weights_ = np.full(K, 1 / K) if weights is None else weights
    model.alpha_, model.n_topics_ = model.alpha0_ * model.weights_, K
    model.topic_names_ = [None] * K
    return model


def pairs(seed=0, K=8, d=60):
    """Topics 2 i and 2 i + 1 are near."""
    rng = np.random.default_rng(seed)
    bases = rng.dirichlet(np.full(d, 0.1), K // 2)
    noise = rng.dirichlet(np.full(d, 0.1), K)
    return 0.9 * np.repeat(bases, 2, axis=0) + 0.1 * noise, rng.dirichlet(np.full(K, 10.0))


@pytest.mark.parametrize("seed", range(4))
def test_near_pairs_are_found(seed):
    phi, weights = pairs(seed)
    groups = hierarchy(by_hand(phi, weights)).cut(4)
    assert sorted(groups) == [[0, 1], [2, 3], [4, 5], [6, 7]]


def test_heights_rise_and_add_up_to_chi_squared():
    phi, weights = pairs(5)
    tree = hierarchy(by_hand(phi, weights))
    costs, v = tree.linkage_[:, 2], weights @ phi
    assert (np.diff(costs) >= 0).all()
    assert costs.sum() == pytest.approx(weights @ (np.square(phi - v) / v).sum(axis=1))
    assert tree.heights.sum() == pytest.approx(1)


@pytest.mark.parametrize("equal", [False, True])
def test_the_order_of_topics_does_not_matter(equal):
    phi, weights = pairs(6)
    weights = np.full(8, 1 / 8) if equal else weights
    order = np.random.default_rng(0).permutation(8)
    one, other = hierarchy(by_hand(phi, weights)), hierarchy(by_hand(phi[order], weights[order]))
    assert np.array_equal(one.linkage_[:, 2], other.linkage_[:, 2])
    for n in range(1, 9):
        renamed = [sorted(order[k] for k in group) for group in other.cut(n)]
        assert sorted(renamed) == sorted(one.cut(n))
    assert [one.bits[k] for k in order] == other.bits
    assert one.words[-1] == other.words[-1]


def test_cuts():
    tree = hierarchy(by_hand(*pairs(7)))
    assert tree.cut(1) == [list(range(8))]
    assert sorted(tree.cut(8)) == [[k] for k in range(8)]
    for n in range(1, 8):  # each cut divides one group of the cut before
        before, after = ({tuple(g) for g in tree.cut(m)} for m in (n, n + 1))
        assert (len(before - after), len(after - before)) == (1, 2)
    for n in (0, 9, 1.5, "2"):
        with pytest.raises(ParameterError, match="must be a whole number from 1 to 8"):
            tree.cut(n)


def test_formats_agree():
    tree = hierarchy(by_hand(*pairs(8)), n_words=2)
    nested = tree.to_dict()
    assert json.loads(json.dumps(nested)) == nested

    def leaves(node):
        if "topic" in node:
            return [node["topic"]]
        return [k for child in node["children"] for k in leaves(child)]

    assert leaves(nested) == tree.topics[-1]
    newick = tree.to_newick()
    assert newick.endswith(";") and newick.count("(") == 7 == newick.count(")")
    table = tree.to_arrow()
    assert table["parent"].null_count == 1
    assert table["topic"].to_pylist()[:8] == [topics[0] for topics in tree.topics[:8]]
    assert by_hand(*pairs(8)).to_arrow("tree", n_words=2).equals(table)
    lines = str(tree).splitlines()
    assert len(lines) == 15 and lines[0].startswith(" + 100.0%")
    assert all(path.count(" ") == 0 and set(path) <= {"0", "1"} for path in tree.bits)
    assert len({*tree.bits}) == 8


def test_pages_escape_words():
    phi, weights = pairs(9)
    tree = hierarchy(by_hand(phi, weights), words=[f"<b>{w}&" for w in range(60)])
    page = tree._repr_html_()
    assert "<b>0&" not in page and "&lt;b&gt;" in page
    assert page.count("<li>") == page.count("</li>") == 15


def test_topics_have_their_top_words_and_large_groups_have_none():
    phi, weights = pairs(4)
    model = by_hand(phi, weights)
    tree = hierarchy(model, n_words=3)
    top = model.top_words(3)
    assert [tree.words[node] for node in range(8)] == [top[some[0]] for some in tree.topics[:8]]
    lines, page = str(tree).splitlines(), tree._repr_html_()
    shares = [tree.share(node) for _, node in tree.lines()]
    assert max(shares) > 0.5 > min(shares)
    for line, share, (_, node) in zip(lines, shares, tree.lines()):
        large = node >= 8 and share > 0.5
        count = f"{len(tree.topics[node])} topics"
        assert line.endswith(count if large else " ".join(tree.words[node]))
        assert (", ".join(tree.words[node]) in page) or large
        assert (f"<span>{count} <small>" in page) or not large


def test_names_of_topics_are_shown():
    model = by_hand(*pairs(4))
    assert "<i" not in hierarchy_section(model)
    model.topic_names_[3] = "<food>"
    page = hierarchy_section(model)
    assert page.count("<i") == 1
    assert '<a href="#topic-3"><b>3</b> <i lang="" dir="auto">&lt;food&gt;</i> <span' in page


def test_one_and_two_topics():
    one = hierarchy(by_hand(np.full((1, 4), 0.25)))
    assert (one.cut(1), one.bits, one.to_newick()) == ([[0]], [""], "topic0;")
    assert one.to_dict()["topic"] == 0 and len(str(one).splitlines()) == 1
    assert hierarchy_section(by_hand(np.full((1, 4), 0.25))) == ""
    same = hierarchy(by_hand(np.full((2, 4), 0.25)))
    assert same.heights.tolist() == [0.0]
    assert hierarchy_section(by_hand(np.full((2, 4), 0.25))) == ""


def test_a_topic_without_weight_and_words_of_no_topic():
    phi, _ = pairs(3)
    phi[:, :2] = 0
    phi /= phi.sum(axis=1, keepdims=True)
    weights = np.array([0.0, 0.3, 0.2, 0.1, 0.1, 0.1, 0.1, 0.1])
    assert np.isfinite(merged(np.maximum(weights, 1e-12), phi)).all()
    assert hierarchy(by_hand(phi, weights)).cut(1) == [list(range(8))]


def test_bad_input():
    model = by_hand(*pairs(0))
    with pytest.raises(ParameterError, match="give one for each"):
        hierarchy(model, words=["a"])
    with pytest.raises(ParameterError, match="n_words"):
        hierarchy(model, n_words=0)


def test_the_report_has_the_tree():
    model = by_hand(*pairs(1))
    page = model.report()
    assert hierarchy_section(model) in page
    assert all(f'href="#topic-{k}"' in hierarchy_section(model) for k in range(8))
