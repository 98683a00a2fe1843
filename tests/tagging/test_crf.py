"""CRFs: the same answers as CRFsuite, and no output of CRFsuite."""

import sys

import numpy as np
import pytest

from eigentext import Tagger, engine
from eigentext.errors import EigentextError
from eigentext.tagging.features import EncodedSentences
from eigentext.tagging.weights import TrainingProblem, Weights

pycrfsuite = pytest.importorskip("pycrfsuite")
from eigentext.tagging import crf  # noqa: E402 - it needs CRFsuite

pytestmark = pytest.mark.filterwarnings("ignore:overflow")  # Python warns if Numba is off

TEMPLATES = ["word[-1..1]", "word[-1]|word[0]"]
WORDS = ["aa", "ab", "ba", "bb", "c"]
VECTORS = np.random.default_rng(5).normal(size=(4, 3)).astype(np.float32)


def random_tagged(seed, n=60):
    """Sentences in which tags depend on words and on other tags, with exceptions."""
    rng = np.random.default_rng(seed)
    sentences = []
    for _ in range(n):
        one, before = [], 0
        for _ in range(rng.integers(1, 7)):
            word = int(rng.integers(len(WORDS)))
            before = int((word + before + (rng.random() < 0.3)) % 3)
            one.append((WORDS[word], "XYZ"[before]))
        sentences.append(one)
    return sentences


def items(words, vectors=False):
    """The features of a sentence in the form of CRFsuite."""
    padded, found = ["<s>", *words, "</s>"], []
    for t, word in enumerate(words):
        one = {f"-1={padded[t]}": 1.0, f"0={word}": 1.0, f"1={padded[t + 2]}": 1.0}
        one[f"-1,0={padded[t]},{word}"] = 1.0
        for offset in (-1, 0, 1) if vectors else ():
            if 0 <= t + offset < len(words) and words[t + offset] in WORDS[:4]:
                x = VECTORS[WORDS.index(words[t + offset])].tolist()
                one |= {f"v{offset}.{j}": value for j, value in enumerate(x)}
        found.append(one)
    return found


def crfsuite(tagged, path, vectors=False, **parameters):
    """CRFsuite itself."""
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", params=parameters, verbose=False)
    for sentence in tagged:
        trainer.append(items([word for word, _ in sentence], vectors), [y for _, y in sentence])
    trainer.train(str(path))
    tagger = pycrfsuite.Tagger()
    tagger.open(str(path))
    return tagger


@pytest.mark.parametrize("vectors", [False, True])
@pytest.mark.parametrize("c1", [0.0, 0.3])
def test_tags_and_marginals_are_those_of_crfsuite(tmp_path, vectors, c1):
    tagged = random_tagged(0)
    own = crfsuite(tagged, tmp_path / "m", vectors, c1=c1, c2=0.5, max_iterations=40)
    known = (WORDS[:4], VECTORS)
    tokens = [VECTORS[WORDS.index(word)] for one in tagged for word, _ in one if word != "c"]
    scale = np.sqrt(np.mean(np.square(tokens)))
    tagger = Tagger(
        model="crf",
        features=[*TEMPLATES, "vector[-1..1]"] if vectors else TEMPLATES,
        vectors=known if vectors else None,
        scale=scale,  # so that vectors do not change
        c1=c1,
        c2=0.5,
        n_iter=40,
    ).fit(tagged)
    assert tagger.temperature_ == 1
    for sentence in random_tagged(1, 30):
        words = [word for word, _ in sentence]
        expected = own.tag(items(words, vectors))
        assert [tag for _, tag in tagger.tag([words])[0]] == expected
        p = [[own.marginal(tag, t) for tag in tagger.tags_] for t in range(len(words))]
        np.testing.assert_allclose(tagger.marginals(words), p, atol=2e-4)
        best = tagger.k_best(words, 1)[0]
        assert np.exp(best.log_probability) == pytest.approx(own.probability(expected), abs=2e-4)


def test_weights_of_one_feature_by_hand():
    # One word, which is X in three of four sentences, so that p = 3 / 4.
    data = EncodedSentences(
        np.arange(5), np.zeros((4, 1), np.int32), np.empty(0, np.float32), np.empty((4, 0), int)
    )
    start = Weights(*(np.zeros(shape, np.float32) for shape in ((1, 2), (0, 2), (3, 2), (2,))))
    start.T[0, 1] = -np.inf
    nowhere = np.empty((0, 3), int), np.empty(0, int)
    gold = np.array([0, 0, 1, 0], np.int32)
    problem = TrainingProblem(data, *nowhere, gold, start)
    weights, losses = crf.train(problem, c1=0.0, c2=0.0, n_iter=100)
    assert weights.W[0, 0] - weights.W[0, 1] == pytest.approx(np.log(3), abs=1e-3)
    assert losses[-1] == pytest.approx(-3 * np.log(3 / 4) - np.log(1 / 4), abs=1e-5)
    assert weights.T[0, 1] == -np.inf
    assert not start.W.any()
    assert all(part.dtype == np.float32 for part in weights)


def test_losses_fall_and_penalties_work():
    tagged = random_tagged(2)
    tagger = Tagger(model="crf", features=TEMPLATES, n_iter=30).fit(tagged)
    losses = tagger.diagnostics_["loss"]
    assert 1 < len(losses) <= 30
    assert losses[-1] < losses[0]
    sparse = Tagger(model="crf", features=TEMPLATES, c1=2.0, c2=0.0).fit(tagged)
    assert sparse.diagnostics_["n_weighted"] < tagger.diagnostics_["n_weighted"]
    small = Tagger(model="crf", features=TEMPLATES, c2=100.0).fit(tagged)
    largest = [max(weight for _, weight in one.top_features("X")) for one in (small, tagger)]
    assert largest[0] < largest[1]


def test_crfsuite_prints_nothing(capfd):
    Tagger(model="crf", features=TEMPLATES, n_iter=5).fit(random_tagged(0, 10))
    captured = capfd.readouterr()
    assert captured.out == captured.err == ""


def test_progress_is_reported():
    phases = []

    class Listener:
        def __getattr__(self, name):
            return lambda *arguments, **named: phases.append((name, arguments))

    with engine.report_to(Listener()):
        Tagger(model="crf", features=TEMPLATES, n_iter=5).fit(random_tagged(0, 10))
    told = str(phases)
    assert "hand over" in told
    assert "train" in told


def test_a_scheme_is_kept():
    tagged = [
        [("in", "O"), ("new", "B-LOC"), ("york", "I-LOC")],
        [("york", "B-LOC"), ("is", "O"), ("new", "O")],
    ] * 3
    for scheme in ("bio", "bilou"):
        tagger = Tagger(model="crf", scheme=scheme, features=["word[0]"]).fit(tagged)
        assert tagger.tags_ == ["B-LOC", "I-LOC", "O"]
        p = tagger.marginals("york york new")
        np.testing.assert_allclose(p.sum(axis=1), 1)
        assert p[0, tagger.tags_.index("I-LOC")] == 0


def test_without_crfsuite(monkeypatch):
    monkeypatch.setitem(sys.modules, "pycrfsuite", None)
    with pytest.raises(EigentextError, match=r"model='crf' needs CRFsuite: pip install"):
        Tagger(model="crf", features=TEMPLATES).fit(random_tagged(0, 5))


def test_a_saved_crf_needs_no_crfsuite(tmp_path, monkeypatch):
    import eigentext as et

    tagger = Tagger(model="crf", features=TEMPLATES, n_iter=20).fit(random_tagged(0))
    tagger.save(tmp_path / "tagger")
    monkeypatch.setitem(sys.modules, "pycrfsuite", None)
    again = et.load(tmp_path / "tagger")
    assert again.k_best("aa c bb", 9) == tagger.k_best("aa c bb", 9)
