"""Stop words of languages, and the guess of a language. The sentences are ours."""

import pytest

from eigentext.corpus.stop_words import among, guess_language, language_named, languages, stop_words
from eigentext.errors import ParameterError

TEXTS = {
    "english": "We have seen that the house is on a hill, and they will not sell it to us.",
    "german": "Wir haben nicht gewusst, dass das Haus auf dem Berg steht und wem es gehört.",
    "spanish": "No sabíamos que la casa está sobre el monte, y no sé de quién es, pero es grande.",
    "french": "Nous ne savons pas qui a la maison sur le mont, mais elle est grande et c'est tout.",
    "dutch": "Wij weten niet van wie het huis op de berg is, maar het is groot en zij wonen er.",
    "italian": "Non sappiamo di chi è la casa sul monte, ma è grande, e questo è tutto per noi.",
    "swedish": "Vi vet inte vem som har huset på berget, men det är stort och de bor där.",
    "russian": "Мы не знаем, чей это дом на горе, но он большой, и они там живут, как и мы.",
}


def guess(text: str):
    words = text.split()
    return guess_language(words, [1] * len(words))


@pytest.mark.parametrize("language", TEXTS)
def test_the_language_is_guessed(language):
    found = guess(TEXTS[language])
    assert found.language == language
    assert found.is_clear
    assert 0 < found.share <= 1
    assert guess(TEXTS[language].upper()) == found


def test_no_single_word_makes_a_language():
    assert guess_language(["ham", "eggs"], [1000, 1]).language is None  # "ham" is Danish for "him"
    assert guess_language(["ham", "the", "of", "with"], [1000, 9, 9, 9]).language == "english"
    assert guess_language([*"abcdefghi"], [5] * 9).language is None
    assert guess_language(["--", "..."], [5, 5]).language is None
    assert guess_language([], []).language is None


def test_likely_languages_are_both_named():
    found = guess("og det er ikke på til")  # Danish and Norwegian
    assert {found.language, found.other} == {"danish", "norwegian"}
    assert not found.is_clear


def test_all_lists_are_of_bare_words_in_lower_case():
    assert len(languages()) > 30
    for language in languages():
        words = stop_words(language)
        assert len(words) > 40
        assert not any(" " in word or not word for word in words)
        assert among([word.upper() for word in stop_words("english")], "english").words.all()
        assert among(words, language).words.all()


def test_names_and_codes():
    assert language_named("DE") == language_named("German") == "german"
    assert stop_words("de") == stop_words("german")
    with pytest.raises(ParameterError, match=r"no stop words of 'klingon'; languages: arabic, "):
        stop_words("klingon")


def test_signs_case_and_apostrophes():
    found = among(["The", "THE", "the,", "—", "don’t", "ham", "3", "the-the"], "english")
    assert found.words.tolist() == [True, True, True, False, True, False, False, False]
    assert found.signs.tolist() == [False] * 3 + [True] + [False] * 4
    assert among(["qu'il", "d’une", "l'homme"], "french").words.tolist() == [True, True, False]
