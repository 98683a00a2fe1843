"""Treebanks for tests: a few sentences by hand, and real ones; all trees of a sentence."""

import zipfile
from functools import cache
from itertools import chain, pairwise, product
from typing import Any, NamedTuple

import numpy as np
import pytest

from eigentext.corpus.trees import Tree, normalize_tree, parse_trees, read_trees
from eigentext.grammars.chart.forest import ParseForest
from eigentext.grammars.grammar import Grammar
from eigentext.grammars.learning.training import Expectations, GrammarParameters, TrainingTrees
from eigentext.grammars.treebank.normal_form import Rules, Treebank

HAND = """
(S (NP (DT the) (NN gardener)) (VP (VBZ waters) (NP (DT the) (JJ tall) (NN fern))) (. .))
(S (NP (PRP she)) (VP (VBZ sees) (NP (NP (NNS birds)) (PP (IN with) (NP (DT a) (NN lens))))) (. .))
(S (NP (PRP she)) (VP (VBZ sees) (NP (NNS birds)) (PP (IN with) (NP (DT a) (NN lens)))) (. .))
(S (NP (NNS ferns)) (VP (VBP need) (NP (NN shade) (, ,) (NN rain) (CC and) (NN peat))))
(S (VP (VB wait)))
(NP (DT a) (JJ tall) (, ,) (JJ old) (NN fern))
(S (NP (PRP she)) (VP (VBZ hopes) (SBAR (S (VP (TO to) (VP (VB see) (NP (NNS birds))))))) (. .))
(UH hello)
"""
# Nouns that may be verbs, and phrases with several places to attach.
AMBIGUOUS = """
(S (NP (N dogs)) (VP (V watch) (NP (N park) (N bark))))
(S (NP (N dogs) (N watch)) (VP (V park) (PP (P near) (NP (N bark)))))
(S (VP (V watch) (NP (NP (N dogs)) (PP (P near) (NP (D the) (N park))))))
(S (VP (V watch) (NP (N dogs)) (PP (P near) (NP (D the) (N park)))))
(S (VP (V bark)))
(NP (NP (N dogs)) (C and) (NP (N bark)))
(S (NP (D the) (N dogs) (N watch)) (VP (V hope) (S (VP (V park)))))
(N bark)
"""
PENN = {"train": range(1, 170), "dev": range(170, 185), "test": range(185, 200)}


@pytest.fixture(scope="session")
def hand_trees() -> list[Tree]:
    """Eight trees: wide nodes, unary chains, both trees of an ambiguous sentence, a single tag."""
    return parse_trees(HAND, "hand")


@pytest.fixture(scope="session")
def ambiguous_trees() -> list[Tree]:
    """Eight trees whose grammar has a few dozen trees for a sentence of five or six words."""
    return parse_trees(AMBIGUOUS, "ambiguous")


class Derived(NamedTuple):
    """A tree of a sentence, p(tree, words), and its binary nodes: symbols over spans, and rules."""

    tree: Tree
    probability: float
    items: list[tuple[Any, int, int]]
    edges: list[tuple[int, int, int, int]]  # rule, start, split point, end


@pytest.fixture(scope="session")
def every_tree():
    """``every_tree(level, symbols, words)``: all trees of a sentence by a grammar, one by one."""

    def enumerate_trees(level: Any, symbols: list[Any], words: list[str]) -> list[Derived]:
        grammar, q = level.grammar, level.words(words)
        states = [slice(*pair) for pair in pairwise(grammar.state_offsets)]
        rules = list(zip(*(x.tolist() for x in grammar.rules[:3])))
        found: dict[tuple[int, int], list[Any]] = {}
        for j in range(1, len(words) + 1):
            for i in range(j - 1, -1, -1):
                found[i, j] = here = []
                for a, symbol in enumerate(symbols):
                    if j == i + 1 and symbol.preterminal and q[i, states[a]].any():
                        item = [(symbol, i, j)]
                        here.append((a, q[i, states[a]], item, [], _above(symbol, words[i:j])))
                for r, (a, b, c) in enumerate(rules):
                    for k in range(i + 1, j):
                        for left in found[i, k]:
                            for right in found[k, j]:
                                if (left[0], right[0]) == (b, c):
                                    v = grammar.tensor_of(r).T @ left[1] @ right[1]
                                    items = [*left[2], *right[2], (symbols[a], i, j)]
                                    edges = [*left[3], *right[3], (r, i, k, j)]
                                    below = _above(symbols[a], left[4] + right[4])
                                    here.append((a, v, items, edges, below))
        return [
            Derived(below[0], float(grammar.root[states[a]] @ v), items, edges)
            for a, v, items, edges, below in found[0, len(words)]
            if grammar.root[states[a]].any()
        ]

    return enumerate_trees


def _above(symbol: Any, children: list[Any]) -> list[Any]:
    """The nodes of a symbol over these children: its chain; none for an intermediate symbol."""
    for label in reversed(symbol.chain) if symbol.siblings is None else ():
        children = [Tree(label, children)]
    return children


@pytest.fixture(scope="session")
def penn(data_folder):
    """``penn("dev")``: normalized trees of the Penn sample."""
    path = data_folder / "nltk_data/corpora/treebank.zip"
    if not path.exists():
        pytest.skip(f"no {path}")

    @cache
    def read(split: str) -> list[Tree]:
        with zipfile.ZipFile(path) as archive:
            names = [f"treebank/combined/wsj_{number:04d}.mrg" for number in PENN[split]]
            trees = [t for name in names for t in parse_trees(archive.read(name).decode(), name)]
        return [normalize_tree(tree) for tree in trees]

    return read


@pytest.fixture(scope="session")
def gum(data_folder):
    """``gum("dev")``: normalized trees of GUM."""
    folder = data_folder / "treebanks/gum"
    if not folder.exists():
        pytest.skip(f"no {folder}")

    @cache
    def read(split: str) -> list[Tree]:
        return [normalize_tree(tree) for tree in read_trees(folder / f"{split}.ptb.xz")]

    return read


class Latent(NamedTuple):
    """Trees to learn from, and parameters for the states of their labels."""

    treebank: Treebank
    trees: TrainingTrees
    parameters: GrammarParameters

    def word_place(self, node: int) -> int:
        """Where the q of a leaf is in ``parameters.lexical``."""
        trees, n_states = self.trees, self.parameters.grammar.n_states
        key = self.treebank.label[node], self.treebank.word[node]
        pair = list(zip(trees.pair_label, trees.pair_terminal)).index(key)
        return int(n_states[trees.pair_label[:pair]].sum())

    def assignments(self, t: int):
        """All choices of states for the nodes of tree t, and p(tree, states)."""
        treebank, grammar, lexical = self.treebank, *vars(self.parameters).values()
        first, last = treebank.offsets[t : t + 2]
        label = treebank.label[first:last]
        nodes = []
        for node in range(first, last):
            if treebank.left[node] < 0:
                nodes.append((None, lexical[self.word_place(node) :]))
            else:
                children = treebank.left[node] - first, treebank.right[node] - first
                nodes.append((children, grammar.tensor_of(treebank.rule[node])))
        for states in product(*(range(grammar.n_states[a]) for a in label)):
            p = grammar.root[grammar.state_offsets[label[-1]] + states[-1]]
            for h, (children, values) in zip(states, nodes):
                p *= values[h] if children is None else values[*(states[c] for c in children), h]
            yield states, p

    def expected(self) -> Expectations:
        """The counts of an E-step, from all choices of states."""
        treebank, grammar, lexical = self.treebank, *vars(self.parameters).values()
        shaped = Grammar(grammar.rules, grammar.n_states, 0 * grammar.tensor, 0 * grammar.root)
        words, states, total = 0 * lexical, 0 * grammar.root, 0.0
        for t, (first, last) in enumerate(pairwise(treebank.offsets)):
            choices = list(self.assignments(t))
            likelihood = sum(p for _, p in choices)
            total += np.log(likelihood)
            for node in range(first, last):
                leaf, at = treebank.left[node] < 0, grammar.state_offsets[treebank.label[node]]
                if leaf:
                    place = self.word_place(node)
                else:
                    left, right = treebank.left[node] - first, treebank.right[node] - first
                    tensor = shaped.tensor_of(treebank.rule[node])
                for chosen, p in choices:
                    h, share = chosen[node - first], p / likelihood
                    states[at + h] += share
                    if leaf:
                        words[place + h] += share
                    else:
                        tensor[chosen[left], chosen[right], h] += share
                    if node == last - 1:
                        shaped.root[at + h] += share
        return Expectations(total, shaped.tensor, words, shaped.root, states)


@pytest.fixture(scope="session")
def latent():
    """``latent(trees, n_states, seed)``: random distributions for the states of each label.

    `n_states` are dealt to the labels in turn; the smaller `shape`, the more states differ.
    """

    def draw(
        trees: Any,
        n_states: Any = (2, 1, 3),
        seed: int = 0,
        *,
        shape: float = 1.0,
        **binarization: Any,
    ) -> Latent:
        treebank = Treebank.from_trees(trees, **binarization)
        training = TrainingTrees(treebank, treebank.word[treebank.left < 0])
        rng = np.random.default_rng(seed)
        sizes = np.resize(n_states, len(treebank.symbols))
        rules = treebank.rules()
        empty = Grammar(rules, sizes, np.empty(0), np.empty(0))
        lengths = (
            empty.tensor_offsets[-1],
            empty.state_offsets[-1],
            sizes[training.pair_label].sum(),
        )
        tensor, root, lexical = (rng.gamma(shape, size=n) for n in lengths)
        grammar = Grammar(rules, sizes, tensor, root)
        places = np.cumsum(sizes[training.pair_label]) - sizes[training.pair_label]
        at_root = np.isin(np.arange(len(sizes)), treebank.label[treebank.offsets[1:] - 1])
        grammar.root *= np.repeat(at_root, sizes) / grammar.root[np.repeat(at_root, sizes)].sum()
        for a, m in enumerate(sizes):
            tensors = [grammar.tensor_of(r) for r in np.flatnonzero(rules.parent == a)]
            words = [lexical[x : x + m] for x in places[training.pair_label == a]]
            total = sum(t.sum(axis=(0, 1)) for t in tensors) + sum(words)
            for part in tensors + words:
                part /= total
        return Latent(treebank, training, GrammarParameters(grammar, lexical))

    return draw


@pytest.fixture(scope="session")
def whole_forest():
    """``whole_forest(rules, words)``: all that rules build from words, given the labels of each."""

    def build(rules: Rules, words: list[list[int]]) -> ParseForest:
        items, groups, rule, edges, children, number = [], [0], [], [0], [], {}
        n_labels = 1 + max([*rules.parent.tolist(), *chain(*words)])
        spans = ((i, j) for j in range(1, len(words) + 1) for i in range(j - 1, -1, -1))
        for (i, j), a in product(spans, range(n_labels)):
            found = {}
            for r in np.flatnonzero(rules.parent == a):
                b, c = rules.left[r], rules.right[r]
                pairs = (((i, k, b), (k, j, c)) for k in range(i + 1, j))
                found[r] = [(number[x], number[y]) for x, y in pairs if {x, y} <= number.keys()]
            if any(found.values()) or (j == i + 1 and a in words[i]):
                number[i, j, a] = len(items)
                items.append((a, i, j))
                for r, pairs in found.items():
                    if pairs:
                        rule.append(r)
                        children += pairs
                        edges.append(len(children))
                groups.append(len(rule))
        label, start, end = np.array(items, np.int32).T.copy()
        left, right = np.array(children, np.int32).reshape(-1, 2).T.copy()
        roots = np.flatnonzero(end - start == len(words)).astype(np.int32)
        groups, rule, edges = np.array(groups), np.array(rule, np.int32), np.array(edges)
        return ParseForest(label, start, end, groups, rule, edges, left, right, roots)

    return build
