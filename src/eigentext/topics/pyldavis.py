r"""Topics as the data of pyLDAvis, which draws them in a browser (Sievert and Shirley 2014).

The numbers are those of ``pyLDAvis.prepare``, which is not needed here: a map of topics by the
principal coordinates of their Jensen-Shannon divergences, and for each topic the words with the
largest *relevance* :math:`\lambda \log \phi_{kw} + (1 - \lambda) \log \phi_{kw} / p(w)`, for
:math:`\lambda` from 0 to 1. Topics are numbered from 1, by falling shares of the text; the entry
``topic.order`` says which they are.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from eigentext.errors import CorpusError
from eigentext.estimators import check_is_fitted
from eigentext.parameters import Count, Number, argument
from eigentext.storage.files import replacing
from eigentext.storage.valid_json import json_text
from eigentext.topics.inference import lifted
from eigentext.topics.tables import column_names

if TYPE_CHECKING:
    from eigentext.topics.model import TopicModel


def to_pyldavis(
    model: "TopicModel",
    documents: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    n_words: int = 30,
    step: float = 0.01,
    words: Any = None,
) -> dict[str, Any]:
    """Return what the page of pyLDAvis reads, and write it as JSON; see the module.

    Parameters
    ----------
    model : TopicModel
        A fitted model.
    documents : as in ``model.transform``
        The documents whose shares are the sizes of topics.
    path : path, optional
        Where to write JSON.
    n_words : int
        How many words of a topic the page shows.
    step : float
        The distance of the values of lambda.
    words : list of str, optional
        The names of the columns, if the model was learned from a matrix.
    """
    check_is_fitted(model)
    n_words = argument("n_words", Count(30), n_words)
    step = argument("step", Number(0.01, least=0.001, most=1), step)
    names = column_names(model, words)
    counts = model._counts(documents)
    lengths = np.asarray(counts.sum(axis=1), float)
    if not lengths.any():
        raise CorpusError("no document has a word that the model knows; give other documents")
    sizes = lengths @ np.asarray(model.transform(counts))
    order = np.argsort(-sizes, kind="stable")
    sizes, phi = sizes[order], lifted(model.components_)[order]
    phi /= phi.sum(axis=1, keepdims=True)
    expected = phi * sizes[:, None]  # the tokens of each word in each topic
    total = expected.sum(axis=0)
    shown, information = _topic_information(phi, sizes, expected, total, names, n_words, step)
    x, y = coordinates(phi).T
    K = len(phi)
    found = {
        "mdsDat": {
            "x": x.tolist(),
            "y": y.tolist(),
            "topics": list(range(1, K + 1)),
            "cluster": [1] * K,
            "Freq": (100 * sizes / sizes.sum()).tolist(),
        },
        "tinfo": information,
        "token.table": _token_table(expected, total, names, shown),
        "R": min(n_words, len(names)),
        "lambda.step": step,
        "plot.opts": {"xlab": "PC1", "ylab": "PC2"},
        "topic.order": (order + 1).tolist(),
    }
    if path is not None:
        with replacing(Path(path)) as temporary:
            temporary.write_text(json_text(found, refuse=True), encoding="utf-8")
    return found


def coordinates(phi: np.ndarray) -> np.ndarray:
    """Return the two first principal coordinates of the Jensen-Shannon divergences of topics.

    Like pyLDAvis, it takes the divergences as distances. The largest entry of an axis is positive.
    """
    K = len(phi)
    D = np.zeros((K, K))
    entropies = _entropies(phi)
    for k in range(K - 1):
        middle = _entropies(0.5 * (phi[k] + phi[k + 1 :]))
        D[k, k + 1 :] = D[k + 1 :, k] = middle - 0.5 * (entropies[k] + entropies[k + 1 :])
    center = np.eye(K) - 1 / K
    values, vectors = np.linalg.eigh(-0.5 * center @ np.square(np.maximum(D, 0)) @ center)
    axes = np.zeros((K, 2))
    for column, place in enumerate(range(K - 1, max(K - 3, -1), -1)):
        if values[place] > 1e-12 * max(values[-1], 1e-300):
            axis = vectors[:, place]
            sign = 1 if axis[np.abs(axis).argmax()] > 0 else -1
            axes[:, column] = sign * np.sqrt(values[place]) * axis
    return axes


def _entropies(rows: np.ndarray) -> np.ndarray:
    return -(rows * np.log(np.maximum(rows, 1e-300))).sum(axis=1)


def _topic_information(
    phi: np.ndarray,
    sizes: np.ndarray,
    expected: np.ndarray,
    total: np.ndarray,
    names: list[str],
    n: int,
    step: float,
) -> tuple[np.ndarray, dict[str, list[Any]]]:
    """The words that may be shown, and the table of words for each topic and for all of them."""
    n = min(n, len(names))
    given = phi / phi.sum(axis=0)
    saliency = total * (given * np.log(given / (sizes / sizes.sum())[:, None])).sum(axis=0)
    first = np.argsort(-saliency, kind="stable")[:n]
    rows: dict[str, list[Any]] = {
        "Term": [names[w] for w in first],
        "Freq": np.floor(total[first]).tolist(),
        "Total": np.floor(total[first]).tolist(),
        "Category": ["Default"] * n,
        "logprob": list(range(n, 0, -1)),
        "loglift": list(range(n, 0, -1)),
    }
    logs, lifts = np.log(phi), np.log(phi / (total / total.sum()))
    seen = [first]
    for k in range(len(phi)):
        some: dict[int, None] = {}
        for value in np.minimum(np.arange(0, 1 + step, step), 1):
            relevance = value * logs[k] + (1 - value) * lifts[k]
            top = np.argpartition(-relevance, n - 1)[:n]
            some |= dict.fromkeys(top[np.argsort(-relevance[top], kind="stable")].tolist())
        listed = np.array([*some])
        seen.append(listed)
        rows["Term"] += [names[w] for w in listed]
        rows["Freq"] += expected[k, listed].tolist()
        rows["Total"] += total[listed].tolist()
        rows["Category"] += [f"Topic{k + 1}"] * len(listed)
        rows["logprob"] += logs[k, listed].round(4).tolist()
        rows["loglift"] += lifts[k, listed].round(4).tolist()
    return np.unique(np.concatenate(seen)), rows


def _token_table(
    expected: np.ndarray, total: np.ndarray, names: list[str], shown: np.ndarray
) -> dict[str, list[Any]]:
    """How the tokens of each shown word are spread over topics, without less than half a token."""
    rows: dict[str, list[Any]] = {"Topic": [], "Freq": [], "Term": []}
    for w in sorted(shown.tolist(), key=lambda w: names[w]):
        topics = np.flatnonzero(expected[:, w] >= 0.5)
        rows["Topic"] += (topics + 1).tolist()
        rows["Freq"] += (expected[topics, w].round() / total[w]).tolist()
        rows["Term"] += [names[w]] * len(topics)
    return rows
