"""Topics: what documents are about
================================

We learn latent Dirichlet allocation by decomposing a tensor of word triples, which is never
written out, and then by a few steps of EM. The documents are the docstrings of NumPy and SciPy,
one for each function. The mathematics is on the page *Topics*.
"""

import inspect
from importlib import import_module

import numpy as np

import eigentext as et

# %%
# Documents
# ---------
# A list of strings is a list of documents. They are split into words of letters, in lower case.

MODULES = ("scipy.stats", "scipy.signal", "scipy.optimize", "scipy.sparse", "scipy.linalg")
MODULES += ("scipy.interpolate", "scipy.ndimage", "scipy.special", "numpy")
found = {}
for module in MODULES:
    for name in sorted(dir(import_module(module))):
        doc = inspect.getdoc(getattr(import_module(module), name)) or ""
        if len(doc) > 400:
            found.setdefault(doc.partition(">>>")[0], module)
texts, sources = list(found), list(found.values())
print(len(texts), "documents")

# %%
# Learning
# --------
# Frequent words say nothing about topics. Stop words are left out, and here also words in more
# than a fifth of the documents.

limits = {"stop_words": "english", "min_df": 8, "max_df": 0.2}
model = et.TopicModel(10, alpha0=0.5, **limits).fit(texts)
panels = model.plot(n_words=7)

# %%
# Topics of modules
# -----------------
# ``transform`` gives the proportions of topics in documents. The model does not know the modules,
# but most modules have one or two topics of their own.

proportions = model.transform(texts)
shares = np.array([proportions[np.array(sources) == module].mean(axis=0) for module in MODULES])
ax = et.plots.table(shares, MODULES, [" ".join(top) for top in model.top_words(2)])

# %%
# Is K right?
# -----------
# A gap after the last eigenvalue used would say so. Without a gap, as here and in most text,
# fewer or more topics may do as well. Choose by held-out perplexity, and by looking at the
# topics.

model.plot("spectrum")
train, test = texts[::2], texts[1::2]
documents = et.DocumentMoments.from_corpus(train, **limits)
for n_topics in (5, 10, 20, 40):
    one = et.TopicModel(n_topics, alpha0=0.5).fit_moments(documents)
    print(f"{n_topics:3} topics: perplexity {one.perplexity(test):.0f}")

# %%
# EM
# --
# Moments alone are quick. EM improves the topics within a few steps.

model.plot("curve")

# %%
# ``model.report(texts, "topics.html")`` writes one page with words, sizes and typical documents,
# and ``eigentext explore my-topics --documents texts.txt`` shows them in a browser.
