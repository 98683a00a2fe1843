"""Tokens that look like raw text are noticed, and every model splits raw text in its own way."""

import warnings

import pytest

import eigentext as et
from eigentext.corpus.policy import TokenPolicy
from eigentext.corpus.raw_text import RawCheck, RawTextWarning
from eigentext.storage.files import read_saved, write_saved

TREES = [
    "(S (SN (D el) (N rey)) (SV (V vendrá)) (F .))",
    "(S (SN (D la) (N reina)) (SV (V vive) (SP (P en) (SN (NP París)))) (F .))",
    "(S (SN (NP Gil) (PA -LRB-) (NP EFE) (PC -RRB-)) (SV (V vive)) (F .))",
    "(S (SN (D el) (N rey)) (SV (V dijo) (C ,) (V vendrá)) (F .))",
]
TAGGED = [[(word, tag) for word, tag in et.Tree.parse(tree).tags()] for tree in TREES]
RAW, TOKENS = "el rey vive (en París).", ["el", "rey", "vive", "-LRB-", "en", "París", "-RRB-", "."]
MODELS = {
    "pcfg": (et.PCFG(), lambda m, one: m.parse(one).leaves()),
    "latent": (
        et.LatentPCFG(1, method="em", n_iter=1, n_smooth=0),
        lambda m, one: m.parse_many([one])[0].leaves(),
    ),
    "tagger": (et.Tagger(n_epochs=1), lambda m, one: [word for word, _ in m.tag([one])[0]]),
    "hmm": (et.HMMTagger(), lambda m, one: [word for word, _ in m.tag(one)]),
}


@pytest.fixture(scope="module")
def models():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {
            name: model.fit(TREES if "parse" in dir(model) else TAGGED)
            for name, (model, _) in MODELS.items()
        }


@pytest.mark.filterwarnings("ignore::eigentext.grammars.FallbackWarning")
@pytest.mark.parametrize("name", MODELS)
def test_raw_text_is_split_and_tokens_are_not(models, name, tmp_path):
    model, words = models[name], MODELS[name][1]
    model.save(tmp_path / "model")
    for one in (model, et.load(tmp_path / "model")):
        assert words(one, RAW) == TOKENS
        assert words(one, " ".join(TOKENS)) == TOKENS
        with pytest.warns(RawTextWarning, match="ends in a word with a sign attached to it, but"):
            assert words(one, ["el", "rey", "vendrá."]) == ["el", "rey", "vendrá."]
        with warnings.catch_warnings():
            warnings.simplefilter("error", RawTextWarning)
            words(one, TOKENS)


@pytest.mark.filterwarnings("ignore::eigentext.grammars.FallbackWarning")
@pytest.mark.parametrize("name", MODELS)
def test_files_without_a_policy(models, name, tmp_path):
    """Files of before get one from their words."""
    path = tmp_path / "model"
    models[name].save(path)
    arrays, about = read_saved(path)
    del about["tokens"]
    write_saved(tmp_path / "older", about.pop("format"), arrays, about)
    assert MODELS[name][1](et.load(tmp_path / "older"), RAW) == TOKENS


@pytest.mark.filterwarnings("ignore::eigentext.grammars.FallbackWarning")
def test_all_answers_of_a_parser_split_alike(models):
    model = models["pcfg"]
    assert model.marginals(RAW) == model.marginals(TOKENS)
    assert model.k_best(RAW, 3) == model.k_best(TOKENS, 3) == model.k_best_many([RAW], 3)[0]
    assert model.analyze(RAW, 2) == model.analyze(TOKENS, 2)
    bracket = model.parse(["Gil", "(", "EFE", ")", "vive", "."])
    assert str(bracket) == str(model.parse("Gil (EFE) vive."))


def test_brackets_match_names_both_ways():
    signs = et.Tree("S", [et.Tree("PA", ["("]), et.Tree("N", ["x"]), et.Tree("PC", [")"])])
    model = et.PCFG().fit([signs])
    for words in (["(", "x", ")"], ["-LRB-", "x", "-RRB-"]):
        assert [tag for _, tag in model.parse(words).tags()] == ["PA", "N", "PC"]


def test_most_sentences_decide():
    check = RawCheck(TokenPolicy.of({"vendrá": 3, ".": 9, "Sr.": 2}))
    for tokens in (["vendrá."], ["vendrá", "."], [], ["Sr."]):
        assert check.see(tokens) == tokens
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check.warn()
    for _ in range(2):
        check.see(["él", "vendrá."])
    with pytest.warns(RawTextWarning, match=r"3 of 5 sentences .* such as 'vendrá\.', but .* give"):
        check.warn()


def test_factors_are_never_split():
    tagger = et.HMMTagger(classes="factor").fit([[("dog.|NN", "B"), ("a,b|.", "O")]])
    assert [word for word, _ in tagger.tag("dog.|NN a,b|.")] == ["dog.|NN", "a,b|."]
