"""The reranker of trees: nothing learned is the base model, and planted signals are found."""

import numpy as np
import pytest

import eigentext as et
from eigentext import engine
from eigentext.errors import ModelFileError, ParameterError
from eigentext.kernels.candidate import WeighedCandidate

VERBS = {"ate": "high", "saw": "high", "liked": "low", "had": "low"}
NOUNS = ("pie", "bread", "soup", "rice")


def both(verb, noun, other):
    """An attachment to the verb, and one to the noun."""
    high = f"(S (NP (PRP I)) (VP (VBD {verb}) (NP (NN {noun})) (PP (IN of) (NP (NN {other})))))"
    low = f"(S (NP (PRP I)) (VP (VBD {verb}) (NP (NP (NN {noun})) (PP (IN of) (NP (NN {other}))))))"
    return {"high": et.Tree.parse(high), "low": et.Tree.parse(low)}


def weighed(trees, p):
    """Candidates of a base model that thinks p of the high attachment, whatever the verb."""
    n_high, n_low = 6, 7  # brackets
    marginals = {
        "high": (1.0,) * (n_high - 1) + (1.0,),
        "low": (1.0, 1.0, 1.0, 1 - p, 1.0, 1.0, 1.0),
    }
    expected = {"high": n_high * 0.55, "low": (n_low - 1) * 0.55 + (1 - p) - 0.45}
    return [
        WeighedCandidate(trees[kind], np.log(q), expected[kind], marginals[kind])
        for kind, q in (("high", p), ("low", 1 - p))
    ]


def planted(n, seed=0):
    """Lists and gold: the verb decides, which the base model does not know."""
    rng = np.random.default_rng(seed)
    lists, gold = [], []
    for _ in range(n):
        verb, noun, other = rng.choice(list(VERBS)), rng.choice(NOUNS), rng.choice(NOUNS)
        trees = both(verb, noun, other)
        lists.append(weighed(trees, rng.uniform(0.4, 0.6)))
        gold.append(trees[VERBS[str(verb)]])
    return lists, gold


@pytest.fixture(scope="module")
def train():
    return planted(120)


@pytest.fixture(scope="module")
def test():
    return planted(40, seed=1)


@pytest.fixture(scope="module", params=["log-linear", "perceptron"])
def reranker(request, train):
    return et.TreeReranker(request.param, min_count=2).fit(*train)


def test_it_finds_a_planted_signal(reranker, test):
    report = reranker.evaluate(*test)
    assert report.first < 0.97
    assert report.reranked == report.oracle == 1.0
    assert reranker.score(*test) == 1.0


def test_the_heaviest_features_name_the_verbs(train):
    model = et.TreeReranker(features="edges", penalty=0.1, min_count=2).fit(*train)
    names = " ".join(name for name, _ in model.top_features(20))
    assert all(verb in names for verb in VERBS)


def test_without_features_it_chooses_as_the_parser_does(test):
    lists, gold = test
    model = et.TreeReranker(penalty=1e9).fit(*planted(30, seed=2))
    expected = [int(np.argmax([one.expected for one in some])) for some in lists]
    assert model.predict(lists).tolist() == expected
    assert model.evaluate(lists, gold).n_changed == 0


def test_order_lists_and_answers(reranker, test):
    lists, _ = test
    best, ranked = reranker.best([*lists, []]), reranker.rerank(lists)
    places = reranker.predict(lists)
    assert best[-1] is None
    for one, tree, row, place in zip(lists, best, ranked, places):
        assert tree == row[0].structure == one[place].structure
        assert row[0].log_probability >= row[-1].log_probability
    assert reranker.predict([[]]).tolist() == [-1]


def test_files_keep_everything(reranker, test, tmp_path):
    lists, _ = test
    reranker.save(tmp_path / "model")
    loaded = et.load(tmp_path / "model")
    assert loaded.rerank(lists) == reranker.rerank(lists)
    assert loaded.features_ == reranker.features_
    assert loaded.diagnostics_ == reranker.diagnostics_
    assert loaded.parameters_ == reranker.parameters_


def test_clusters_are_saved_with_it(train, test, tmp_path):
    clusters = {"ate": "00", "saw": "00", "liked": "11", "had": "11"}
    model = et.TreeReranker(features=["clusters"], clusters=clusters, min_count=2).fit(*train)
    assert model.score(*test) == 1.0
    model.save(tmp_path / "model")
    loaded = et.load(tmp_path / "model")
    assert loaded.clusters == clusters
    assert loaded.rerank(test[0]) == model.rerank(test[0])


def test_vectors_are_saved_with_it(train, test, tmp_path):
    words = [*VERBS, *NOUNS]
    vectors = words, np.array([[1, 0.1], [1, 0], [-1, 0.1], [-1, 0], *[[0, 1]] * 4])
    model = et.TreeReranker(features=["vectors"], vectors=vectors, min_count=2).fit(*train)
    assert model.score(*test) == 1.0
    assert et.TreeReranker(features=["vectors"], min_count=2).fit(*train).score(*test) < 1
    model.save(tmp_path / "model")
    loaded = et.load(tmp_path / "model")
    assert loaded.rerank(test[0]) == model.rerank(test[0])
    assert loaded.vectors.words == words
    assert (loaded.fit(*train).weights_ == model.weights_).all()


def test_vectors_that_say_nothing(train):
    with pytest.raises(ParameterError, match="all zero"):
        et.TreeReranker(vectors=(["ate"], np.zeros((1, 2)))).fit(*train)
    with pytest.raises(ParameterError, match="finite"):
        et.TreeReranker(vectors=(["ate"], np.full((1, 2), np.nan))).fit(*train)


def test_damaged_files(reranker):
    arrays, about = reranker._to_saved()
    for name, value in (
        ("weights", np.full(len(arrays["weights"]), np.nan)),
        ("weights", arrays["weights"][1:]),
        ("features", arrays["features"][:1] * len(arrays["features"])),
    ):
        bad = arrays | {name: value}
        with pytest.raises(ModelFileError):
            type(reranker)._schema(about).check(bad, about)
    with pytest.raises(ModelFileError, match="model"):
        other = {"log-linear": "perceptron", "perceptron": "log-linear"}[about["model"]]
        type(reranker)._from_saved(arrays, about | {"model": other})


def test_threads_do_not_matter(train, test):
    found = []
    for n in (1, 3):
        with engine.use(engine.ThreadEngine(n)):
            found.append(et.TreeReranker(min_count=2).fit(*train).weights_)
    assert (found[0] == found[1]).all()


def test_the_penalty_is_chosen_on_held_out_lists(train, test):
    model = et.TreeReranker(penalty=[1.0, 1e9], min_count=2).fit(*train)
    assert model.penalty_ == 1.0
    assert [trial["penalty"] for trial in model.diagnostics_["trials"]] == [1.0, 1e9]
    given = et.TreeReranker(penalty=[1.0, 1e9], min_count=2).fit(*train, validation=test)
    assert given.penalty_ == 1.0
    assert given.diagnostics_["validation"] == 1.0


def test_from_a_treebank_alone():
    _, gold = planted(40)
    model = et.TreeReranker(penalty=1.0, min_count=1).fit_base(et.PCFG, gold, k=4, n_folds=2)
    (tree,) = model.apply(model.base_, ["I ate pie of rice"], k=4)
    assert tree.leaves() == ["I", "ate", "pie", "of", "rice"]
    assert model.diagnostics_["n_inputs"] == 40


def test_bad_input(train):
    lists, gold = train
    with pytest.raises(ParameterError, match="nothing to learn"):
        et.TreeReranker().fit([one[:1] for one in lists], gold)
    with pytest.raises(ParameterError, match="too few"):
        et.TreeReranker().fit(lists[:2], gold[:2])
    with pytest.raises(ParameterError, match="one of both"):
        et.TreeReranker().fit(lists, gold[1:])
    with pytest.raises(ParameterError, match="no tree"):
        et.TreeReranker().fit(lists, [[("a", "N")]] * len(lists))
    with pytest.raises(ParameterError, match="features"):
        et.TreeReranker(features=["rule"]).fit(lists, gold)
    with pytest.raises(ParameterError, match="clusters"):
        et.TreeReranker(clusters=3).fit(lists, gold)


def test_findings(train):
    lists, gold = train
    model = et.TreeReranker(min_count=10**6, penalty=1.0)
    found = " ".join(one.line for one in model.fit([*lists, []], [*gold, gold[0]]).findings())
    assert "No feature is frequent enough" in found
    assert "1 of the lists have fewer than two" in found
