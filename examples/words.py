"""Words: vectors, neighbors, a map, clusters
==========================================

We count which words stand near which. One singular value decomposition of the transformed counts
gives a vector to every word. The text is the documentation of NumPy and SciPy, which is on your
machine already. The mathematics is on the page *Word vectors from counts*.
"""

import inspect
from importlib import import_module

import eigentext as et

# %%
# Text
# ----
# A corpus is made of files, or of strings as here. ``tokenizer="simple"`` separates signs from
# words. No window of context crosses the end of a unit, which is a paragraph here.

MODULES = ("numpy", "numpy.linalg", "numpy.fft", "scipy.stats", "scipy.signal", "scipy.optimize")
MODULES += ("scipy.special", "scipy.sparse", "scipy.linalg", "scipy.interpolate", "scipy.ndimage")


def paragraphs(module):
    """Yield the paragraphs of the docstrings of a module, without their examples."""
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
# A short text needs fewer dimensions than the default of 300, and a narrow window.
# ``keep_moments="whole"`` keeps the counts, so that we can add text later.

words = et.Eigenwords(50, window=3, min_count=5, keep_moments="whole").fit(corpus)
print(words, "of", len(words.vocabulary_), "words")
for word in ("matrix", "gamma", "filter", "minimum"):
    print(f"{word:10}", ", ".join(near for near, _ in words.most_similar(word, 5)))

# %%
# How many dimensions?
# --------------------
# The spectrum shows what each further dimension adds. Where it is flat, no number of dimensions
# stands out. A sharp drop would be a natural place to stop.

words.plot("spectrum")

# %%
# A map
# -----
# ``plot`` draws words on the plane that keeps most of their variance.

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
# Clusters of words form a binary tree. The bit string of a word is its path in the tree, and
# prefixes of it are coarser classes. They are good features for :class:`~eigentext.Tagger`.

clusters = et.WordClusters(100).fit(words)
for word in ("matrix", "gamma", "filter", "minimum"):
    path = clusters[word]
    print(f"{path:12}", *(near for near, _ in clusters.most_frequent(path, 7)))

# %%
# More text, exactly
# ------------------
# Adding text gives the same bits as learning from all of the text together.

half = et.TextCorpus(texts[:4000], kind="texts", tokenizer="simple", lowercase=True)
rest = et.TextCorpus(texts[4000:], kind="texts", tokenizer="simple", lowercase=True)
grown = et.Eigenwords(50, window=3, min_count=5, keep_moments="whole").fit(half).partial_fit(rest)
print("the same bits:", (grown.vectors_ == words.vectors_).all())

# %%
# ``words.save("my-words")`` and ``et.load("my-words")`` keep the model;
# ``words.export("vectors.txt")`` writes it for gensim and others.
