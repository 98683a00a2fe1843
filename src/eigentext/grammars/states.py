r"""Hidden states as answers: posteriors at nodes and tokens, and vectors of tokens made of them.

With the inside vector b and the outside vector z of an item (a, i, j) of the packed forest, the
posterior of its state h is

.. math:: p(a_h, i, j \mid \text{sentence}) = \frac{z_h\,b_h}{p(\text{sentence})},

and its sum over h is the marginal :math:`\mu(a, i, j)`. For a tree, the forest has one derivation,
and the posteriors of each node sum to one.

A token is below one preterminal. So the posteriors of all states of all preterminals over it sum to
one, and are a vector of the token in its sentence. There are hundreds of them, and most are nearly
zero. :func:`state_vectors` gives each state of a preterminal a short vector, and the token has the
expected vector :math:`E[v(a_h) \mid \text{sentence}]`. A state is described by where it occurs in a
tree. With the average inside and outside vectors r and s of labels (:meth:`Grammar.state_means`)
and the number n(a) of nodes of the treebank, the grammar expects

.. math::

    J_{b_{h_2},\,(a_{h_1}, \text{left})} = \sum_{a \to b\,c} n(a)\,s_{h_1} r_{h_2}
    \sum_{h_3} t(a \to b\,c, h_2, h_3 \mid a, h_1)\, r_{h_3}

left children :math:`b_{h_2}` below :math:`a_{h_1}`, and as many right children by the same formula.
The vectors are those of a CCA between a child and its place below its parent, scaled as eigenwords
are:

.. math::

    D_b^{-1/2} (J - E) D_a^{-1/2} \approx U \Sigma V^\top, \qquad v(a_h) = D_b^{-1/2} U \Sigma .

D are the marginals of J, smoothed, and E is the product of the marginals. So two states that occur
in the same places have the same direction. All of this follows from the parameters of the grammar.
No text is needed, and nothing more is saved.

A spectral grammar has coordinates in place of states. Inside and outside vectors are linear images
of those of the states. So the sums over coordinates, the marginals, are the same. But the single
products :math:`z_h b_h` are not posteriors of states: they depend on the basis, which the SVD of
the treebank's features has chosen, and may be negative or above 1. They are numbers that describe
the token, no more. :meth:`StateVectors.transform` divides those of each token by the sum of their
sizes, so that no token outweighs others.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from eigentext.corpus.trees import normalize_tree
from eigentext.errors import ParameterError
from eigentext.estimators import check_is_fitted
from eigentext.grammars.answers import NodeStates
from eigentext.grammars.chart.cascade import Cascade, Pruned, thresholds
from eigentext.grammars.chart.forest import (
    ParseForest,
    StatePosteriors,
    state_posteriors,
    tree_forest,
)
from eigentext.grammars.grammar import Grammar, starts
from eigentext.grammars.treebank.normal_form import Symbol, Treebank
from eigentext.grammars.treebank.reading import TreeLike
from eigentext.parameters import Settings, is_whole

Sentence = Sequence[str] | str  # tokens, or raw text
_LEAST = 1e-12  # a smaller share of the sum of sizes counts as zero
_NO_CORRELATION = 1e-8  # a smaller singular value is rounding
# Nodes of the treebank. Without them, states that occur a few times have the largest correlations,
# and vectors far longer than those of others. 1, 10 and 100 were about equally good for taggers.
_SMOOTHING = 10.0


class SentenceStates(NamedTuple):
    """The posteriors of the states of all items of a forest, with the symbols of their labels."""

    forest: ParseForest
    symbols: list[Symbol]
    found: StatePosteriors

    def of(self, item: int) -> np.ndarray:
        """The posteriors of the states of an item; with signs, over the size of p(sentence)."""
        found = self.found
        return found.sign * found.states[found.place[item] : found.place[item + 1]]


class TokenSpace(NamedTuple):
    """How posteriors of states become vectors of tokens.

    Attributes
    ----------
    columns
        The first column of each preterminal symbol, among the states of all preterminals.
    prior
        How often the grammar expects each of these states: n(a) s_h r_h.
    shares
        s_h: what the likelihood of a word is multiplied with, if nothing else is known.
    labels
        The numbers of the preterminals in the grammar.
    vectors
        The vector of each state, or None if the posteriors themselves are asked for.
    """

    columns: dict[Symbol, int]
    prior: np.ndarray
    shares: np.ndarray
    labels: np.ndarray
    vectors: np.ndarray | None

    @property
    def width(self) -> int:
        """The number of columns of the vectors of tokens."""
        return len(self.prior) if self.vectors is None else self.vectors.shape[1]


class StateVectors:
    """Mixin of parsers: posteriors of hidden states, and vectors of tokens."""

    symbols_: list[Symbol]
    n_states_: np.ndarray
    _cascade: Cascade
    _empty: Treebank
    _words: Callable[[Sentence], list[str]]
    _many: Callable[..., Iterator[Any]]

    @property
    def _used(self) -> Settings:
        """The parameters that the model was learned with."""
        raise NotImplementedError

    def state_posteriors(self, tree: TreeLike, *, grammar: int = 0) -> list[NodeStates]:
        """The posterior of the hidden states of each node, given the tree and its words.

        The tree is normalized first. Nodes come in post-order: children before their parent, the
        root last. The list is empty if the grammar gives the tree no probability. `grammar` is the
        number of the grammar of an ensemble: each has states of its own.

        A spectral grammar has coordinates in place of states. They sum to one too, but they are no
        probabilities and may be negative.

        Examples
        --------
        >>> from eigentext import LatentPCFG
        >>> trees = ["(S (NP (NNP Ann)) (VP (VBZ sleeps)))", "(S (NP (NNP Bob)) (VP (VBZ runs)))"]
        >>> model = LatentPCFG(2, method="em", nodes_per_state=1).fit(trees)
        >>> [(node.label, node.start, node.end) for node in model.state_posteriors(trees[0])]
        [('NP+NNP', 0, 1), ('VP+VBZ', 1, 2), ('S', 0, 2)]
        """
        check_is_fitted(self)
        level = self._cascade.levels[_checked_grammar(grammar, len(self._cascade.levels))]
        encoded = self._empty.encode([normalize_tree(tree)])
        if not encoded.is_known:
            return []
        forest = tree_forest(encoded)
        scores = level.leaf_scores(forest, encoded.tokens)
        found = state_posteriors(forest, level.grammar, scores)
        # A tree is divided by its own p, whatever its sign.
        return [] if found is None else _nodes(forest, self.symbols_, found._replace(sign=1.0))

    def state_marginals(self, tokens: Sentence, *, grammar: int = 0) -> list[NodeStates]:
        """p(a, i, j, h | sentence): the posterior of each state of each label over each span.

        The states of a node sum to the marginal of its symbol: the probability, over all trees that
        pruning leaves, that the sentence's tree has this node. Nodes over one word are those of
        tokens. The list is empty if the grammar has no parse of the sentence. `grammar` is the
        number of the grammar of an ensemble. The average of these sums over all grammars, added up
        by the labels of :attr:`NodeStates.chain`, is what :meth:`scores` returns.

        If only the back-off has a parse, some symbols are not among those of the grammar and have
        one state. A spectral grammar has coordinates in place of states. They have the same sums,
        but they are no probabilities.

        Examples
        --------
        >>> from eigentext import LatentPCFG
        >>> trees = ["(S (NP (NNP Ann)) (VP (VBZ sleeps)))", "(S (NP (NNP Bob)) (VP (VBZ runs)))"]
        >>> model = LatentPCFG(2, method="em", nodes_per_state=1).fit(trees)
        >>> for node in model.state_marginals("Ann runs"):
        ...     print(node.label, node.start, node.end, f"{node.probability:.2f}")
        NP+NNP 0 1 1.00
        VP+VBZ 1 2 1.00
        S 0 2 1.00
        """
        words = self._words(tokens)
        _checked_grammar(grammar, len(self._cascade.levels))
        found = read_states(self._cascade, words, thresholds(self._used.prune), grammar)
        return [] if isinstance(found, Pruned) else _nodes(*found)

    def transform(
        self,
        sentences: Iterable[Sentence],
        *,
        n_components: int | None = 50,
        n_jobs: int | None = None,
    ) -> list[np.ndarray]:
        """A vector for each token of each sentence, from the posterior of the states of its node.

        Parameters
        ----------
        sentences : iterable of lists of tokens, or of raw text
            As :meth:`parses` takes them. An empty sentence has an empty array.
        n_components : int or None
            The dimension of the vectors: the states of preterminals are projected by a CCA of the
            grammar (see :mod:`eigentext.grammars.states`). It is smaller if there are fewer states.
            None for the posteriors themselves, with a column for each state of each preterminal
            (:meth:`get_feature_names_out`). For a PCFG, these are the posteriors of tags, with the
            unary chains above them.
        n_jobs : int, optional
            As in :meth:`parses`.

        Returns
        -------
        list of float32 arrays, shape (n_tokens, n_components)
            For an ensemble, the states are those of the first grammar. If the grammar has no parse
            of a sentence, the preterminals are those of the coarse PCFG, and the states are those
            of the word alone.
        """
        check_is_fitted(self)
        space = self._token_space(n_components)
        found = self._many("transform", _transformed, sentences, space, n_jobs=n_jobs)
        return list(found)

    def get_feature_names_out(
        self, input_features: Any = None, *, n_components: int | None = 50
    ) -> np.ndarray:
        """The names of the columns of :meth:`transform`, for the same `n_components`.

        Without a projection, the names are those of states, such as "NP+NNP 3".
        """
        check_is_fitted(self)
        space = self._token_space(n_components)
        if space.vectors is not None:
            return np.array([f"states{k}" for k in range(space.width)], object)
        names = [(str(self.symbols_[a]), self.n_states_[a]) for a in space.labels.tolist()]
        return np.array([f"{name} {h}" for name, n in names for h in range(n)], object)

    def _token_space(self, n_components: int | None) -> TokenSpace:
        if n_components is not None and (not is_whole(n_components) or n_components < 1):
            raise ParameterError(
                f"n_components must be a whole number, 1 or more, or None, not {n_components!r}"
            )
        # The cascade keeps it: copies of a parser share it, and a fit makes a new one.
        kept = vars(self._cascade).setdefault("_token_spaces", {})
        if n_components not in kept:
            kept[n_components] = token_space(
                self.symbols_, self._cascade.levels[0].grammar, n_components
            )
        return kept[n_components]


def read_states(
    cascade: Cascade, words: Sequence[str], limits: tuple[float, float], grammar: int = 0
) -> SentenceStates | Pruned:
    """The posteriors of the states of a sentence, or what is left of it without a parse.

    Parameters
    ----------
    cascade
        The grammars of a parser.
    words
        The tokens of a sentence.
    limits
        The thresholds of the coarse and of the middle grammar.
    grammar
        The number of the grammar of an ensemble.
    """
    pruned = cascade.pruned(words, *limits)
    if pruned.problem is None:
        level, forest = cascade.levels[grammar], pruned.forest
        scores = level.leaf_scores(forest, words)
        found = state_posteriors(forest, level.grammar, scores)
        if found is not None:
            return SentenceStates(forest, cascade.symbols, found)
    local = cascade.backoff and cascade.backoff.sentence(words, limits[0])
    if local:
        level, forest = local.levels[grammar], local.forest
        found = state_posteriors(forest, level.grammar, level.leaf_scores(forest, words))
        if found is not None:
            return SentenceStates(forest, local.symbols, found)
    return pruned


def token_space(symbols: list[Symbol], grammar: Grammar, n_components: int | None) -> TokenSpace:
    """How posteriors of the states of preterminals become vectors of tokens."""
    labels = np.array([a for a, symbol in enumerate(symbols) if symbol.preterminal], np.int64)
    first = starts(grammar.n_states[labels])
    J = expected_children(grammar, labels)
    vectors = None
    if n_components is not None:
        vectors = state_vectors(J, n_components).astype(np.float32)
    columns = {symbols[a]: at for a, at in zip(labels.tolist(), first.tolist())}
    shares = grammar.state_means()[1][grammar.states_of(labels)]
    return TokenSpace(columns, np.abs(J.sum(axis=1)), shares, labels, vectors)


def expected_children(grammar: Grammar, labels: np.ndarray) -> np.ndarray:
    """J: how often the grammar expects the states of these labels below each state.

    A row is a state of one of the labels. A column is a state of a label that has children, for
    left children, and then for right children.
    """
    r, s = grammar.state_means()
    first, rules = grammar.state_offsets, grammar.rules
    nodes = np.bincount(rules.parent, rules.counts, len(grammar.n_states))
    row, n_rows = _places(grammar, labels)
    column, n = _places(grammar, np.unique(rules.parent))
    J = np.zeros((n_rows, 2 * n))
    for rule, (a, b, c) in enumerate(zip(*(x.tolist() for x in rules[:3]))):
        of_a, of_b, of_c = (slice(first[x], first[x + 1]) for x in (a, b, c))
        T, top = grammar.tensor_of(rule), nodes[a] * s[of_a]
        if b in row:
            J[row[b], column[a]] += r[of_b, None] * np.tensordot(r[of_c], T, (0, 1)) * top
        if c in row:
            to_right = slice(n + column[a].start, n + column[a].stop)
            J[row[c], to_right] += r[of_c, None] * np.tensordot(r[of_b], T, (0, 0)) * top
    return J


def _places(grammar: Grammar, labels: np.ndarray) -> tuple[dict[int, slice], int]:
    """Where the states of each of these labels are if they are side by side, and their number."""
    offsets = starts(grammar.n_states[labels]).tolist()
    places = {a: slice(*offsets[k : k + 2]) for k, a in enumerate(labels.tolist())}
    return places, offsets[-1]


def state_vectors(J: np.ndarray, n_components: int, smoothing: float = _SMOOTHING) -> np.ndarray:
    """Vectors of the rows of J by CCA, with the trivial triple left out.

    Equivalent, up to signs, to the rows of D_b^(-1/2) U S. Here U S V^T is the largest part of rank
    n_components of D_b^(-1/2) (J - E) D_a^(-1/2). D_b and D_a are the diagonal matrices of the sums
    of rows and columns of J, plus `smoothing`, and E has the entries of J that these sums imply if
    rows and columns are independent. With negative entries, they are sums of absolute values.
    """
    from eigentext.factor import svd

    rows, columns = np.abs(J).sum(axis=1), np.abs(J).sum(axis=0)
    total = rows.sum()
    if not 0 < total < np.inf:  # no rule has a preterminal child; or numbers of a damaged file
        return np.zeros((len(J), 1))
    kept = columns > 0
    rows_by, columns_by = np.sqrt(rows + smoothing), np.sqrt(columns[kept] + smoothing)
    Omega = (J[:, kept] - rows[:, None] * columns[kept] / total) / rows_by[:, None] / columns_by
    U, sigma, _ = svd(Omega, min(n_components, *Omega.shape))
    rank = max(int((sigma > _NO_CORRELATION).sum()), 1)
    return np.sqrt(total) * U[:, :rank] * sigma[:rank] / rows_by[:, None]


def _transformed(words: list[str], model: Any, space: TokenSpace) -> np.ndarray:
    """The vectors of the tokens of a sentence."""
    cascade: Cascade = model._cascade
    if not words:
        return np.zeros((0, space.width), np.float32)
    found = read_states(cascade, words, thresholds(model._used.prune))
    if isinstance(found, Pruned):
        states = _without_parse(cascade, found, words, space)
    else:
        states = _token_states(found, len(words), space)
    # One for probabilities. Coordinates of spectral grammars may be of any size.
    sizes = np.abs(states).sum(axis=1, keepdims=True)
    states /= np.where(sizes > _LEAST, sizes, 1.0)
    vectors = states if space.vectors is None else states @ space.vectors
    return vectors.astype(np.float32)


def _token_states(found: SentenceStates, n: int, space: TokenSpace) -> np.ndarray:
    """The posteriors of the states of preterminals, a row for each token."""
    forest, states = found.forest, np.zeros((n, len(space.prior)))
    for item in np.flatnonzero(forest.end - forest.start == 1).tolist():
        symbol = found.symbols[forest.label[item]]
        at, row = space.columns.get(symbol), forest.start[item]
        own = found.found.sign * found.of(item)  # those of a token sum to one, whatever the sign
        if at is not None:
            states[row, at : at + len(own)] += own
        else:  # a chain of the back-off that the treebank does not have
            states[row] += own.sum() * _states_of_tag(symbol, space)
    return states


def _without_parse(
    cascade: Cascade, pruned: Pruned, words: Sequence[str], space: TokenSpace
) -> np.ndarray:
    """The coarse grammar's posteriors of preterminals, with the states of the words alone."""
    reading, level = cascade.vote(pruned, []), cascade.levels[0]
    n, grammar = len(words), level.grammar
    labels = space.labels
    likelihood = level.words.at(
        words, np.repeat(np.arange(n), len(space.prior)), np.tile(grammar.states_of(labels), n)
    ).reshape(n, -1)
    states = np.zeros_like(likelihood)
    sizes = dict(zip(space.columns.values(), grammar.n_states[labels].tolist()))
    forest = reading.forest
    for item in np.flatnonzero(forest.end - forest.start == 1).tolist():
        symbol, row = reading.symbols[forest.label[item]], forest.start[item]
        at = space.columns.get(symbol)
        if at is None:
            states[row] += reading.items[item] * _states_of_tag(symbol, space)
            continue
        here = slice(at, at + sizes[at])
        own = likelihood[row, here] * space.shares[here]
        total = own.sum()
        if abs(total) > _LEAST * np.abs(own).sum():
            states[row, here] += reading.items[item] * own / total
    return states


def _states_of_tag(symbol: Symbol, space: TokenSpace) -> np.ndarray:
    """The states of preterminals with the same tag, as often as the grammar expects them."""
    ends = np.append([*space.columns.values()][1:], len(space.prior))
    same = [
        (at, end)
        for (other, at), end in zip(space.columns.items(), ends.tolist())
        if other.chain[-1] == symbol.chain[-1]
    ]
    found = np.zeros(len(space.prior))
    for at, end in same:
        found[at:end] = space.prior[at:end]
    return found / max(found.sum(), _LEAST)


def _nodes(forest: ParseForest, symbols: list[Symbol], found: StatePosteriors) -> list[NodeStates]:
    """The items of a forest that stand for labels, with the posteriors of their states."""
    reading, nodes = SentenceStates(forest, symbols, found), []
    for item, label in enumerate(forest.label.tolist()):
        symbol = symbols[label]
        if symbol.siblings is None:  # not an intermediate node of the binarization
            span = int(forest.start[item]), int(forest.end[item])
            nodes.append(NodeStates(str(symbol), symbol.chain, *span, reading.of(item)))
    return nodes


def _checked_grammar(number: Any, n: int) -> int:
    if not is_whole(number) or not 0 <= number < n:
        raise ParameterError(f"grammar must be a whole number from 0 to {n - 1}, not {number!r}")
    return int(number)
