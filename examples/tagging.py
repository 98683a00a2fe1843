"""Tagging: few labels, much plain text
====================================

There are forty sentences with labeled names, and thousands without labels. Vectors and clusters
of words from the plain text tell the tagger about words that have no label in the forty
sentences. The mathematics is on the page *Tagging with few labels*.
"""

import random

import matplotlib.pyplot as plt
import numpy as np

import eigentext as et

# %%
# Sentences with names
# --------------------
# There are four hundred people and two hundred towns. Most of them occur in no labeled sentence,
# and no name begins with a capital letter.

rng = random.Random(0)


def names(n, ends):
    """Make n different words of three syllables."""
    made = {"".join(rng.choice("bdfgklmnprst") + rng.choice("aeiou") for _ in range(3))}
    while len(made) < n:
        made.add("".join(rng.choice("bdfgklmnprst") + rng.choice("aeiou") for _ in range(3)))
    return [name + rng.choice(ends) for name in sorted(made)]


people, towns = names(400, "nsr"), names(200, "nsr")
SHAPES = [
    "PER lives in LOC",
    "yesterday PER met PER near LOC",
    "PER and PER left LOC early",
    "the road to LOC is closed",
    "we talked about PER",
    "we talked about LOC",
    "everybody likes PER now",
    "everybody likes LOC now",
]


def tagged_sentence():
    """Draw a sentence: words with their labels, in BIO."""
    made = []
    for word in rng.choice(SHAPES).split():
        if word in ("PER", "LOC"):
            made.append((rng.choice(people if word == "PER" else towns), f"B-{word}"))
        else:
            made.append((word, "O"))
    return made


some, test = ([tagged_sentence() for _ in range(n)] for n in (40, 300))
plain = [[word for word, _ in tagged_sentence()] for _ in range(6000)]
print(some[0])

# %%
# What plain text teaches
# -----------------------
# Narrow windows that distinguish left from right show how a word is used.

words = et.Eigenwords(20, window=1, context="list", weighting="flat").fit(plain)
clusters = et.WordClusters(30).fit(words)
ax = words.plot("map", words=[*people[:15], *towns[:15]], groups=["p"] * 15 + ["t"] * 15)

# %%
# With plain text and without
# ---------------------------
# In *everybody likes …* the words around the name do not say whether it is a person or a town.
# The first tagger knows nothing about a name without a label. For the second the name has a
# vector and a cluster.

templates = ["word[-1..1]", "suffix2[0]"]
bare = et.Tagger(features=templates).fit(some)
rich = et.Tagger(features=templates, vectors=words, clusters=clusters).fit(some)
print("labels alone   ", bare.evaluate(test))
print("with plain text", rich.evaluate(test))

# %%
# How many labels?
# ----------------

numbers = [5, 10, 20, 40]
scores = np.array(
    [
        [et.Tagger(features=templates, **sources).fit(some[:n]).evaluate(test).f1 for n in numbers]
        for sources in ({}, {"vectors": words, "clusters": clusters})
    ]
)
figure, ax = plt.subplots()
for row, label in zip(scores, ("labels alone", "with plain text")):
    ax.plot(numbers, 100 * row, marker="o", label=label)
ax.set(xlabel="labeled sentences", ylabel="F1 of names")
ax.legend()

# %%
# Confidence
# ----------

sentence = f"everybody likes {people[-1]} and {towns[-1]}"
(found,) = rich.tag([sentence])
for (word, tag), confidence in zip(found, rich.confidences([sentence])[0]):
    print(f"{word:10} {tag:6} {confidence:.0%}")
