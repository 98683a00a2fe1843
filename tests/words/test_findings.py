"""What models of words say about themselves, and how severe it is."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import eigentext as et
from eigentext import Eigentokens, Eigenwords, WordClusters
from eigentext.words._findings import findings_of_clusters, findings_of_vectors, size_findings

GOOD = {"singular_values": [1.0, 0.5], "dropped_singular_values": [0.1], "n_words": 10}


def sentences(findings, severity=None):
    return " ".join(one.sentence for one in findings if severity in (None, one.severity))


@pytest.mark.parametrize("model", [Eigenwords(5), Eigentokens(5), WordClusters(5)])
def test_only_fitted_models_have_findings(model):
    with pytest.raises(NotFittedError):
        model.findings()


def test_fitted_models_report_the_most_severe_first(zipf_lines, tmp_path):
    text = [*zipf_lines(200), "alone", "alone"]
    for cls in (Eigenwords, Eigentokens):
        model = cls(3, window=1, min_count=2).fit(text)
        found = model.findings()
        order = ["problem", "warning", "note"]
        assert [one.severity for one in found] == sorted(
            (one.severity for one in found), key=order.index
        )
        assert "after 3 dimensions" in sentences(found)
        assert "1 word has a zero vector" in sentences(found)
        model.save(tmp_path / "model")
        assert et.load(tmp_path / "model").findings() == found


def test_a_good_spectrum_and_enough_text_give_no_warning():
    found = list(findings_of_vectors(GOOD, 1000, 5))
    assert [one.severity for one in found] == ["note"]
    assert "falls after 2 dimensions" in found[0].sentence


@pytest.mark.parametrize(
    ("changes", "n_tokens", "severity", "sentence"),
    [
        ({"dropped_singular_values": [0.49]}, 1000, "note", "no gap after 2"),
        ({"singular_values": [1.0, 1e-7]}, 1000, "warning", "10,000,000 times the smallest"),
        ({"rare_tokens": 300}, 1000, "note", "30.0% of the text are words that occur fewer than 5"),
        ({"words_without_context": 7}, 1000, "note", "7 words have a zero vector"),
    ],
)
def test_each_finding_has_its_cause(changes, n_tokens, severity, sentence):
    assert sentence not in sentences(findings_of_vectors(GOOD, 1000, 5))
    found = list(findings_of_vectors(GOOD | changes, n_tokens, 5))
    assert sentence in sentences(found, severity)
    assert all(one.remedy for one in found if one.severity != "note")


@pytest.mark.parametrize(
    ("counts", "n_components", "said"),
    [
        ([20] * 10, 2, "only 20 tokens for each word"),
        ([40] * 342, 300, "300 dimensions for 342 words"),
        ([40] * 79, 20, "20 dimensions for 79 words"),
        ([2] + [1] * 9, 2, "Most words of the training text (9 of 10) occur only once"),
    ],
)
def test_too_little_text(counts, n_components, said):
    (found,) = size_findings(np.array(counts), sum(counts), n_components)
    assert found.severity == "warning"
    assert said in found.sentence
    assert found.remedy


@pytest.mark.parametrize(
    ("counts", "n_components"), [([40] * 80, 20), ([40] * 1200, 300), ([40] * 6, 2), ([400, 1], 2)]
)
def test_enough_text(counts, n_components):
    assert list(size_findings(np.array(counts), sum(counts), n_components)) == []


def test_old_files_say_nothing_of_what_they_lack():
    assert list(findings_of_vectors({}, 0, 5)) == []


def test_clusters_that_are_really_there():
    rng = np.random.default_rng(0)
    centers = rng.standard_normal((4, 6)) * 10
    X = np.repeat(centers, 25, axis=0) + rng.standard_normal((100, 6)) * 0.1
    clusters = WordClusters(4).fit(X)
    assert "the words really have 4 classes" in sentences(clusters.findings(), "note")
    assert "explains 100%" in sentences(clusters.findings(), "note")
    assert not sentences(clusters.findings(), "warning")
    noise = WordClusters(4).fit(rng.standard_normal((100, 6)))
    assert "really have" not in sentences(noise.findings())


def test_one_large_cluster_and_words_in_none():
    found = {"n_words": 100, "sizes": [80, 10, 5], "words_without_context": 5, "explained": 0.1}
    told = list(findings_of_clusters(found))
    assert "One cluster has 80% of the words" in sentences(told, "warning")
    assert "5 words have a zero vector" in sentences(told, "note")
    assert "more clusters" in told[0].remedy
    assert list(findings_of_clusters({"n_words": 4, "sizes": [3, 1]})) == []


def test_clusters_of_a_paths_file(tmp_path):
    (tmp_path / "paths").write_text("0\ta\t3\n10\tb\t2\n11\tc\t1\n")
    assert WordClusters.read_paths(tmp_path / "paths").findings() == []
