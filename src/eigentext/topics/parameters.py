"""The tables of parameters of topics."""

from collections.abc import Mapping, Set
from dataclasses import replace
from typing import Any, Literal, get_args

from eigentext.errors import ParameterError
from eigentext.parameters import (
    VECTORS,
    Choice,
    Count,
    Flag,
    Given,
    Number,
    Seed,
    Table,
    is_number,
    is_whole,
)

GRID = (0.1, 0.3, 1.0, 3.0, 10.0)  # the values that alpha0="auto" tries
# The ranking of the words that are shown: by top_words, reports, notebooks, the command line.
Rank = Literal["distinctive", "probability", "relevance", "frex", "score", "divergence"]
RANK = Choice("distinctive", of=get_args(Rank))
MERGED = True  # whether forms of a word are shown as one, if no ranking is named
_BY_TENSOR = {"method": ("tensor", "gradient")}
_number = Number(0.0, least=0)


def alpha0s(alpha0: Any) -> list[float]:
    """Return the candidates for alpha0, or an empty list if it is not allowed."""
    if isinstance(alpha0, str):
        return list(GRID) if alpha0 == "auto" else []
    values = [alpha0] if is_number(alpha0) else _listed(alpha0) or []
    return [float(value) for value in values] if all(map(_number.allows, values)) else []


def _listed(values: Any) -> list[Any] | None:
    """The items of a list, tuple, set, array or column of a table. Other values give None."""
    if isinstance(values, Set):
        return sorted(values, key=str)
    if isinstance(values, (list, tuple)):
        return list(values)
    listed = values.tolist() if hasattr(values, "tolist") else None
    return listed if isinstance(listed, list) else None


def _kept_alpha0(alpha0: Any) -> Any:
    if isinstance(alpha0, str) or is_number(alpha0):
        return alpha0 if isinstance(alpha0, str) else _number.take(alpha0)
    return alpha0s(alpha0)


def is_alpha0(alpha0: Any) -> bool:
    """Whether it is a number, several numbers, "auto" or "moments"."""
    return bool(alpha0s(alpha0)) or (isinstance(alpha0, str) and alpha0 == "moments")


def _is_number_of_topics(n_topics: Any) -> bool:
    if isinstance(n_topics, str):
        return n_topics == "auto"
    return is_whole(n_topics) and n_topics >= 1


def _parsed_number(text: Any) -> Any:
    """A whole number, or a word such as "auto", which is checked later."""
    try:
        return int(text)
    except ValueError:
        return text


def _parsed_alpha0(text: Any) -> Any:
    """A number, several numbers with commas, or a word such as "auto", which is checked later."""
    try:
        numbers = [float(number) for number in str(text).split(",")]
    except ValueError:
        return text
    return numbers if len(numbers) > 1 else numbers[0]


def _parsed_background(text: Any) -> Any:
    """A number, or a word such as "auto", which is checked later."""
    try:
        return float(text)
    except ValueError:
        return text


def _is_limit(limit: Any) -> bool:
    if isinstance(limit, str):
        return limit == "auto"
    if is_whole(limit):
        return limit >= 0
    return is_number(limit) and 0 <= limit <= 1


def _parsed_limit(text: Any) -> Any:
    """A number of documents (5) or a share of them (0.5)."""
    for kind in (int, float):
        try:
            return text if isinstance(text, (int, float)) else kind(text)
        except ValueError:
            pass
    return text


def names_stop_words(text: str) -> bool:
    """Whether it is "auto", "none", or a language that has a list of stop words."""
    from eigentext.corpus.stop_words import language_named

    return text in ("auto", "none") or language_named(text) is not None


def _are_words(words: Any) -> bool:
    if isinstance(words, str):
        return names_stop_words(words)
    listed = _listed(words)
    return listed is not None and all(isinstance(word, str) for word in listed)


def _kept_words(words: Any) -> Any:
    if isinstance(words, str) and words == "none":
        return None
    return words if isinstance(words, str) else [str(word) for word in _listed(words) or ()]


def anchor_lists(anchors: Any) -> list[tuple[str | None, list[str]]]:
    """Return the name and the words of each topic, or an empty list if they are not allowed.

    Examples
    --------
    >>> anchor_lists({"space": ["nasa", "orbit"], "faith": "god"})
    [('space', ['nasa', 'orbit']), ('faith', ['god'])]
    >>> anchor_lists(["nasa", ["god", "church"]])
    [(None, ['nasa']), (None, ['god', 'church'])]
    """
    if isinstance(anchors, Mapping):
        pairs = list(anchors.items())
    else:
        pairs = [(None, words) for words in _listed(anchors) or []]
    found = [(name, [words] if isinstance(words, str) else _listed(words)) for name, words in pairs]
    for name, words in found:
        is_named = isinstance(name, str) if isinstance(anchors, Mapping) else name is None
        if not (is_named and words and all(isinstance(word, str) and word for word in words)):
            return []
    return [(name, list(words or [])) for name, words in found]


def check_anchors(anchors: Any, not_anchors: Any, n_topics: int | str) -> None:
    """Raise ParameterError if a word has two roles, or if there are more anchors than topics."""
    listed = [] if anchors is None else anchor_lists(anchors)
    if not isinstance(n_topics, str) and len(listed) > n_topics:
        raise ParameterError(
            f"anchors for {len(listed)} topics, but n_topics is {n_topics}; ask for more topics "
            "(--topics), or give fewer anchors"
        )
    seen = dict[str, str | None]()
    for place, (name, words) in enumerate(listed):
        topic = repr(name) if name is not None else f"number {place}"
        for word in dict.fromkeys(words):
            if word in seen:
                raise ParameterError(
                    f"the anchor {word!r} belongs to the topics {seen[word]} and {topic}; give it "
                    "to one of them"
                )
            if word in (not_anchors or ()):
                raise ParameterError(
                    f"{word!r} is an anchor of the topic {topic}, and one of not_anchors "
                    "(--not-anchors); give it once"
                )
            seen[word] = topic


def _kept_anchors(anchors: Any) -> Any:
    listed = anchor_lists(anchors)
    is_named = isinstance(anchors, Mapping)
    return dict(listed) if is_named else [words for _, words in listed]


def _are_excluded(words: Any) -> bool:
    listed = None if isinstance(words, str) else _listed(words)
    return bool(listed) and all(isinstance(word, str) and word for word in listed or [])


def _limit(help: str) -> Given:
    return Given(
        "auto",
        what="a number of documents (a whole number, 0 or more), their share (a float from 0 to 1) "
        "or 'auto'",
        test=_is_limit,
        keep=lambda limit: limit if isinstance(limit, str) else _number.take(limit),
        parse=_parsed_limit,
        metavar="NUMBER",
        help=help,
    )


_MIN_DF = (
    "Leave out words in fewer documents. 0.01 is a share of them. auto is 5, or a hundredth if "
    "there are fewer than 500 documents"
)
TopicModel = Table(
    "TopicModel",
    n_topics=Given(
        20,
        what="a whole number, 1 or more, or 'auto'",
        test=_is_number_of_topics,
        keep=lambda n_topics: n_topics if isinstance(n_topics, str) else int(n_topics),
        parse=_parsed_number,
        metavar="NUMBER",
        flags="--topics -k",
        help="The number of topics. auto chooses it by noise and by held-out documents.",
    ),
    method=Choice(
        "tensor",
        of=("tensor", "gradient", "anchors"),
        help="tensor uses triples of words; gradient then minimizes the distance of the moments; "
        "anchors uses pairs, and words that only one topic has.",
    ),
    alpha0=Given(
        1.0,
        what="a number, 0 or more, 'auto', 'moments', or a list of such numbers",
        test=is_alpha0,
        keep=_kept_alpha0,
        parse=_parsed_alpha0,
        metavar="NUMBER",
        help="How many topics a document mixes. 0 means one; auto and 0,1,3 try several values; "
        "moments estimates it.",
    ),
    refine=Count(30, least=0, help="The largest number of EM steps."),
    robust=Number(
        7.0,
        least=0,
        help="The most leverage of a document, in units of the average. With 0 there is no limit.",
    ),
    set_apart=Flag(
        False,
        help="Leave out documents that are copies of others (but one), that share a signature, "
        "or that own a direction, such as encoded files.",
    ),
    smoothing=Number(0.1, least=0, flags=""),
    solver=Choice("power", of=("power", "diagonal"), only=_BY_TENSOR, flags=""),
    recovery=Choice("l2", of=("l2", "rows", "kl"), only={"method": ("anchors",)}, flags=""),
    vectors=VECTORS,
    background=Given(
        "auto",
        what="a number, 0 or more, or 'auto'",
        test=lambda tau: tau == "auto" if isinstance(tau, str) else _number.allows(tau),
        keep=lambda tau: tau if isinstance(tau, str) else _number.take(tau),
        parse=_parsed_background,
        metavar="NUMBER",
        help="For --vectors: how many occurrences the neighbors of a word count for. auto tries "
        "0, 1, 3, 10 and 30.",
    ),
    rectify=Flag(True, only={"method": ("anchors",)}, flags=""),
    anchors=Given(
        None,
        what="words by topic, such as {'space': ['nasa', 'orbit']}, or a list with a word or a "
        "list of words for each topic; no topic without words",
        test=lambda anchors: bool(anchor_lists(anchors)),
        keep=_kept_anchors,
        metavar="FILE",
        help="Words that belong to topics, a line for each topic: `space: nasa orbit`.",
    ),
    not_anchors=Given(
        None,
        what="a list of words, not empty",
        test=_are_excluded,
        keep=lambda words: [str(word) for word in _listed(words) or ()],
        only={"method": ("anchors",)},
        metavar="FILE",
        help="A file with words that may not be anchors.",
    ),
    min_df=_limit(f"{_MIN_DF}, or 2 with --vectors."),
    max_df=_limit(
        "Leave out words in more documents. 0.5 is a share of them. auto is 0.5, or all if there "
        "are fewer than 500 documents."
    ),
    max_size=Count(
        None, flags="--max-words", help="Keep only this many words, the most frequent ones."
    ),
    stop_words=Given(
        "auto",
        what="'auto', 'none', a language such as 'english', a collection of words, or None",
        none=True,
        test=_are_words,
        keep=_kept_words,
        metavar="LIST",
        help="Words to leave out: auto (those of the language, which is guessed), none, a language "
        "(english, german, …), or a file with a list.",
    ),
    keep_moments=Choice(
        "none",
        of=("none", "cut", "whole"),
        help="The statistics to save; with whole, `topics add` and `topics merge` are exact.",
    ),
    random_state=Seed(
        0, flags="--seed", help="The random seed. The same seed gives the same result."
    ),
)

TwoViewTopics = Table(
    "TwoViewTopics",
    n_topics=Count(20, flags="--topics -k", help="The number of topics."),
    balance=Number(
        1.0, least=0, most=1e6, help="The weight of the second view. With 0, it does not count."
    ),
    refine=TopicModel["refine"],
    robust=replace(TopicModel["robust"], only={}),
    smoothing=TopicModel["smoothing"],
    min_df=_limit(f"{_MIN_DF}."),
    max_df=TopicModel["max_df"],
    max_size=TopicModel["max_size"],
    stop_words=TopicModel["stop_words"],
    random_state=TopicModel["random_state"],
)
