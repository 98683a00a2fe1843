"""Analogies: the answers equal those of a plain loop, for any number of threads and blocks."""

import json
import math
from importlib import import_module

import numpy as np
import pytest
from gensim.models import KeyedVectors

from eigentext import Eigenwords, engine
from eigentext.errors import CorpusError, ParameterError
from eigentext.evaluate import AnalogyResult, Question, analogies, read_questions
from eigentext.evaluate._loops import best_by_add, best_by_mul
from eigentext.evaluate.vectors import WordVectors

# `from eigentext.evaluate import analogies` imports the function, not the module.
module = import_module("eigentext.evaluate.analogies")

ROYAL = ["man", "woman", "king", "queen", "boy", "girl", "tea"]
ROYALS = np.array(
    [[2, 0, 0], [2, 1, 0], [2, 0, 1], [2, 1, 1], [2, 0, -1], [2, 1, -1], [0, -1, -1]], float
)


def plain_answer(unit, a, b, c, method):
    """Answer one question directly from the formula."""
    cosines = unit @ unit[[a, b, c]].T
    to_a, to_b, to_c = cosines.T if method == "add" else (1 + cosines.T) / 2
    scores = to_b - to_a + to_c if method == "add" else to_b * to_c / (to_a + 1e-3)
    scores[[a, b, c]] = -np.inf
    return int(scores.argmax())


@pytest.fixture(scope="module")
def random_task():
    rng = np.random.default_rng(0)
    words = [f"w{i}" for i in range(700)]
    vectors = rng.standard_normal((700, 6)) * rng.uniform(0.1, 9, (700, 1))
    questions = rng.integers(0, 60, (900, 3))  # many share words, and some have a word twice
    return words, vectors, questions


def answers(vectors, questions, method):
    return module.answer(vectors, questions, [method])[method]


# Answers.


@pytest.mark.parametrize("method", ["mul", "add"])
def test_answers_are_those_of_the_plain_loop(random_task, method):
    words, vectors, questions = random_task
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    expected = [plain_answer(unit, *question, method) for question in questions.tolist()]
    assert answers(WordVectors((words, vectors)), questions, method).tolist() == expected


@pytest.mark.parametrize("method", ["mul", "add"])
@pytest.mark.parametrize("width", [64, 97, 300, 699])
@pytest.mark.parametrize("threads", [1, 2])
def test_blocks_and_threads_change_nothing(random_task, method, width, threads, monkeypatch):
    words, vectors, questions = random_task
    vectors = WordVectors((words, vectors))
    whole = answers(vectors, questions, method)
    monkeypatch.setattr(module, "_WIDTHS", (width, width))
    with engine.use(engine.ThreadEngine(threads)):
        assert np.array_equal(answers(vectors, questions, method), whole)


@pytest.mark.parametrize("width", [1, 127, 128, 129, 400])
def test_loops_equal_their_expressions(width):
    """There are few distinct values, so most maxima are ties. The first of them wins."""
    rng = np.random.default_rng(width)
    C = (rng.integers(-4, 5, (20, width)) / 4).astype(np.float32)
    P, R = (1 + C) / 2, 2 ** rng.integers(-3, 4, (20, width)).astype(np.float32)
    questions = rng.integers(0, 20, (200, 3)).astype(np.int32)
    start = 50
    places = start - 5 + rng.permutation(width + 25)[:20]  # some in the block, some outside
    a, b, c = questions.T
    by_method = (
        (P[b] * P[c] * R[a], lambda *out: best_by_mul(P, R, questions, places, start, *out)),
        (C[b] - C[a] + C[c], lambda *out: best_by_add(C, questions, places, start, *out)),
    )
    for expected, loop in by_method:
        for q, row in enumerate(places[questions] - start):
            expected[q, row[(row >= 0) & (row < width)]] = -np.inf
        scores, found = np.full(200, -np.inf, np.float32), np.full(200, -1)
        loop(scores, found)
        none = np.isneginf(expected.max(axis=1))  # all words of the block are in the question
        assert np.array_equal(found, np.where(none, -1, start + expected.argmax(axis=1)))
        assert np.array_equal(scores, expected.max(axis=1))
        before = scores.copy(), found.copy()
        loop(scores, found)  # no score is higher than itself
        assert np.array_equal(scores, before[0])
        assert np.array_equal(found, before[1])


def test_the_first_of_equal_answers_wins(monkeypatch):
    vectors = np.vstack([ROYALS[:4], np.repeat(ROYALS[3:4], 200, axis=0)])
    words = [*ROYAL[:4], *(f"queen{i}" for i in range(200))]
    monkeypatch.setattr(module, "_WIDTHS", (64, 64))
    for method in ("mul", "add"):
        assert answers(WordVectors((words, vectors)), np.array([[0, 1, 2]]), method) == [3]


@pytest.mark.parametrize("method", ["mul", "add"])
def test_the_model_answers_the_same(zipf_lines, method):
    model = Eigenwords(8, min_count=1).fit(zipf_lines(300))
    words = model.vocabulary_.words
    questions = [(a, b, c) for a in words[:6] for b in words[4:12] for c in words[10:40:5]]
    right = [(*q, model.analogy(*q, method=method)[0][0]) for q in questions]
    assert analogies(model, right, method=method).correct == {method: len(questions)}


# Accuracy.


def test_by_hand():
    questions = [
        ("man", "woman", "king", "queen"),
        ("man", "woman", "boy", "girl"),
        ("king", "queen", "boy", "girl"),
        ("man", "woman", "king", "tea"),  # a wrong answer
        ("man", "woman", "king", "man"),  # a word of the question cannot be the answer
        ("man", "woman", "king", "empress"),
    ]
    result = analogies((ROYAL, ROYALS), questions)
    assert result.correct == {"mul": 3, "add": 3}
    assert result.accuracy == {"mul": 0.6, "add": 0.6}
    assert (result.n_covered, result.n_questions) == (5, 6)
    assert result.missing == ["empress"]
    assert str(result) == "mul 60.0%, add 60.0% over 5 of 6 questions; missing words: 1"
    assert repr(result) == f"AnalogyResult({result})"


def test_one_method():
    questions = [("man", "woman", "king", "queen")]
    for method in ("mul", "add"):
        result = analogies((ROYAL, ROYALS), questions, method=method)
        assert result.accuracy == {method: 1.0}
        assert analogies((ROYAL, ROYALS), questions, method=[method]) == result


@pytest.mark.parametrize("method", ["cos", [], ["mul", "cos"]])
def test_other_methods(method):
    with pytest.raises(ParameterError, match="method must be 'mul', 'add' or both, not"):
        analogies((ROYAL, ROYALS), [("man", "woman", "king", "queen")], method=method)


def test_sections_and_groups():
    questions = [
        Question("man", "woman", "king", "queen", "family"),
        Question("man", "woman", "king", "empress", "family"),
        Question("man", "king", "woman", "queen", "gram1-x"),
        Question("man", "king", "woman", "tea", "gram2-y"),
        Question("no", "such", "words", "here", "currency"),
        Question("man", "woman", "boy", "girl", "family"),
    ]
    result = analogies((ROYAL, ROYALS), questions)
    parts = result.sections | result.groups
    assert list(result.sections) == ["family", "gram1-x", "gram2-y", "currency"]
    counts = {name: (p.correct["mul"], p.n_covered, p.n_questions) for name, p in parts.items()}
    assert counts == {
        "family": (2, 2, 3),
        "gram1-x": (1, 1, 1),
        "gram2-y": (0, 1, 1),
        "currency": (0, 0, 1),
        "semantic": (2, 2, 4),
        "syntactic": (1, 2, 2),
    }
    assert math.isnan(result.sections["currency"].accuracy["add"])
    assert str(result.sections["currency"]) == "no accuracy over 0 of 1 questions"
    as_json = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert as_json["sections"]["currency"]["accuracy"] == {"mul": None, "add": None}
    assert as_json["groups"]["semantic"]["accuracy"]["mul"] == 1
    assert as_json["missing"] == ["empress", "here", "no", "such", "words"]


def test_only_sections_like_googles_have_groups():
    for sections in (("a", "b"), ("gram1", "gram2"), ("", "")):
        questions = [("man", "woman", "king", "queen", section) for section in sections]
        assert analogies((ROYAL, ROYALS), questions).groups == {}


def test_case():
    questions = [("Man", "WOMAN", "king", "Queen")]
    result = analogies((ROYAL, ROYALS), questions)
    assert (result.correct["mul"], result.folded) == (1, 3)
    capitals = [word.title() for word in ROYAL]
    assert analogies((capitals, ROYALS), [("man", "woman", "King", "queen")]).correct["mul"] == 1
    result = analogies((ROYAL, ROYALS), questions, case="exact")
    assert (result.n_covered, result.folded) == (0, 0)


@pytest.mark.parametrize("questions", [[], [("no", "such", "words", "here")] * 2])
def test_nothing_covered(questions):
    result = analogies((ROYAL, ROYALS), questions)
    assert isinstance(result, AnalogyResult)
    assert all(map(math.isnan, result.accuracy.values()))
    assert (result.n_covered, result.n_questions) == (0, len(questions))
    assert "no accuracy over 0 of" in str(result)


def test_fewer_words_than_answers_need():
    assert analogies((ROYAL[:3], ROYALS[:3]), [("man", "woman", "king", "man")]).correct == {
        "mul": 0,
        "add": 0,
    }


def test_a_file(tmp_path):
    path = tmp_path / "questions.txt"
    path.write_text(": family\nman woman king queen\n")
    assert list(analogies((ROYAL, ROYALS), path).sections) == ["family"]
    path.write_text(": family\nman woman king\n")
    with pytest.raises(CorpusError, match=r"questions\.txt, line 2: 'man woman king' is not four"):
        analogies((ROYAL, ROYALS), str(path))


def test_gensim_counts_the_same(data_folder, tmp_path):
    """The vectors are word + relation + noise, for the words of every ninth question of Google."""
    questions = read_questions(data_folder / "words" / "google-analogies.txt")[::9]
    rng = np.random.default_rng(0)
    directions = rng.standard_normal((14, 20))
    sections = list(dict.fromkeys(question.section for question in questions))
    made: dict[str, np.ndarray] = {}
    for a, b, c, d, section in questions:
        for x, y in ((a, b), (c, d)):
            made.setdefault(x, rng.standard_normal(20))
            noise = 0.7 * rng.standard_normal(20)
            made.setdefault(y, made[x] + directions[sections.index(section)] + noise)
    words = sorted(made)[:-100]
    peer = KeyedVectors(20)
    peer.add_vectors(words, np.array([made[word] for word in words], np.float32))
    path, section = tmp_path / "questions.txt", None
    lines = []
    for question in questions:
        if question.section != section:
            section = question.section
            lines.append(f": {section}")
        lines.append(" ".join(question[:4]))
    path.write_text("\n".join(lines))
    _, parts = peer.evaluate_word_analogies(
        path, restrict_vocab=None, case_insensitive=False, similarity_function="most_similar"
    )
    result = analogies(peer, path, method="add", case="exact")
    expected = {p["section"]: (len(p["correct"]), len(p["incorrect"])) for p in parts}
    ours = {
        name: (part.correct["add"], part.n_covered - part.correct["add"])
        for name, part in (result.sections | {"Total accuracy": result}).items()
    }
    assert ours == expected
    assert 0.1 < result.accuracy["add"] < 0.9
    assert 0 < result.n_covered < result.n_questions
