"""Probabilities of labels over spans, for every method: laws, raw scores, and temperatures."""

from itertools import product

import numpy as np
import pytest

import eigentext as et
from eigentext.errors import CorpusError, ParameterError
from eigentext.evaluate import calibration, span_pairs

METHODS = ("spectral", "pivot", "em", "spectral+em", "pivot+em", "split-merge")
ROUGH = {"nodes_per_state": 1, "smoothing": 0.0}
MODELS = {
    "pcfg": lambda: et.PCFG(),
    "plain": lambda: et.PCFG(horizontal=0, vertical=1),
    "seen tags": lambda: et.PCFG(beta=0.0, gamma=0.0),  # some sentences have no parse
    **{method: lambda method=method: et.LatentPCFG(4, method=method, nodes_per_state=1)
       for method in METHODS},
    "rough": lambda: et.LatentPCFG(8, **ROUGH),
    "voting": lambda: et.LatentPCFG(3, method="em", n_grammars=2, nodes_per_state=1),
    "spectral voting": lambda: et.LatentPCFG(4, n_grammars=3, noise=0.5, **ROUGH),
}  # fmt: skip
SENTENCES = (
    "dogs watch the park near the bark",
    "watch dogs near the park near bark and dogs",
    "the dogs hope watch near park bark the",
    "near the and",
    "bark",
)
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def fitted(ambiguous_trees):
    known = {}

    def fit(name):
        if name not in known:
            known[name] = MODELS[name]().fit(ambiguous_trees)
        return known[name]

    return fit


def check_laws(spans, n):
    """In [0, 1], sorted, and two spans that cross add up to 1 at most."""
    assert all(0 <= one.probability <= 1 for one in spans)
    assert [one.probability for one in spans] == sorted(
        (s.probability for s in spans), reverse=True
    )
    by_span = {}
    for one in spans:
        by_span[one.start, one.end] = max(by_span.get((one.start, one.end), 0), one.probability)
    for ((i, j), p), ((k, m), q) in product(by_span.items(), repeat=2):
        if i < k < j < m:
            assert p + q <= 1 + 1e-9
    assert max(one.end for one in spans) == n


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("temperature", [None, 0.5, 1.0, 3.0])
def test_marginals_are_probabilities(fitted, name, temperature):
    model = fitted(name)
    for sentence, prune in product(SENTENCES, (0.0, 5e-5)):
        words = sentence.split()
        spans = model.parsing_with(prune=prune).marginals(words, temperature=temperature)
        check_laws(spans, len(words))


SIGNED = {"spectral", "rough", "spectral voting"}  # grammars whose scores have signs


@pytest.mark.parametrize("name", sorted(MODELS.keys() - SIGNED))
def test_at_temperature_one_probabilities_are_the_scores(fitted, name):
    model = fitted(name).parsing_with(prune=0.0)
    assert model.gives_probabilities
    for sentence in SENTENCES[:3]:
        words = sentence.split()
        scores = {one[:3]: one.score for one in model.scores(words)}
        spans = model.marginals(words, temperature=1.0)
        assert scores.keys() == {one[:3] for one in spans}
        for one in spans:
            assert one.probability == pytest.approx(scores[one[:3]], abs=1e-9)


def test_scores_of_a_spectral_grammar_are_raw(fitted):
    """They are sums of outside times inside, divided by |p(sentence)|, with their signs."""
    model = fitted("rough").parsing_with(prune=0.0)
    assert not model.gives_probabilities
    assert fitted("em").gives_probabilities and fitted("pcfg").gives_probabilities
    outside = 0
    for sentence in SENTENCES:
        words = sentence.split()
        reading = model._read(words)
        expected = {}
        for a, i, j, mu in zip(*reading.forest[:3], reading.items, strict=True):
            symbol = reading.symbols[a]
            for label in dict.fromkeys(symbol.chain) if symbol.siblings is None else ():
                key = label, int(i), int(j)
                expected[key] = expected.get(key, 0.0) + reading.sign * mu
        found = {one[:3]: one.score for one in model.scores(words)}
        assert found == pytest.approx(expected)
        outside += sum(not -1e-6 <= score <= 1 + 1e-6 for score in found.values())
    assert outside > 0


@pytest.mark.parametrize("name", ["pcfg", "rough", "voting"])
def test_calibration_changes_no_parse(fitted, ambiguous_trees, name, tmp_path):
    model = fitted(name)
    before = [str(tree) for tree in model.parse_many(SENTENCES)], model.temperature_
    model.calibrate(ambiguous_trees)
    assert [str(tree) for tree in model.parse_many(SENTENCES)] == before[0]
    model.save(tmp_path / "model")
    again = et.load(tmp_path / "model")
    assert again.temperature_ == model.temperature_ != 1.0
    assert again.marginals(SENTENCES[0]) == model.marginals(SENTENCES[0])
    model.temperature_ = before[1]


def test_mistakes(fitted):
    model = fitted("pcfg")
    for wrong in (0, 0.01, 11, "hot", float("nan"), True):
        with pytest.raises(ParameterError, match=r"temperature must be from 0\.1 to 10, or None"):
            model.marginals("dogs bark", temperature=wrong)
    with pytest.raises(CorpusError, match="none of these trees has brackets that the grammar can"):
        et.PCFG(beta=0.0).fit(["(S (A a) (B b))"]).calibrate(["(S (B b) (B b))"])


def test_validation_trees_calibrate_the_penn_sample(penn):
    """On other trees, probabilities are then nearer to the shares of right spans than scores."""
    train, dev, test = penn("dev")[:120], penn("dev")[120:], penn("test")[:60]
    model = et.LatentPCFG(8).fit(train, validation=dev[:40])
    assert model.temperature_ > 1
    found = calibration(*span_pairs(model, test))
    hot = [span for tree in test for span in model.scores(tree.leaves())]
    assert max(one.score for one in hot) > 1
    assert found.error < 0.08
    model.temperature_ = 1.0
    assert found.brier < calibration(*span_pairs(model, test)).brier
    assert np.isfinite(found.error_equal_mass)
