"""Words: vectors, neighbours, analogies, clusters
===============================================

Which words stand near which is counted once; one singular value decomposition of the transformed
counts gives a vector to every word. Here the text is the documentation of NumPy and SciPy, which is
on your machine already. The mathematics is on the page *Word vectors from counts*.
"""

import inspect
from importlib import import_module

import eigentext as et

# %%
# Text
# ----
# A corpus is files, or strings as here. ``tokenizer="simple"`` parts signs from words; a line
# (here, a paragraph) is a unit that no window of context leaves.

MODULES = ("numpy", "numpy.linalg", "numpy.fft", "scipy.stats", "scipy.signal", "scipy.optimize")
MODULES += ("scipy.special", "scipy.sparse", "scipy.linalg", "scipy.interpolate", "scipy.ndimage")


def paragraphs(module):
    """The docstrings of all that a module offers, without their examples."""
    for name in sorted(dir(import_module(module))):
        doc = inspect.getdoc(getattr(import_module(module), name)) or ""
        for paragraph in doc.partition(">>>")[0].split("\n\n"):
            yield " ".join(paragraph.split())


texts = list(dict.fromkeys(text for module in MODULES for text in paragraphs(module) if text))
corpus = et.TextCorpus(texts, kind="texts", tokenizer="simple", lowercase=True)
print(f"{len(texts):,} paragraphs; the longest has {max(map(len, texts)):,} characters")

# %%
# Learning
# --------
# A short text wants fewer dimensions than the default of 300, and a narrow window.
# ``keep_moments="whole"`` keeps the counts, so that text can be added later.

words = et.Eigenwords(50, window=3, min_count=5, keep_moments="whole").fit(corpus)
print(words, "of", len(words.vocabulary_), "words")
for word in ("matrix", "gamma", "filter", "minimum"):
    print(f"{word:10}", ", ".join(near for near, _ in words.most_similar(word, 5)))

# %%
# How many dimensions?
# --------------------
# The spectrum says what each further dimension adds. Where it is flat, one is as good as the next;
# a cliff would be a natural place to stop.

words.plot("spectrum")

# %%
# A map
# -----
# Any words can be drawn on the plane that keeps most of their variance.

families = {
    "shapes": ["row", "column", "axis", "dimension", "shape"],
    "distributions": ["normal", "gamma", "beta", "poisson", "uniform"],
    "types": ["float64", "float32", "int64", "int32", "complex128"],
    "filters": ["filter", "lowpass", "highpass", "butterworth", "chebyshev"],
}
known = [(word, name) for name, part in families.items() for word in part if word in words]
words.plot("map", words=[word for word, _ in known], groups=[name for _, name in known])

# %%
# Classes
# -------
# Clusters of words form a binary tree; a word's bit string is its path, and beginnings of it are
# coarser classes. They make good features for :class:`~eigentext.Tagger`.

clusters = et.WordClusters(100).fit(words)
for word in ("matrix", "gamma", "filter", "minimum"):
    path = clusters[word]
    print(f"{path:12}", *(near for near, _ in clusters.most_frequent(path, 7)))

# %%
# More text, exactly
# ------------------
# Added text gives the same bits as learning from all of it at once.

half = et.TextCorpus(texts[:4000], kind="texts", tokenizer="simple", lowercase=True)
rest = et.TextCorpus(texts[4000:], kind="texts", tokenizer="simple", lowercase=True)
grown = et.Eigenwords(50, window=3, min_count=5, keep_moments="whole").fit(half).partial_fit(rest)
print("the same bits:", (grown.vectors_ == words.vectors_).all())

# %%
# ``words.save("my-words")`` and ``et.load("my-words")`` keep the model;
# ``words.export("vectors.txt")`` writes it for gensim and others.
