"""What topics say about themselves: stop words, documents without words, topics from pairs."""

import warnings

import numpy as np
import pytest

from eigentext import TopicModel
from eigentext.errors import LittleDataWarning
from eigentext.topics._findings import findings_of, of_pairs, of_rank, of_stop_words

DUTCH = "het huis van de man is op de berg en er is een hond die niet bij hem was"


def told(model) -> list[str]:
    return [one.line for one in model.findings()]


def test_topics_of_stop_words_cause_a_warning(generated):
    texts = generated.reviews(300)[0]
    with pytest.warns(
        UserWarning, match="The top words of 10 topics are mostly stop words"
    ) as seen:
        model = TopicModel(10, stop_words=None, max_df=1.0, refine=5).fit(texts)
    assert [one.filename for one in seen] == [__file__]
    assert model.diagnostics_["topics_of_stop_words"] == 10
    assert model.findings()[0] == of_stop_words(10)


def test_stop_words_of_another_language_do_not_help():
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(DUTCH.split(), 12)) for _ in range(60)]
    with pytest.warns(UserWarning, match="mostly stop words"):
        TopicModel(2, stop_words="russian", refine=2).fit(texts)


def test_the_defaults_say_what_was_left_out_and_do_not_warn(generated):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = TopicModel(10).fit(generated.reviews(600)[0])
    assert "topics_of_stop_words" not in model.diagnostics_
    assert any(
        line.startswith("Left out: ") and "English stop words (a guessed language)" in line
        for line in told(model)
    )


def test_documents_of_single_letters_are_told():
    texts = ["a b 1 2"] * 40 + ["ham eggs bread", "goal match ball"] * 3
    with pytest.warns(LittleDataWarning, match="40 of 46 documents have no word") as seen:
        model = TopicModel(2).fit(texts)
    assert "keep single letters and digits (--tokenizer simple" in str(seen[0].message)
    assert str(seen[0].message) in told(model)
    few = TopicModel(2).fit(texts[38:])
    assert [one.severity for one in few.findings() if "no word" in one.sentence] == ["note"]


def test_a_smaller_number_is_told_in_the_same_words():
    with pytest.warns(UserWarning, match="support only") as seen:
        model = TopicModel(9, refine=0).fit([[*"aabbc"], [*"ccdda"]] * 9)
    assert of_rank(model.n_topics_, 9).line in [str(one.message) for one in seen]
    assert of_rank(model.n_topics_, 9) in model.findings()


def test_topics_from_pairs_are_told(generated):
    lines = generated.log_lines(2000)[0]
    with pytest.warns(UserWarning, match="The triples of words show only") as seen:
        model = TopicModel(12, refine=0).fit(lines)
    n_sound = model.diagnostics_["n_sound"]
    assert [str(one.message) for one in seen] == [of_pairs(n_sound, 12, refined=False).line]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = TopicModel(12, refine=2).fit(lines)
    assert of_pairs(n_sound, 12, refined=True) in model.findings()


@pytest.mark.parametrize("n", [1, 2, 5])
def test_documents_that_own_a_direction_are_told_once(n):
    owners = [{"why": "leverage", "n_documents": k + 1, "words": [f"w{k}"]} for k in range(n)]
    given = {"owners": owners, "n_empty": 0, "n_documents": 9, "eigenvalues": [], "dropped": []}
    (finding,) = findings_of(given, 2, 2)
    shown = {1: "1 document owns a direction of the moments (w0). In the moments they weigh"}
    shown[2] = "a direction of the moments: 1 document (w0); 2 documents (w1). There they weigh"
    shown[5] = "1 document (w0); 2 documents (w1); 3 documents (w2). There"
    assert shown[n] in finding.sentence
    assert "set_apart=True" in finding.remedy
