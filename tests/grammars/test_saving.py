"""Parsers in files: the same bits back, or an error that says what is wrong."""

import json
import struct

import numpy as np
import pytest

import eigentext as et
from eigentext import PCFG, LatentPCFG
from eigentext.errors import ModelFileError
from eigentext.grammars._saving import arrays_to_cascade, cascade_to_arrays
from eigentext.storage.files import read_saved, write_saved

MODELS = {
    "pcfg": PCFG(horizontal=None, vertical=2, tau=0.3),
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
        for one in (loaded, model):
            one.set_params(decoding=decoding)
        assert list(loaded.parses(SENTENCES)) == list(model.parses(SENTENCES))
    model.set_params(decoding="mbr")


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
    """As they would be, for seconds, for arrays of another type or that may not be written to."""

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


def test_the_file_holds_numbers_and_json_and_no_pickle(saved):
    data = saved("several")[1].read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    about = json.loads(header.pop("__metadata__")["eigentext"])
    assert about["format"] == "eigentext.latent-pcfg.v2"
    assert {entry["dtype"] for entry in header.values()} <= {"F64", "I64", "I32", "U8"}
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
    """A file like another, but for what `change(arrays, about)` does."""
    arrays, about = read_saved(path)
    form = about.pop("format")
    arrays = {
        key: value if isinstance(value, list) else np.array(value) for key, value in arrays.items()
    }
    change(arrays, about)
    write_saved(to, form, arrays, about)
    return to


@pytest.mark.parametrize(
    "change",
    [
        lambda arrays, about: arrays.pop("level0.tensor"),
        lambda arrays, about: arrays.pop("fine.rule_left"),
        lambda arrays, about: arrays.pop("words"),
        lambda arrays, about: about.pop("grammar"),
        lambda arrays, about: about["grammar"].pop("symbols"),
        lambda arrays, about: about["grammar"]["symbols"][0].pop(),
        lambda arrays, about: about["grammar"].update(n_levels=4),
        lambda arrays, about: about["grammar"]["binarization"].update(sideways=True),
        lambda arrays, about: about["parameters"].update(colour="red"),
        lambda arrays, about: arrays.update({"level0.tensor": arrays["level0.tensor"][:-1]}),
        lambda arrays, about: arrays.update({"middle.n_states": arrays["middle.n_states"] + 1}),
        lambda arrays, about: about.pop("diagnostics"),
    ],
)
def test_a_damaged_file_is_refused(saved, tmp_path, change):
    path = damaged(saved("several")[1], tmp_path / "model", change)
    with pytest.raises(ModelFileError, match="model: damaged"):
        et.load(path)


@pytest.mark.parametrize("keep", [0, 7, 100, -1])
def test_a_file_cut_short_is_refused(saved, tmp_path, keep):
    (tmp_path / "short").write_bytes(saved("em")[1].read_bytes()[:keep])
    with pytest.raises(
        ModelFileError, match=r"short: (damaged or cut short|not an eigentext file)"
    ):
        et.load(tmp_path / "short")


@pytest.mark.parametrize(
    ("version", "remedy"), [(9, "upgrade with pip install -U eigentext"), (1, "fit it again")]
)
def test_another_format_is_refused(saved, tmp_path, version, remedy):
    arrays, about = read_saved(saved("pcfg")[1])
    about.pop("format")
    arrays = {k: v if isinstance(v, list) else np.array(v) for k, v in arrays.items()}
    write_saved(tmp_path / "other", f"eigentext.pcfg.v{version}", arrays, about)
    with pytest.raises(ModelFileError, match=rf"format version {version}, .*; {remedy}"):
        et.load(tmp_path / "other")
