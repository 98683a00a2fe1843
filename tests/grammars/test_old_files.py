"""Files of grammars of version 1, made as that version made them."""

import numpy as np
import pytest

import eigentext as et
from eigentext.errors import ModelFileError
from eigentext.storage import read_saved, write_saved

TREES = [
    "(S (NP (DT the) (NN cat)) (VP (VBZ sees) (NP (DT a) (NN dog))) (. .))",
    "(S (NP (DT a) (NN dog)) (VP (VBZ sleeps) (RB well)) (. .))",
    "(S (NP (NP (DT the) (NN man)) (PP (IN of) (NP (DT a) (NN town)))) (VP (VBZ sees) (RB well)))",
]
SENTENCES = ["the man sees a zebra .", "a town sleeps well .", "the of"]


def old_file(path, fitted, gamma, change=None):
    """Write a grammar without smoothing by tags as version 1, which smoothes when it is asked."""
    fitted.save(path)
    arrays, about = read_saved(path)
    arrays = {k: v if isinstance(v, list) else np.array(v) for k, v in arrays.items()}
    form = about.pop("format").rpartition(".v")[0] + ".v1"
    for name in [key.removesuffix(".totals") for key in arrays if key.endswith(".totals")]:
        n_states, n = arrays[f"{name}.n_states"], len(arrays.pop(f"{name}.totals"))
        arrays[f"{name}.tags"] = np.repeat(np.arange(len(n_states)), n_states)
        arrays[f"{name}.in_tag"] = (1 / np.repeat(n_states, n_states)).astype(float)
        assert len(arrays[f"{name}.tags"]) == n
    grammar = about["grammar"]
    grammar["smoothing"] = [grammar.pop("beta"), gamma]
    for new in ("temperature", "tokens"):  # there were none
        about.pop(new, None)
    arrays.pop("label_counts", None)
    about["parameters"] = {k: v for k, v in about["parameters"].items() if k != "n_jobs"}
    if change:
        change(arrays, about)
    write_saved(path, form, arrays, about)
    return path


def test_smoothing_by_tags_is_that_of_a_new_fit(tmp_path):
    """A plain grammar without chains has one state for each tag, so p(state | tag) is 1."""
    plain = et.PCFG(gamma=0.0).fit(TREES)
    found = et.load(old_file(tmp_path / "old", plain, 3.0))
    new = et.PCFG(gamma=3.0).fit(TREES)
    for tree in TREES:
        assert found.log_probability(tree) == pytest.approx(new.log_probability(tree))
    for sentence in SENTENCES:
        old, expected = next(found.parses([sentence])), next(new.parses([sentence]))
        assert old.tree == expected.tree
        assert old.log_probability == pytest.approx(expected.log_probability)


def test_latent_grammars(tmp_path):
    fitted = et.LatentPCFG(2, method="em", n_iter=3, gamma=0.0).fit(TREES * 3)
    found = et.load(old_file(tmp_path / "old", fitted, 0.0))
    for sentence in SENTENCES[:2]:
        old, expected = next(found.parses([sentence])), next(fitted.parses([sentence]))
        assert old.tree == expected.tree
        assert old.log_probability == pytest.approx(expected.log_probability)
    found.save(tmp_path / "new")
    assert read_saved(tmp_path / "new")[1]["format"] == "eigentext.latent-pcfg.v3"


def test_files_with_tensors_stay_readable(tmp_path):
    """Version 2 had a tensor for every grammar."""
    fitted = et.LatentPCFG(2, method="spectral+em", nodes_per_state=1).fit(TREES * 3)
    fitted.save(tmp_path / "old")
    arrays, about = read_saved(tmp_path / "old")
    arrays = {k: v if isinstance(v, list) else np.array(v) for k, v in arrays.items()}
    arrays = {k: v for k, v in arrays.items() if "entry_" not in k and "level0.mixing" not in k}
    del arrays["level0.state_counts"]
    arrays["level0.tensor"] = fitted._cascade.levels[0].grammar.tensor
    about.pop("format")
    write_saved(tmp_path / "old", "eigentext.latent-pcfg.v2", arrays, about)
    found = et.load(tmp_path / "old")
    for old, new in zip(found.parses(SENTENCES), fitted.parses(SENTENCES)):
        assert old.tree == new.tree
        assert old.log_probability == pytest.approx(new.log_probability)


def _fewer(arrays, about):
    arrays["coarse.tags"] = arrays["coarse.tags"][1:]


def _wrong(arrays, about):
    arrays["coarse.states"] = arrays["coarse.states"] + 1000


def _none(arrays, about):
    del about["grammar"]["smoothing"]


@pytest.mark.parametrize(
    ("change", "part"), [(_fewer, "coarse.tags"), (_wrong, "coarse.states"), (_none, "smoothing")]
)
def test_damage(tmp_path, change, part):
    path = old_file(tmp_path / "old", et.PCFG(gamma=0.0).fit(TREES), 3.0, change)
    with pytest.raises(ModelFileError, match=f"old: damaged or made by something else: {part}"):
        et.load(path)
