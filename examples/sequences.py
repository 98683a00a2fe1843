"""Sequences: hidden Markov models and language models
===================================================

We learn a hidden Markov model from counts of single symbols, pairs and triples, without EM, and
then by EM from that start. The data are drawn from a known model, so we can see how close we
come. The mathematics is on the page *Models of sequences*.
"""

import numpy as np

import eigentext as et

# %%
# A model to recover
# ------------------
# It has three states and eight symbols. Rows of the matrices are states.

rng = np.random.default_rng(0)
initial = np.array([0.6, 0.3, 0.1])
transition = np.array([[0.8, 0.15, 0.05], [0.1, 0.7, 0.2], [0.3, 0.1, 0.6]])
emission = rng.dirichlet(np.full(8, 0.3), 3)
truth = et.HMM.from_parameters(initial, transition, emission)
train, test = truth.sample(5000, 20, random_state=1), truth.sample(500, 20, random_state=2)

# %%
# Three ways to learn
# -------------------
# ``spectral`` takes one pass over the data and has operators instead of parameters. ``em`` climbs
# to a local optimum from random starts. ``spectral+em`` climbs from the answer of the moments.

for method in ("spectral", "em", "spectral+em"):
    model = et.HMM(3, method=method).fit(train)
    print(f"{method:12} {model.score_samples(test).sum() / test.size:.4f} a symbol")
print(f"{'the truth':12} {truth.score_samples(test).sum() / test.size:.4f}")

# %%
# How many states?
# ----------------
# As many as there are singular values of the pairs above the noise. The noise is measured by
# splitting the counts in two. ``rank=8`` uses all directions; without it, three would be used.

asked = et.HMM(8, rank=8).fit(train)
ax = asked.plot("spectrum")
print("usable:", asked.diagnostics_["usable_rank"])

# %%
# What was found
# --------------
# States have no names and come in any order. Put in the right order, the transitions are close to
# the true ones.

model.plot("transitions")
order = [int(np.abs(model.emission_ - row).sum(axis=1).argmin()) for row in emission]
print(model.transition_[np.ix_(order, order)].round(2))

# %%
# What comes next
# ---------------

prefix = test[0, :5]
print("after", prefix.tolist(), "p(next) =", model.predict_next(prefix).round(2))
states, log_probability = model.viterbi(prefix)
print("the best states:", states.tolist())

# %%
# Language models of words
# ------------------------
# We compare Kneser-Ney n-grams, Saul and Pereira's model of word classes, and their mixture,
# whose weights come from held-out text. Lower perplexity is better.


def draw(kind, n):
    """Draw one of n words of a kind, the k-th with a probability proportional to 1/k."""
    weights = 1 / np.arange(1, n + 1)
    return f"{kind}{rng.choice(n, p=weights / weights.sum())}"


def sentence():
    """Draw a sentence; half of them have an adjective, and two thirds an object."""
    subject = ["the", *([draw("adjective", 60)] if rng.random() < 0.5 else []), draw("noun", 300)]
    return [
        *subject,
        draw("verb", 100),
        *(["a", draw("noun", 300)] if rng.random() < 2 / 3 else []),
    ]


texts = [sentence() for _ in range(2000)]
learned, heldout, judged = texts[:1500], texts[1500:1750], texts[1750:]
ngrams = et.KneserNey(3).fit(learned)
classes = et.BigramModel(6).fit(learned)
both = et.sequences.Interpolation([ngrams, classes]).fit(heldout)
for name, one in (("trigrams", ngrams), ("classes", classes), ("both", both)):
    print(f"{name:9} {one.perplexity(judged):.2f}")

# %%
# EM of the classes stops where held-out pairs are most probable.

classes.plot()
