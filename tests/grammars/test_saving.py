"""Parsers in files: the same bits back, or an error that says what is wrong."""

import json
import struct

import numpy as np
import pytest

import eigentext as et
from eigentext import PCFG, LatentPCFG
from eigentext.errors import ModelFileError
from eigentext.grammars.saving import arrays_to_cascade, cascade_to_arrays
from eigentext.storage.files import read_saved, write_saved

MODELS = {
    "pcfg": PCFG(horizontal=None, vertical=2, tau=0.3),
    "spectral": LatentPCFG(3, nodes_per_state=1, kappa=np.inf, negative="clip"),
    "low rank": LatentPCFG(4, nodes_per_state=1, rank=2),
    "pivot": LatentPCFG(2, method="pivot", nodes_per_state=1),
    "em": LatentPCFG(3, method="em", nodes_per_state=1, n_iter=3, n_smooth=2),
    "split-merge": LatentPCFG(4, method="split-merge", n_iter=4, horizontal=1, rare=1),
    "several": LatentPCFG(
        2, method="em", n_grammars=3, nodes_per_state=1, n_iter=2, n_smooth=1, beta=1
    ),
}
SENTENCES = [
    "she sees birds with a lens .",
    "The Unseen walks in 1984 .",
    "hello",
    "with with with",
    "she hopes to see a tall , old fern .",
]


@pytest.fixture(scope="module")
def saved(hand_trees, tmp_path_factory):
    """``saved("em")``: a model and the file that it was saved to."""
    folder = tmp_path_factory.mktemp("models")
    models = {}
    for name, model in MODELS.items():
        model.fit(hand_trees).save(folder / name)
        models[name] = model, folder / name
    return models.__getitem__


@pytest.mark.parametrize("name", MODELS)
def test_the_same_bits_come_back(saved, hand_trees, name):
    model, path = saved(name)
    loaded = et.load(path)
    assert type(loaded) is type(model)
    assert loaded.get_params() == model.get_params()
    assert loaded.symbols_ == model.symbols_
    assert loaded.provenance_ == model.provenance_
    assert loaded.diagnostics_ == model.diagnostics_
    np.testing.assert_array_equal(loaded.n_states_, model.n_states_)
    assert list(loaded.parses(SENTENCES)) == list(model.parses(SENTENCES))
    for sentence in SENTENCES:
        assert loaded.marginals(sentence) == model.marginals(sentence)
        assert loaded.k_best(sentence, 3) == model.k_best(sentence, 3)
    for tree in [*hand_trees, "(S (NP (NNS Otters)) (VP (VBP need)))", "(FW x)"]:
        assert loaded.log_probability(tree) == model.log_probability(tree)
    for decoding in ("viterbi", "max-rule"):
        one, other = (each.parsing_with(decoding=decoding) for each in (loaded, model))
        assert list(one.parses(SENTENCES)) == list(other.parses(SENTENCES))


@pytest.mark.parametrize("name", MODELS)
def test_what_is_loaded_has_all_that_was_learned(saved, name):
    model, path = saved(name)
    assert vars(et.load(path)).keys() == vars(model).keys()
    assert getattr(et.load(path), "history_", None) == getattr(model, "history_", None)


@pytest.mark.parametrize("name", MODELS)
def test_saving_what_was_loaded_gives_the_same_file(saved, tmp_path, name):
    _, path = saved(name)
    et.load(path).save(tmp_path / "again")
    arrays, about = read_saved(path)
    others, description = read_saved(tmp_path / "again")
    assert about == description
    assert arrays.keys() == others.keys()
    for key in arrays:
        np.testing.assert_array_equal(arrays[key], others[key])


@pytest.mark.parametrize("name", MODELS)
def test_kernels_need_not_be_compiled_again_for_what_is_loaded(saved, name):
    """Numba would compile again, for seconds, for read-only arrays or arrays of another type."""

    def types(model):
        cascade = model._cascade
        middle = [] if cascade.middle is None else [cascade.middle]
        for level in (cascade.coarse, *middle, *cascade.levels):
            words, grammar = level.words, level.grammar
            for part in (words, words.counts, words.lexicon, grammar, grammar.rules):
                parts = part._asdict() if isinstance(part, tuple) else vars(part)
                for key, value in parts.items():
                    if isinstance(value, np.ndarray) and not key.startswith("_"):
                        yield key, value.dtype, value.ndim, value.flags.writeable
            yield type(words.beta)

    model, path = saved(name)
    found = set(types(model))
    assert len(found) > 20
    assert set(types(et.load(path))) == found


@pytest.mark.parametrize("name", ["spectral", "em", "several"])
def test_what_is_loaded_is_drawn_alike(saved, name):
    pytest.importorskip("matplotlib")
    model, path = saved(name)
    one, other = (
        [line.get_ydata().tolist() for line in each.plot().get_lines()]
        for each in (model, et.load(path))
    )
    assert one == other


def test_scores_without_limit_are_kept(hand_trees, tmp_path):
    """No validation tree is possible: the scores are minus infinity, which JSON cannot express."""
    model = LatentPCFG(2, method="em", n_iter=1, n_smooth=1).fit(hand_trees, validation=["(X x)"])
    model.save(tmp_path / "model")
    assert et.load(tmp_path / "model").history_ == model.history_
    assert model.history_[0]["validation"] == [-np.inf]


def test_the_file_holds_numbers_and_json_and_no_pickle(saved):
    data = saved("several")[1].read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    about = json.loads(header.pop("__metadata__")["eigentext"])
    assert about["format"] == "eigentext.latent-pcfg.v3"
    assert {entry["dtype"] for entry in header.values()} <= {"F32", "F64", "I64", "I32", "U8"}
    assert {header[f"{name}.tensor"]["dtype"] for name in ("level0", "middle")} == {"F32"}
    assert about["grammar"]["n_levels"] == 3
    assert any(name.startswith("middle.") for name in header)


def test_a_cascade_as_arrays_and_back(saved):
    model, _ = saved("pcfg")
    arrays, about = cascade_to_arrays(model._cascade, model._empty)
    cascade, treebank = arrays_to_cascade(arrays, json.loads(json.dumps(about)))
    assert cascade.middle is None
    assert treebank.symbols == model.symbols_
    assert treebank.binarization == model._empty.binarization
    assert treebank.words == model._empty.words
    tree = "(S (NP (PRP she)) (VP (VBZ sees) (NP (NNS birds))) (. .))"
    for one, other in zip(treebank.encode([tree]).rule, model._empty.encode([tree]).rule):
        assert one == other


# damage -------------------------------------------------------------------------------------------


def damaged(path, to, change):
    """A copy of a file, changed by `change(arrays, about)`."""
    arrays, about = read_saved(path)
    form = about.pop("format")
    arrays = {
        key: value if isinstance(value, list) else np.array(value) for key, value in arrays.items()
    }
    change(arrays, about)
    write_saved(to, form, arrays, about)
    return to


def array(name, change):
    """A change of one array: ``array("level0.states", lambda a: a + 1)``."""

    def apply(arrays, about):
        arrays[name] = change(arrays[name])

    return apply


def entry(name, value, place=0):
    """A change of one entry of an array; with ``place=...``, of all entries."""

    def change(values):
        values[place] = value
        return values

    return array(name, change)


def fact(*path, value):
    """A change of one value of the document."""

    def apply(arrays, about):
        for key in path[:-1]:
            about = about[key]
        about[path[-1]] = value

    return apply


DAMAGE = {
    "a missing tensor": ("level0.tensor", lambda arrays, _: arrays.pop("level0.tensor")),
    "missing rules": ("fine.rule_left", lambda arrays, _: arrays.pop("fine.rule_left")),
    "missing words": ("words", lambda arrays, _: arrays.pop("words")),
    "a missing middle": ("middle.root", lambda arrays, _: arrays.pop("middle.root")),
    "a short tensor": ("level0.tensor", array("level0.tensor", lambda a: a[:-1])),
    "a tensor of whole numbers": ("level1.tensor", array("level1.tensor", np.int64)),
    "a tensor with NaN": ("level1.tensor", entry("level1.tensor", np.nan)),
    "a probability below zero": ("level0.tensor", entry("level0.tensor", -0.5)),
    "a huge probability": ("coarse.tensor", entry("coarse.tensor", 1e300)),
    "more states": ("middle.n_states", array("middle.n_states", lambda a: a + 1)),
    "states without end": ("level2.n_states", entry("level2.n_states", 2**40)),
    "products that overflow": ("level0.n_states", entry("level0.n_states", 2**21, ...)),
    "states of the plain grammar": ("coarse.n_states", entry("coarse.n_states", 2)),
    "no states": ("level0.n_states", entry("level0.n_states", 0)),
    "words in states far away": ("level0.states", entry("level0.states", 2**40)),
    "words in states nearby": ("level0.states", entry("level0.states", 100000)),
    "words in no state": ("middle.states", entry("middle.states", -1, ...)),
    "words of inner labels": ("level0.states", entry("level0.states", 0)),
    "classes of inner labels": ("level0.states", entry("level0.in_class", 0.5, (0, 0))),
    "rows that fall": ("coarse.offsets", entry("coarse.offsets", 3)),
    "rows cut short": ("coarse.offsets", array("coarse.offsets", lambda a: a[:1])),
    "classes of another size": ("level0.in_class", array("level0.in_class", lambda a: a[:, :-1])),
    "a total of zero": ("level0.totals", entry("level0.totals", 0.0, -1)),
    "a tiny total": ("level1.totals", entry("level1.totals", 1e-300, -1)),
    "a class that is none": ("word_classes", entry("word_classes", 2**40)),
    "no class for all words": ("classes", array("classes", lambda names: [*names[1:], "+z"])),
    "no classes": ("classes", array("classes", lambda names: [])),
    "a word twice": ("words", array("words", lambda words: [words[1], *words[1:]])),
    "a label that is none": ("fine.rule_left", entry("fine.rule_left", 10**6)),
    "a label below all": ("coarse.rule_parent", entry("coarse.rule_parent", -1)),
    "rules in disorder": ("fine.rule_left", array("fine.rule_left", lambda a: a[::-1].copy())),
    "a rule for a word": ("coarse.rule_parent", entry("coarse.rule_parent", 25)),
    "no grammar": ("grammar", lambda _, about: about.pop("grammar")),
    "no symbols": ("symbols", fact("grammar", "symbols", value=[])),
    "an empty chain": ("symbols", fact("grammar", "symbols", 0, 0, value=[])),
    "a chain of numbers": ("symbols", fact("grammar", "symbols", 0, 0, value=[1])),
    "siblings of another kind": ("symbols", fact("grammar", "symbols", 0, 1, value="NP")),
    "a symbol cut short": ("symbols", lambda _, about: about["grammar"]["symbols"][0].pop()),
    "a preterminal too many": ("symbols", fact("grammar", "symbols", 0, 3, value=True)),
    "symbols in disorder": ("symbols", lambda _, about: about["grammar"]["symbols"].reverse()),
    "a symbol too many": (
        "coarse.n_states",
        lambda _, about: about["grammar"]["symbols"].insert(0, [["A"], None, [], False]),
    ),
    "more grammars": ("history", fact("grammar", "n_levels", value=4)),
    "grammars without end": ("n_levels", fact("grammar", "n_levels", value=10**12)),
    "no number of grammars": ("n_levels", fact("grammar", "n_levels", value="3")),
    "a weight of NaN": ("beta", fact("grammar", "beta", value=float("nan"))),
    "no side": ("binarize", fact("grammar", "binarization", "binarize", value="up")),
    "a binarisation too rich": ("binarization", fact("grammar", "binarization", "up", value=1)),
    "an unknown parameter": ("colour", fact("parameters", "colour", value="red")),
    "a parameter out of range": ("tau", fact("parameters", "tau", value=-1)),
    "a method that is none": ("method", fact("parameters", "method", value="magic")),
    "no diagnostics": ("diagnostics", lambda _, about: about.pop("diagnostics")),
    "odd diagnostics": ("n_rules", fact("diagnostics", "n_rules", value=[])),
    "an odd history": ("history", fact("diagnostics", "history", 0, "em", value=[1, "x"])),
    "a short history": ("history", fact("diagnostics", "history", value=[])),
    "odd provenance": ("n_trees", fact("provenance", "n_trees", value=None)),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_file_is_refused(saved, tmp_path, name):
    part, change = DAMAGE[name]
    path = damaged(saved("several")[1], tmp_path / "model", change)
    with pytest.raises(ModelFileError, match=f"model: damaged.*{part}"):
        et.load(path)


def test_numbers_below_zero_are_for_spectral_grammars_only(saved, tmp_path):
    for name, is_fine in {"spectral": True, "pivot": False, "em": False}.items():
        path = damaged(saved(name)[1], tmp_path / name, entry("level0.tensor", -1e-3))
        if is_fine:
            assert et.load(path)._cascade.levels[0].grammar.tensor[0] == np.float32(-1e-3)
        else:
            with pytest.raises(ModelFileError, match=r"level0.tensor has -0.00100*\d*, below 0"):
                et.load(path)


def test_tensors_of_64_bits_are_taken_and_kept(saved, tmp_path):
    """Older files have them. Nothing is rounded when such a model is saved again."""
    path = damaged(saved("em")[1], tmp_path / "old", array("level0.tensor", lambda a: a / 3.0))
    wide = damaged(path, tmp_path / "wide", array("level0.tensor", lambda a: np.float64(a) / 3))
    model = et.load(wide)
    model.save(tmp_path / "again")
    tensor = read_saved(tmp_path / "again")[0]["level0.tensor"]
    assert tensor.dtype == np.float64
    np.testing.assert_array_equal(tensor, model._cascade.levels[0].grammar.tensor)


FACTORS = {
    "a short list": ("level0.factors", array("level0.factors", lambda a: a[:-1])),
    "another rank": ("level0.factors", array("level0.ranks", lambda a: a + 1)),
    "no ranks": ("level0.ranks", lambda arrays, _: arrays.pop("level0.ranks")),
    "no factors": ("level0.factors", lambda arrays, _: arrays.pop("level0.factors")),
    "too few ranks": ("level0.ranks", array("level0.ranks", lambda a: a[:-1])),
    "ranks below zero": ("level0.ranks", array("level0.ranks", lambda a: -1 - a.astype(int))),
    "ranks without end": ("level0.ranks", array("level0.ranks", lambda a: a.astype(int) + 2**60)),
    "not a number": ("level0.factors", entry("level0.factors", np.nan)),
    "huge factors": ("level0.factors", entry("level0.factors", 1e35)),
    "another method": ("parameters|factors", fact("parameters", "method", value="em")),
    "an odd error": ("history", fact("diagnostics", "history", 0, "rank_error", value="small")),
    "an odd rank": ("rank", fact("parameters", "rank", value=0)),
}


@pytest.mark.parametrize("name", FACTORS)
def test_damaged_factors_are_refused(saved, tmp_path, name):
    part, change = FACTORS[name]
    path = damaged(saved("low rank")[1], tmp_path / "model", change)
    with pytest.raises(ModelFileError, match=f"model: damaged.*{part}"):
        et.load(path)


def test_wide_and_unsigned_numbers_are_taken(saved, tmp_path):
    """Another program may write other integer types; the answers are the same."""

    def change(arrays, about):
        for name in ("fine.rule_left", "level0.states", "level0.offsets", "word_classes"):
            arrays[name] = arrays[name].astype(np.uint64)

    model, path = saved("em")
    other = et.load(damaged(path, tmp_path / "model", change))
    assert list(other.parses(SENTENCES)) == list(model.parses(SENTENCES))


@pytest.mark.parametrize("keep", [0, 7, 100, -1])
def test_a_file_cut_short_is_refused(saved, tmp_path, keep):
    (tmp_path / "short").write_bytes(saved("em")[1].read_bytes()[:keep])
    with pytest.raises(
        ModelFileError, match=r"short: (damaged or incomplete|not an eigentext file)"
    ):
        et.load(tmp_path / "short")


def test_a_newer_format_is_refused(saved, tmp_path):
    arrays, about = read_saved(saved("pcfg")[1])
    about.pop("format")
    arrays = {k: v if isinstance(v, list) else np.array(v) for k, v in arrays.items()}
    write_saved(tmp_path / "other", "eigentext.pcfg.v9", arrays, about)
    with pytest.raises(ModelFileError, match=r"format version 9, .*; upgrade with pip install -U"):
        et.load(tmp_path / "other")
