"""The tables of parameters of models of words."""

from typing import Any

from eigentext.parameters import Choice, Count, Flag, Given, Number, Seed, Table, is_whole

_LARGEST_WINDOW = 1_000_000  # there is a weight for each distance
_DIM = Count(300, flags="--dim", help="The dimension of the vectors.")
_SEED = Seed(0, flags="--seed", help="The random seed. The same seed gives the same result.")
_MIN_COUNT = Count(5, help="Rarer words share one symbol.")
_MAX_SIZE = Count(None, help="The largest vocabulary.")

Eigenwords = Table(
    "Eigenwords",
    renamed={"transform": "count_transform"},
    n_components=_DIM,
    purpose=Choice(
        None,
        of=("topical", "balanced", "functional"),
        help="What the vectors are for; it sets the windows and beta.",
    ),
    window=Count(
        None,
        most=_LARGEST_WINDOW,
        help="Context words on each side.",
        shown="10, or that of --purpose",
    ),
    min_count=_MIN_COUNT,
    count_transform=Choice(
        "sqrt",
        of=("sqrt", "two-thirds", "log", "none"),
        flags="--count-transform --transform",
        help="How large counts are damped, because frequent pairs would rule.",
    ),
    scaling=Choice(
        "cca",
        of=("cca", "ppmi", "reg", "none"),
        help="How counts are scaled by the frequencies of words.",
    ),
    alpha=Number(
        1.0,
        most=1,
        only={"scaling": ("cca", "ppmi")},
        help="Smoothing of the context distribution; 1 means none.",
    ),
    beta=Number(
        None,
        most=1,
        help="The exponent of the singular values.",
        shown="0.5, or that of --purpose",
    ),
    context=Choice(
        "bag",
        of=("bag", "list", "next"),
        help="list: position-sensitive contexts; next: only the words after it.",
    ),
    weighting=Choice(
        "distance", of=("flat", "distance"), help="distance: a pair counts 1/distance."
    ),
    narrow=Count(
        None,
        least=0,
        help="Dimensions that come from the two words on each side and their places.",
        shown="0, or that of --purpose",
    ),
    narrow_weight=Number(
        None,
        above=0,
        flags="",
        shown="0.15, or that of the purpose",
    ),
    phrases=Flag(False, flags="--phrases", help="Join words that often occur together."),
    method=Choice(
        "one-step",
        of=("one-step", "two-step"),
        help="two-step: CCA of both sides first, then of words; with --context list.",
    ),
    max_size=_MAX_SIZE,
    keep_moments=Choice(
        "none",
        of=("none", "cut", "whole"),
        help="The statistics to save; with whole, `words add` is exact.",
    ),
    keep_pairs=Count(
        0,
        least=0,
        only={"keep_moments": ("cut", "whole")},
        help="Save only pairs that were counted at least this often; 0 saves all.",
    ),
    oov=Choice(
        "none",
        of=("none", "characters"),
        help="characters: predict vectors of unseen words from their spelling, and improve those "
        "of rare words.",
    ),
    spelling_weight=Number(
        0.5,
        least=0,
        most=1e6,
        only={"oov": ("characters",)},
        help="How much spelling adds to the vectors of frequent words.",
    ),
    spelling_half_count=Number(
        None,
        least=0,
        most=1e9,
        only={"oov": ("characters",)},
        shown="estimated",
        help="The number of occurrences at which a vector is half noise; spelling leads below it.",
    ),
    random_state=_SEED,
)

Phrases = Table(
    "Phrases",
    min_count=Count(5, help="The least number of occurrences of a phrase."),
    scoring=Choice(
        "npmi",
        of=("npmi", "count"),
        help="The score of a pair of words; count: that of gensim.",
    ),
    threshold=Number(
        None,
        help="A phrase has a higher score.",
        shown="0.5, or 10 for --scoring count",
    ),
    delimiter=Given(
        "_",
        what="a string that is not empty and has no blanks",
        test=lambda value: isinstance(value, str) and value.split() == [value],
        flags="--delimiter",
        help="What stands between the words of a phrase.",
    ),
    n_passes=Count(1, most=8, flags="--passes", help="Two passes find phrases of four words."),
)

Eigentokens = Table(
    "Eigentokens",
    n_components=Count(50, flags="--dim", help="The dimension of the vectors."),
    window=Count(2, most=_LARGEST_WINDOW, help="Context words on each side."),
    side=Choice("both", of=("both", "left", "right"), help="Where the context is."),
    context=Choice(
        "list", of=("list", "bag"), help="bag: one vector for each side, not for each place."
    ),
    min_count=_MIN_COUNT,
    max_size=_MAX_SIZE,
    count_transform=Choice(
        "sqrt",
        of=("sqrt", "two-thirds", "log", "none"),
        help="How large counts are damped, because frequent pairs would rule.",
    ),
    combine=Flag(False, flags="--combine", help="Append the vector of the word itself."),
    random_state=_SEED,
)

WordClusters = Table(
    "WordClusters",
    n_clusters=Count(100, flags="--clusters -m", help="The number of clusters."),
    method=Choice(
        "agglomerative", of=("agglomerative", "kmeans"), help="kmeans: merge, then improve."
    ),
    n_running=Count(
        None,
        flags="--running",
        shown="twice --clusters, at least 100",
        help="The number of clusters while words are added.",
    ),
)


def _is_words(value: Any) -> bool:
    """Whether this is Eigenwords, by its methods: this module imports no models."""
    is_model = hasattr(value, "get_params") and hasattr(value, "most_similar")
    return is_model and not isinstance(value, type)


TextVectors = Table(
    "TextVectors",
    words=Given(
        None,
        what="Eigenwords (for gensim's vectors, Eigenwords.from_gensim)",
        test=_is_words,
        flags="",
    ),
    weighting=Choice("sif", of=("sif", "flat"), flags=""),
    a=Number(1e-3, above=0, only={"weighting": ("sif",)}, flags=""),
    remove=Count(1, least=0, flags=""),
    frequencies=Choice(
        "auto", of=("auto", "words", "texts"), only={"weighting": ("sif",)}, flags=""
    ),
)


def _is_range(value: Any) -> bool:
    """Whether these are two whole numbers of 1 or more, the second not below the first."""
    return (
        isinstance(value, (tuple, list))
        and len(value) == 2
        and all(is_whole(length) for length in value)
        and 1 <= value[0] <= value[1] <= _LONGEST_NGRAM
    )


_LONGEST_NGRAM = 100  # in characters; each length is a feature of every place of a word

CharacterRidge = Table(
    "CharacterRidge",
    ngram_range=Given(
        (2, 6),
        what=f"two lengths from 1 to {_LONGEST_NGRAM}, the first no longer than the second",
        test=_is_range,
        keep=lambda lengths: tuple(map(int, lengths)),
        flags="",
    ),
    n_buckets=Count(1 << 16, most=(1 << 31) - 1, flags=""),
    penalty=Number(8.0, least=1e-9, most=1e9, flags=""),
    tol=Number(0.05, above=0, flags=""),
    max_iter=Count(50, flags=""),
)
