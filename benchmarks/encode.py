"""Text to integers: read, split, number and count the words of text8-prefix (12.6 million tokens).

Run it with ``.venv/bin/python benchmarks/encode.py``.
"""

import time
from collections import Counter

from _harness import main, unpacked
from _record import fact

TEXT = "text/text8-prefix.txt.xz"


def python() -> dict:
    """Plain Python without a library: split, count, number by frequency, map."""
    import numpy as np

    start = time.perf_counter()
    tokens = unpacked(TEXT).read_text().split()
    counts = Counter(tokens)
    ids = {word: place for place, (word, _) in enumerate(counts.most_common())}
    encoded = np.fromiter(map(ids.__getitem__, tokens), np.int32, len(tokens))
    return _figures(len(encoded), len(ids), start)


def plain_arrow() -> dict:
    """Pyarrow on the whole text, with one core."""
    import pyarrow as pa
    import pyarrow.compute as pc

    pa.set_cpu_count(1)
    start = time.perf_counter()
    text = pa.array([unpacked(TEXT).read_bytes().strip()], pa.large_binary())
    tokens = pc.ascii_split_whitespace(text.cast(pa.large_string())).values.dictionary_encode()
    counts = pc.value_counts(tokens)
    order = pc.array_sort_indices(counts.field(1), order="descending")
    return _figures(len(tokens.indices), len(order), start)


def eigentext_threads(n_threads: int) -> dict:
    """Blocks in threads; nothing is written to disk."""
    from eigentext import Vocabulary, engine
    from eigentext.corpus import encode

    start = time.perf_counter()
    with engine.use(engine.ThreadEngine(n_threads)):
        encoded = encode(unpacked(TEXT))
        vocabulary = Vocabulary.from_counts(encoded.words, encoded.counts)
    return _figures(encoded.n_tokens, len(vocabulary), start)


def _figures(n_tokens: int, n_words: int, start: float) -> dict:
    # The wall time leaves imports out: they take as long for a short text as for a long one.
    wall = time.perf_counter() - start
    rate = n_tokens / wall / 1e6
    return {"wall": wall, "million tokens/s": rate, "tokens": n_tokens, "words": n_words}


if __name__ == "__main__":
    unpacked(TEXT)
    main(
        "encode",
        "Text to integers",
        {
            "Python: split, Counter, map": python,
            "pyarrow in one go, one core": plain_arrow,
            "eigentext, 1 thread": lambda: eigentext_threads(1),
            "eigentext, 2 threads": lambda: eigentext_threads(2),
        },
        ("million tokens/s", fact("tokens"), fact("words")),
        about="Read, split, number and count the words of text8-prefix. The best of three runs, "
        "each in its own process. The wall time leaves imports out.",
    )
