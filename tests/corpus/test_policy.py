"""Raw text becomes the tokens of a model, and tokens stay tokens."""

import pickle
import random
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import eigentext as et
from eigentext.corpus.policy import BRACKETS, MOST_TOKENS, POLICY, TokenPolicy, check_policy
from eigentext.errors import ModelFileError

PENN = """`` I do n't know Mr. Li , '' said Ann 's aunt .
He paid $ 3.5 million -LRB- 20 % more -RRB- to Acme Corp. ; it is one-third of the total .
The U.S. plan -- his third -- can not work , he says : it ca n't ...
Is No. 2 here ? No , the dogs ' owner is n't . Acme Corp .
and\\/or $ 4 , $ 5 , 6 % , 7 %"""
SPANISH = """- El rey , que vive en París , vendrá .
¿ Vendrá el Sr. Gil ? El 3,5 por ciento del " total " ( EFE ) .
¡ No ! El teniente-alcalde dijo : " sí " ."""
FRENCH = """L' ami d' Anne n' est pas là , mais qu' importe .
l' été et l' hiver , c' est aujourd'hui . d' abord d' ici qu' il vienne , qu' elle
n' ai n' as c' est c' était"""
HYPHENS = """a well - known state - of - the - art thing , 1990 - 1995 .
the up - to - date one - off . x e-mail"""
BLANKS = "Hello, world. It isn't raw: it was split at blanks, he said. So there. Yes, yes."


def learned(text: str) -> TokenPolicy:
    return TokenPolicy.of(Counter(text.split()))


@pytest.mark.parametrize(
    ("training", "raw", "tokens"),
    [
        (PENN, 'Mr. Li said (in the U.S.), "I can\'t."',
         "Mr. Li said -LRB- in the U.S. -RRB- , `` I ca n't . ''"),
        (PENN, "“Don’t pay $4.25, or 10%!” he cannot say…",
         "`` Do n't pay $ 4.25 , or 10 % ! '' he can not say ..."),
        (PENN, "Acme Corp.'s plan; it's either/or.", "Acme Corp. 's plan ; it 's either\\/or ."),
        (PENN, "Is No. 2 at Acme Corp.", "Is No. 2 at Acme Corp ."),
        (PENN, "He said no—wait--and went to the dogs' home.",
         "He said no—wait -- and went to the dogs ' home ."),
        (SPANISH, "El rey vive en París.", "El rey vive en París ."),
        (SPANISH, "¿Vendrá «hoy» el Sr. Gil (del EFE)?",
         '¿ Vendrá " hoy " el Sr. Gil ( del EFE ) ?'),
        (SPANISH, "¡El teniente-alcalde, no!", "¡ El teniente-alcalde , no !"),
        (FRENCH, "L’ami qu'Anne n’est pas, aujourd'hui.",
         "L' ami qu' Anne n' est pas , aujourd'hui ."),
        (HYPHENS, "The well-known e-mail of 1990-1995.",
         "The well - known e-mail of 1990 - 1995 ."),
        (BLANKS, "Hello, you. It isn't (yet) tokens.", "Hello, you. It isn't (yet) tokens."),
        ("a b c", "a b, c.", "a b , c ."),
        (PENN, "See http://a.org/b, mail a.b@c.org, #1 AT&T.",
         "See http://a.org/b , mail a.b@c.org , #1 AT&T ."),
        (PENN, "word(s) e.g. J. Smith's 'quoted' word, plan B.",
         "word(s) e.g. J. Smith 's ' quoted ' word , plan B ."),
        (PENN, "Really?! Yes!!! .net -5 ...", "Really ? ! Yes !!! .net -5 ..."),
    ],
)  # fmt: skip
def test_raw_text_becomes_tokens_like_those_of_the_training_data(training, raw, tokens):
    policy = learned(training)
    assert policy.split(raw) == tokens.split()
    assert policy.split(tokens) == tokens.split()  # and tokens stay


@pytest.mark.parametrize("training", [PENN, SPANISH, FRENCH, HYPHENS, BLANKS])
def test_training_sentences_stay_as_they_are(training):
    policy = learned(training)
    for line in training.split("\n"):
        assert policy.split(line) == line.split()


def test_brackets_are_those_that_the_model_knows():
    named, plain = (
        TokenPolicy.of({"-LRB-": 2, "-RRB-": 2, "a": 9}),
        TokenPolicy.of({"(": 2, ")": 2}),
    )
    assert named.split("a (a)") == named.split("a -LRB- a -RRB-") == ["a", "-LRB-", "a", "-RRB-"]
    assert plain.split("a (a)") == plain.split("a -LRB- a -RRB-") == ["a", "(", "a", ")"]
    unknown = TokenPolicy.of({"a": 1})
    assert unknown.split("a (a)") == ["a", "(", "a", ")"]
    assert unknown.split("-LRB- a") == ["-LRB-", "a"]


def test_quotes_that_stand_alone_open_and_close_in_turn():
    assert learned(PENN).split('" no , " he says , " no . "') == (
        ["``", "no", ",", "''", "he", "says", ",", "``", "no", ".", "''"]
    )


def test_small_letters():
    small = TokenPolicy.of({"the": 300, ".": 30, "-LRB-": 2})
    assert small.lowercase
    assert small.split("The Straße (x).") == ["the", "straße", "-LRB-", "x", ")", "."]
    assert not TokenPolicy.of({"the": 300, "The": 1}).lowercase
    assert not TokenPolicy.of({"the": 3}).lowercase  # too little to know


def test_other_blanks():
    policy = TokenPolicy.of({"1\u00a0000": 1, "euros": 1, ".": 3})
    assert policy.split("1\u00a0000 euros , 2\u00a0500\u00a0euros.") == [
        "1\u00a0000", "euros", ",", "2", "500", "euros", ".",
    ]  # fmt: skip
    assert TokenPolicy.of({"euros": 1}).split("1\u00a0000 euros") == ["1", "000", "euros"]
    assert policy.split(" \u00a0\n") == []


def test_exceptions_are_bounded_and_the_frequent_ones_stay():
    counts = {".": 10**6, **{f"w{n}.": 1 + (n > 5) for n in range(MOST_TOKENS + 6)}}
    policy = TokenPolicy.of(counts)
    assert len(policy.whole) == MOST_TOKENS
    assert policy.split(f"x w{MOST_TOKENS}. w0. y") == ["x", f"w{MOST_TOKENS}.", "w0", ".", "y"]


def test_noise_in_the_training_data_does_not_rule():
    """A token "Paris," beside a hundred of "Paris" was a mistake; in raw text it is two tokens."""
    policy = TokenPolicy.of({"Paris": 100, "Paris,": 2, ",": 500, ".": 500, "etc.": 9, "Inc.": 9})
    assert policy.split("Paris, and so on etc.") == ["Paris", ",", "and", "so", "on", "etc."]
    assert policy.split("Paris, and , so .") == ["Paris,", "and", ",", "so", "."]


SIGNS = "ab1 .,'\"()-–…$%&`«/\\’"


@given(
    st.lists(st.text(SIGNS + "é\u00a0", min_size=1).filter(str.strip), max_size=12),
    st.text(SIGNS + "é\u00a0"),
)
def test_nothing_is_lost(tokens, text):
    policy = TokenPolicy.of(Counter("".join(token.split(" ")) or "a" for token in tokens))
    found = policy.split(text)
    assert all(token and not set(token) & set(" \n") for token in found)
    letters = [c for c in text if c.isalnum()]
    names = dict.fromkeys(BRACKETS.values(), "")
    kept = "".join(names.get(token, token) for token in found)
    assert [c for c in kept if c.isalnum()] == letters
    for word in text.split():
        assert "".join(policy.pieces(word)) == word


@given(
    st.lists(st.text(SIGNS + "é\u00a0", min_size=1).filter(str.strip), max_size=12),
    st.text(SIGNS + "éİßΣẞ\u00a0\n\t"),
    st.booleans(),
)
def test_places_cover_all_that_is_not_blank(tokens, text, lowercase):
    policy = TokenPolicy.of(Counter("".join(token.split(" ")) or "a" for token in tokens))
    policy = replace(policy, lowercase=lowercase)
    found = policy.places(text)
    assert [token for token, _, _ in found] == policy.split(text)
    ends = [0, *(end for _, _, end in found)]
    starts = [*(start for _, start, _ in found), len(text)]
    assert all(start < end for _, start, end in found)
    assert not "".join(text[end:start] for end, start in zip(ends, starts)).strip()


@pytest.mark.parametrize(
    ("training", "raw"),
    [
        (PENN, 'Mr. Li said (in the U.S.), "I can\'t."'),
        (PENN, "“Don’t pay $4.25, or 10%!” he cannot say… either/or."),
        (FRENCH, "L’ami  qu'Anne n’est pas,\u2003aujourd'hui."),
    ],
)
def test_places_of_tokens_that_are_spelled_in_another_way(training, raw):
    policy = learned(training)
    parts = [raw[start:end] for _, start, end in policy.places(raw)]
    assert "".join(parts) == "".join(raw.split())
    tokens = [token for token, _, _ in policy.places(raw)]
    assert tokens == policy.split(raw) != parts


def test_files_have_it_and_damage_is_found():
    policy = learned(PENN)
    saved = policy.to_saved()
    assert TokenPolicy.from_saved(saved) == policy == pickle.loads(pickle.dumps(policy))
    assert POLICY.accepts(saved)
    check_policy({"tokens": saved})
    check_policy({})  # older files have none
    for name, value in (
        ("starts", 1), ("whole", ["a", 1]), ("whole", [""]), ("whole", "abc"), ("odd", 1),
        ("joined", ["another"]), ("lowercase", "yes"), ("whole", ["a"] * (MOST_TOKENS + 1)),
    ):  # fmt: skip
        with pytest.raises(ModelFileError, match="tokens must be a rule for splitting text"):
            check_policy({"tokens": saved | {name: value}})
    assert TokenPolicy.from_saved({}) == TokenPolicy()


def test_words_without_counts_are_enough_for_a_guess():
    policy = TokenPolicy.of_words(["Mr.", "Ms.", "Dr.", "it", "'s", "do", "n't", ".", ","])
    assert policy.split("It's Mr. Li, don't.") == ["It", "'s", "Mr.", "Li", ",", "do", "n't", "."]


# Real data: the share of sentences that stay as they are.


@pytest.mark.parametrize(
    ("name", "options", "share"),
    [
        ("penn-sample", {}, 0.999), ("gum", {}, 0.995), ("conll2000", {}, 0.999),
        ("conll2002-es", {}, 0.999), ("conll2002-nl", {}, 0.999),
        ("wnut17", {"tagged": True}, 0.99),
    ],
)  # fmt: skip
def test_sentences_of_corpora_stay_as_they_are(data_folder, name, options, share):
    data = et.load_dataset(name, **options)
    if name in ("penn-sample", "gum"):
        data = [et.normalize_tree(tree).tags() for tree in random.Random(0).sample(data, 1500)]
    sentences = [[token[0] for token in sentence] for sentence in data]
    policy = TokenPolicy.of(Counter(word for sentence in sentences for word in sentence))
    some = random.Random(1).sample(sentences, 1000)
    assert sum(policy.split(" ".join(one)) == one for one in some) >= share * len(some)
    assert policy.split("So it goes.")[-1] == "."


@pytest.mark.parametrize("word", ["a" + "'s" * 500, "l'" * 5000 + "a", "(" * 9000, "'" * 900 + "a"])
def test_what_is_no_word_stays_whole(word):
    policy = TokenPolicy.of({"'s": 9, "l'": 9, ",": 9, ".": 9})
    assert policy.split(f"see {word}") == ["see", word]
    assert policy.split(f"see {word[:100]}") != ["see", word[:100]]
