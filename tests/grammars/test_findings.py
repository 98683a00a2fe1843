"""What parsers say about themselves in plain words."""

import pytest

import eigentext as et
from eigentext.errors import LittleDataWarning
from eigentext.estimators import SEVERITIES


def sentences(model, severity):
    return [one.sentence for one in model.findings() if one.severity == severity]


@pytest.fixture(scope="module")
def pcfg(hand_trees):
    return et.PCFG().fit(hand_trees)


@pytest.fixture(scope="module")
def spectral(hand_trees):
    return et.LatentPCFG(2, nodes_per_state=1, rare=1).fit(hand_trees)


def test_few_trees_are_a_warning(pcfg, hand_trees):
    found, *_ = sentences(pcfg, "warning")
    assert f"learned from {len(hand_trees)} trees only" in found


def test_more_labels_than_trees_are_a_warning_of_the_fit():
    tree = "(S (A a) (B b))"
    with pytest.warns(LittleDataWarning, match="3 different labels in 2 trees"):
        few = et.PCFG().fit([tree] * 2)
    assert any("3 different labels in 2 trees" in one for one in sentences(few, "warning"))
    assert not any("labels" in one for one in sentences(et.PCFG().fit([tree] * 3), "warning"))


def test_fewer_states_than_asked_for_are_a_warning_of_the_fit():
    with pytest.warns(LittleDataWarning, match="more than 1 of the 8 states asked for"):
        et.LatentPCFG(8).fit(["(S (A a) (B b))"] * 5)


def test_many_trees_are_none(pcfg, hand_trees):
    many = et.PCFG().fit(hand_trees * (500 // len(hand_trees) + 1))
    assert sentences(many, "warning") == []
    assert any("0% of the rules were seen only once" in one for one in sentences(many, "note"))
    by_sentence = {one.sentence: one.remedy for one in many.findings()}
    assert all(not remedy for remedy in by_sentence.values())


def test_rules_and_words_are_notes_with_remedies_if_bad(pcfg):
    notes = [one for one in pcfg.findings() if one.severity == "note"]
    once, rare = (next(n for n in notes if word in n.sentence) for word in ("rules", "tokens"))
    share = pcfg.diagnostics_["rules_seen_once"] / pcfg.diagnostics_["n_rules"]
    assert f"{share:.0%} of the rules" in once.sentence
    assert bool(once.remedy) == (share >= 0.5)
    assert bool(rare.remedy) == (pcfg.diagnostics_["rare_tokens"] >= 0.2)


@pytest.mark.parametrize(
    ("share", "severity", "says"),
    [
        (0.0, "note", "No sentence looked at has a probability below zero"),
        (0.1, "note", "10% of the sentences looked at"),
        (0.6, "problem", "60% of the sentences looked at"),
    ],
)
def test_negative_sentences(spectral, monkeypatch, share, severity, says):
    monkeypatch.setitem(spectral.diagnostics_, "negative_sentences", share)
    assert any(says in one for one in sentences(spectral, severity))
    if severity == "problem":
        first = spectral.findings()[0]
        assert first.severity == "problem"
        assert "n_states" in first.remedy


@pytest.mark.parametrize(("last", "is_told"), [(-90.0, True), (-99.999, False)])
def test_em_that_was_still_rising(hand_trees, last, is_told):
    model = et.LatentPCFG(2, method="em", nodes_per_state=1, n_iter=2, n_smooth=0).fit(hand_trees)
    model.history_[0]["em"] = [-100.0, last]
    says = "still rising at the last step of EM"
    assert any(says in one for one in sentences(model, "note")) == is_told


def test_the_most_severe_come_first_also_after_loading(spectral, tmp_path):
    spectral.save(tmp_path / "model")
    loaded = et.load(tmp_path / "model")
    assert loaded.findings() == spectral.findings()
    ranks = [SEVERITIES.index(one.severity) for one in loaded.findings()]
    assert ranks == sorted(ranks, reverse=True)


@pytest.mark.parametrize(("error", "remedy"), [(0.02, ""), (0.4, "rank")])
def test_what_low_rank_leaves_out(spectral, monkeypatch, error, remedy):
    monkeypatch.setitem(spectral.history_[0], "rank_error", error)
    monkeypatch.setitem(spectral.history_[0], "rank_share", 0.1)
    (found,) = [one for one in spectral.findings() if "low rank" in one.sentence]
    assert f"{error:.1%}" in found.sentence
    assert remedy in found.remedy
    assert bool(found.remedy) == bool(remedy)
