"""`--counts`: models of sequences and of words learn from counts of n-grams."""

import numpy as np
import pytest

import eigentext as et


@pytest.fixture
def counts(seen, tmp_path):
    """The windows of a text, counted by hand."""
    lines = []
    for line in seen.read_text().splitlines():
        symbols = ["<s>", *line.split(), "</s>"]
        for k in (1, 2, 3):
            lines += [f"{' '.join(symbols[i : i + k])}\t1" for i in range(len(symbols) - k + 1)]
    path = tmp_path / "counts.tsv"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize(
    "name, options", [("kneser-ney", ()), ("hmm", ("--states", "2", "--min-count", "2"))]
)
def test_models_of_counts_are_models_of_text(fit_of, seen, unseen, counts, name, options):
    by_text, _ = fit_of(name, seen, *options)
    by_counts, _ = fit_of(name, counts, "--counts", *options)
    text = et.TextCorpus(unseen)
    assert np.array_equal(
        by_counts.log_probabilities(text), by_text.log_probabilities(text), equal_nan=True
    )


def test_words_of_counts(cli, counts, tmp_path):
    options = ("--dim", 5, "--window", 2, "--context", "next", "--min-count", 1, "--quiet")
    result = cli("words", "fit", "--counts", counts, "-o", tmp_path / "words", *options)
    assert result.status == 0, result.err
    assert et.load(tmp_path / "words").vectors_.shape[1] == 5


def test_text_given_as_counts_is_a_mistake(cli, seen, tmp_path):
    result = cli("kneser-ney", "fit", "--counts", seen, "-o", tmp_path / "model")
    assert "line 1" in result.mistake
    assert "n-gram TAB count" in result.mistake
