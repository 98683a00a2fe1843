"""The tagger from counts: known answers, exactness, real sentences, and bad input."""

import itertools
import math

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import eigentext as et
from eigentext import HMMTagger, engine
from eigentext.corpus import factored
from eigentext.errors import CorpusError, ModelFileError, ParameterError
from eigentext.evaluate import chunk_spans, chunks
from eigentext.storage import read_saved, write_saved

PETS = [
    [("the", "D"), ("dog", "N"), ("barks", "V")],
    [("the", "D"), ("cat", "N"), ("sleeps", "V")],
    [("dogs", "N"), ("bark", "V")],
    [("the", "D"), ("bark", "N"), ("of", "P"), ("the", "D"), ("tree", "N")],
]


def random_tagged(seed=0, n=60, tags="ABC"):
    """Draw sentences of words that may have several tags. Words have the classes x, y and z."""
    rng = np.random.default_rng(seed)
    return [
        [
            (f"w{rng.integers(6)}|{'xyz'[(t + rng.integers(2)) % 3]}", tags[t])
            for t in rng.integers(len(tags), size=rng.integers(1, 6))
        ]
        for _ in range(n)
    ]


def test_probabilities_by_hand():
    tagged = [[("a", "X"), ("b", "Y")], [("a", "X")]]
    tagger = HMMTagger(1, classes=None, rare=0).fit(tagged)
    l1, l2 = tagger.weights_
    # The five windows are: start X (twice), X Y, Y end, X end.
    x, y, end = 2 / 5, 1 / 5, 2 / 5
    transitions = (l1 * x + l2) * (l1 * y + l2 / 2) * (l1 * end + l2)
    # p(w|t) = p(t|w) p(w) / p(t); one word occurs once, which is the share of unknown words.
    words = (2 / 4) / (2 / 3) * (1 / 4) / (1 / 3)
    assert tagger.log_probability(tagged[0]) == pytest.approx(math.log(transitions * words))
    assert tagger.log_probability([("a", "Y")]) == -math.inf
    assert tagger.log_probability([("a", "Z")]) == -math.inf
    unseen = (1 / 4) * np.array([l1 * x + l2, l1 * y])
    unseen *= np.array([l1 * end + l2 / 2, l1 * end + l2])  # the end
    best = tagger.k_best(["c"], 5)
    # All words are in one class with c. There, a and b count for one token at most.
    expected = np.log(unseen * np.array([0.5 / (2 / 3), 0.5 / (1 / 3)]))
    assert [one.tagging for one in best] == [[("c", "X")], [("c", "Y")]]
    np.testing.assert_allclose([one.log_probability for one in best], expected)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("joint", [False, True])
def test_k_best_are_the_best_of_all_taggings(order, joint):
    tagger = HMMTagger(order, classes="factor", joint=joint, rare=3).fit(random_tagged())
    for seed in range(5):
        words = [word for word, _ in random_tagged(seed + 1, 1)[0]] + ["new|y"]
        everything = [
            list(zip(words, tags)) for tags in itertools.product("ABC", repeat=len(words))
        ]
        logs = sorted((tagger.log_probability(one) for one in everything), reverse=True)
        possible = [log for log in logs if log > -math.inf]
        found = tagger.k_best(words, 1000)
        np.testing.assert_allclose([one.log_probability for one in found], possible)
        assert len({tuple(one.tagging) for one in found}) == len(possible)
        for one in found[:10]:
            assert tagger.log_probability(one.tagging) == pytest.approx(one.log_probability)
        assert tagger.k_best(words, 3) == found[:3]
        assert tagger.tag(words) == found[0].tagging


@pytest.mark.parametrize("order", [1, 2])
def test_words_that_are_new(order):
    tagger = HMMTagger(order).fit(PETS)
    assert [tag for _, tag in tagger.tag("the fox barks")] == ["D", "N", "V"]
    assert [tag for _, tag in tagger.tag(["The", "dog", "sleeps"])] == ["D", "N", "V"]
    assert [tag for _, tag in tagger.tag("the bark of dogs")] == ["D", "N", "P", "N"]


BIO = [
    [("a|D", "B-NP"), ("dog|N", "I-NP"), ("sat|V", "B-VP"), ("down|R", "B-ADVP")],
    [("dogs|N", "B-NP"), ("bark|V", "B-VP"), (".|.", "O")],
    [("in|P", "B-PP"), ("a|D", "B-NP"), ("big|J", "I-NP"), ("tree|N", "I-NP")],
]


@pytest.mark.parametrize("joint", [False, True])
def test_a_scheme_is_kept(joint):
    loose = HMMTagger(classes="factor", joint=joint).fit(BIO)
    tagger = HMMTagger(classes="factor", joint=joint, scheme="bio").fit(BIO)
    words = ["tree|N", "tree|N", "big|J", "down|R"]
    broken = 0
    for model in (loose, tagger):
        for one in model.k_best(words, 200):
            tags = ["O", *(tag for _, tag in one.tagging)]
            wrong = any(b[0] == "I" and a[1:] != b[1:] for a, b in itertools.pairwise(tags))
            assert not (wrong and model is tagger)
            broken += wrong
    assert broken
    assert tagger.log_probability([("dog|N", "I-NP")]) == -math.inf


@pytest.mark.parametrize("joint", [False, True])
def test_tags_that_do_not_fit_together(joint):
    # "big" occurred only with I-NP, which cannot begin a sentence.
    tagger = HMMTagger(classes="factor", joint=joint, scheme="bio", rare=0).fit(BIO)
    found = tagger.k_best(["big|J", "sat|V"], 30)
    assert len(found) > 1
    assert len({tuple(one.tagging) for one in found}) == len(found)
    assert all(one.tagging[0][1][0] != "I" for one in found)


def test_training_data_that_break_the_scheme():
    bad = [*BIO, [("a|D", "B-NP"), ("dog|N", "I-VP")]]
    with pytest.raises(CorpusError, match="sentence 4, token 2: I-VP after B-NP breaks the scheme"):
        HMMTagger(classes="factor", scheme="bio").fit(bad)
    with pytest.raises(CorpusError, match=r"sentence 1, token 1: I-NP after O .*begin every chunk"):
        HMMTagger(scheme="bio").fit([[("a", "I-NP")]])
    with pytest.raises(CorpusError, match="sentence 1, token 2: 'NN' is not a tag of the scheme"):
        HMMTagger(scheme="bio").fit([[("a", "O"), ("dog", "NN")]])


def test_classes_of_ones_own():
    own = HMMTagger(classes=lambda token: token[-1], joint=True).fit(random_tagged())
    named = HMMTagger(classes="factor").fit(random_tagged())
    assert own.k_best("w1|x new|z w2|y", 9) == named.k_best("w1|x new|z w2|y", 9)
    with pytest.raises(ParameterError, match=r"cannot be saved; .*classes='factor'"):
        own.save("never")


@pytest.mark.parametrize("order", [1, 2])
def test_many_sentences_on_any_number_of_threads(order):
    tagger = HMMTagger(order, classes="factor").fit(random_tagged())
    sentences = [[word for word, _ in one] for one in random_tagged(5, 200)]
    results = []
    for n in (1, 2):
        with engine.use(engine.ThreadEngine(n)):
            results.append(tagger.k_best_many(sentences, 4))
    assert results[0] == results[1] == [tagger.k_best(words, 4) for words in sentences]
    assert tagger.tag_many(iter(sentences)) == [best[0].tagging for best in results[0]]
    assert tagger.tag_many([]) == []


@pytest.mark.parametrize("parameters", [{}, {"order": 1}, {"classes": "factor", "rare": 2}])
def test_save_and_load(tmp_path, parameters):
    tagger = HMMTagger(**parameters).fit(random_tagged())
    tagger.save(tmp_path / "tagger")
    again = et.load(tmp_path / "tagger")
    assert again.get_params() == tagger.get_params()
    assert again.diagnostics_ == tagger.diagnostics_
    words = ["w1|x", "w9|y", "w2|z"]
    assert again.k_best(words, 20) == tagger.k_best(words, 20)


def test_it_is_an_estimator():
    tagger = HMMTagger(1, classes="factor", scheme="bio")
    assert repr(tagger) == "HMMTagger(order=1, classes='factor', scheme='bio')"
    assert clone(tagger).get_params() == tagger.get_params()
    with pytest.raises(NotFittedError):
        tagger.tag("a dog")
    fitted = HMMTagger().fit(PETS)
    assert fitted.tags_ == ["D", "N", "P", "V"]
    assert fitted.diagnostics_["n_tokens"] == 13
    assert fitted.diagnostics_["n_words"] == 9


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"order": 3}, "order must be 1 or 2, not 3"),
        ({"classes": "suffix"}, "classes must be 'shape', 'factor', None or a function"),
        ({"rare": -1}, "rare must be a whole number, 0 or more"),
        ({"scheme": "iobes"}, "scheme must be 'bio' or None, not 'iobes'"),
    ],
)
def test_settings_that_are_none(parameters, message):
    with pytest.raises(ParameterError, match=message):
        HMMTagger(**parameters).fit(PETS)


@pytest.mark.parametrize(
    ("tagged", "message"),
    [
        ([], "no tagged sentences to learn from"),
        ("dog N", "give a list of tagged sentences"),
        ([PETS[0], []], "sentence 2, no tokens: an empty sentence"),
        ([PETS[0], [("a", "D"), "dog"]], r"sentence 2, token 2: 'dog' is not a \(word, tag\) pair"),
        ([[("a", "D", "x")]], r"sentence 1, token 1: \('a', 'D', 'x'\) is not"),
        ([[("a", None)]], r"sentence 1, token 1: \('a', None\) is not"),
        ([[("", "D")]], "sentence 1, token 1"),
        ([3], "sentence 1, token 1: 3 is not"),
    ],
)
def test_training_data_that_are_none(tagged, message):
    tagger = HMMTagger()
    with pytest.raises(CorpusError, match=message):
        tagger.fit(tagged)
    with pytest.raises(NotFittedError):
        tagger.tag("a dog")


@pytest.mark.parametrize("order", [1, 2])
def test_an_empty_sentence_has_an_answer_in_its_place(order):
    tagger = HMMTagger(order).fit(PETS)
    assert tagger.tag([]) == tagger.tag("") == []
    assert tagger.k_best([], 3) == [([], 0.0)]
    assert tagger.log_probability([]) == 0.0
    sentences = [["the", "dog"], [], ["dogs"], []]
    assert tagger.tag_many(sentences) == [tagger.tag(words) for words in sentences]


def test_the_score_is_the_share_of_right_tags():
    tagger = HMMTagger().fit(PETS)
    assert tagger.score(PETS) == 1.0
    assert tagger.score(iter([PETS[2], [], [("dogs", "V"), ("bark", "X")]])) == 0.5
    with pytest.raises(CorpusError, match="no tagged sentences to score"):
        tagger.score([[]])


def test_the_order_set_after_a_fit_waits_for_the_next():
    tagger, words = HMMTagger(2).fit(random_tagged()), ["w1|x", "w9|y", "w2|z"]
    answers = tagger.k_best(words, 9)
    tagger.set_params(order=1, classes="factor", rare=0)
    assert tagger.k_best(words, 9) == answers
    assert tagger.fit(random_tagged()).k_best(words, 9) != answers


@pytest.fixture
def damaged(tmp_path):
    """Write the file of a tagger with some parts replaced."""

    def write(**changes):
        HMMTagger().fit(PETS).save(tmp_path / "tagger")
        arrays, about = read_saved(tmp_path / "tagger")
        for name, change in changes.items():
            part = name.replace("__", ".")
            if part in about:
                about[part] = change(about[part])
            else:
                arrays[part] = change(np.array(arrays[part]))
        write_saved(tmp_path / "tagger", HMMTagger._format, arrays, about)
        return tmp_path / "tagger"

    return write


@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("counts__indices", lambda a: a + 10**6),
        ("counts__data", lambda a: a - 2**40),
        ("counts__data", lambda a: a + 2**52),
        ("counts__indptr", lambda a: a[:1].repeat(len(a))),
        ("counts__indptr", lambda a: np.append(a[1:], a[-1]) - a[1]),
        ("grams", lambda a: a + 1),
        ("grams", lambda a: a[:, :1]),
        ("grams", lambda a: np.zeros_like(a)),
        ("grams", lambda a: a.astype(float)),
        ("gram_counts", lambda a: 0 * a),
        ("states", lambda a: [["N", ""]] * len(a)),
        ("states", lambda a: a[:-1]),
        ("states", lambda a: [*a, ["new", ""]]),
        ("states", lambda a: "abcd"),
        ("parameters", lambda a: a | {"order": 3.0}),
        ("diagnostics", lambda a: None),
    ],
)
def test_a_damaged_file_is_refused(damaged, part, change):
    with pytest.raises(ModelFileError, match="damaged or made by something else"):
        et.load(damaged(**{part: change}))


def test_tags_that_never_fit_together_are_told(damaged):
    """In a damaged file, the tags that begin a chunk are missing, so no sentence can start."""
    tags = [["I-X", str(k)] for k in range(4)]
    path = damaged(states=lambda a: tags, parameters=lambda a: a | {"scheme": "bio"})
    with pytest.raises(CorpusError, match="the tags of this model never fit together"):
        et.load(path).tag("the dog")


def test_sentences_that_are_none():
    tagger = HMMTagger().fit(PETS)
    with pytest.raises(CorpusError, match="sentence 2: token 1: 7 is not a word"):
        tagger.tag_many([["a"], [7]])
    with pytest.raises(CorpusError, match="sentence 1: 7 is not a sentence"):
        tagger.k_best_many([7], 2)
    with pytest.raises(CorpusError, match="not a single one: that is for `k_best`"):
        tagger.tag_many("the dog")
    with pytest.raises(ParameterError, match="k must be a whole number"):
        tagger.k_best("the dog", 0)


def test_chunks_of_conll(data_folder, monkeypatch):
    monkeypatch.setenv("EIGENTEXT_DATA", str(data_folder))
    if not (data_folder / "nltk_data/corpora/conll2000.zip").exists():
        pytest.skip("no CoNLL-2000 in the data folder")
    tagged = factored(et.load_dataset("conll2000"))
    train, dev = tagged[:1500], tagged[6500:6600]
    tagger = HMMTagger(classes="factor", scheme="bio").fit(train)
    best = tagger.k_best_many([[word for word, _ in one] for one in dev], 20)
    one_best = chunks(dev, [candidates[0].tagging for candidates in best])

    def agreement(pair):
        gold, candidate = (set(chunk_spans(one)) for one in pair)
        return 2 * len(gold & candidate) / max(1, len(gold) + len(candidate))

    closest = [
        max((one.tagging for one in candidates), key=lambda tagging: agreement((gold, tagging)))
        for gold, candidates in zip(dev, best)
    ]
    assert one_best.f1 > 0.88
    assert chunks(dev, closest).f1 > one_best.f1 + 0.03


def test_findings():
    tagger = HMMTagger().fit([[("dogs", "N"), ("bark", "V")]])
    warning, note = tagger.findings()
    assert (warning.severity, note.severity) == ("warning", "note")
    assert "2 tokens only" in warning.sentence
    assert "100% of 2 words are rare" in note.sentence
    tagger.diagnostics_["n_tokens"] = 10_000
    assert tagger.findings() == [note]


def test_what_it_was_learned_from(tmp_path):
    tagged = [[("the", "D"), ("dog", "N")], [("a", "D")]]
    tagger = HMMTagger().fit(tagged)
    found = tagger.provenance_
    assert [found[name] for name in ("n_sentences", "n_tokens", "n_words")] == [2, 3, 3]
    assert HMMTagger().fit(tagged[::-1]).provenance_["sources"] != found["sources"]
    tagger.save(tmp_path / "tagger")
    assert et.load(tmp_path / "tagger").provenance_ == found
