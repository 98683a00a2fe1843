"""What is chosen on the way from moments to topics, and the order of documents."""

import numpy as np
import pytest
import scipy.sparse as sp

from eigentext import DocumentMoments, TopicModel
from eigentext.topics.learning import held_out


def test_a_low_rank_is_told_once():
    texts = ["ham eggs cheese", "goal team match", "ham cheese bread", "team match win"] * 10
    with pytest.warns(UserWarning, match="support only") as told:
        TopicModel(30, alpha0="auto").fit(texts)
    assert len(told) == 1


# --- order ----------------------------------------------------------------------------------------


def bits(model):
    return model.components_.tobytes(), model.weights_.tobytes(), model.vocabulary_.words


@pytest.mark.parametrize("options", [{}, {"refine": 0}, {"method": "anchors"}, {"alpha0": 0}])
@pytest.mark.parametrize("max_size", [None, 17])
def test_the_order_of_documents_does_not_matter(random_topics, options, max_size):
    """Words tie in their counts, and `max_size` cuts among them."""
    X = random_topics(3, 30, 0.5).draw(150, 12).toarray()
    X[:, 20:] = X[:, :10]  # ten pairs of words with equal counts
    names = np.array(["xyz"[i % 3] + "abcdefghij"[i // 3] * 2 for i in range(30)])
    texts = [" ".join(np.repeat(names, row)) for row in X]
    found = []
    for order in (np.arange(150), np.random.default_rng(0).permutation(150)):
        model = TopicModel(3, max_size=max_size, stop_words=None, **options)
        ordered = [texts[i] for i in order]
        first, second = map(DocumentMoments.from_corpus, (ordered[:40], ordered[40:]))
        of_text, of_sum = bits(model.fit(ordered)), bits(model.fit_moments(first + second))
        assert of_text == of_sum
        found.append((of_text, bits(model.fit(sp.csr_array(X[order]))), bits(model.fit(X[order]))))
    assert found[0] == found[1]


def test_held_out_documents_are_chosen_by_content(random_topics):
    X = random_topics(3, 30, 0.5).draw(150, 12).toarray()
    moments = DocumentMoments.from_matrix(X)
    chosen = held_out(moments, 0)
    assert chosen.sum() == -(-len(chosen) // 10)
    fewer = DocumentMoments.from_matrix(X[:100])
    same = {row.tobytes() for row in moments.counts.toarray()[chosen]}
    some = fewer.counts.toarray()[held_out(fewer, 0)]
    assert sum(row.tobytes() in same for row in some) >= 0.6 * len(some)
    assert not np.array_equal(chosen, held_out(moments, 1))
