"""Grammars: trees with hidden states
==================================

A treebank says NP and PP, but not all that matters: whether a phrase goes with a noun or with a
verb is left to the words. A grammar with hidden states finds that out. The trees are drawn from a
small grammar whose states we know and do not tell. The mathematics is on the page *Grammars*.
"""

import random

import eigentext as et

# %%
# A treebank with a secret
# ------------------------
# What stands behind the dot is a state, and is never written into a tree.

RULES = {
    "S": [(1.0, "NP VP")],
    "NP": [(0.7, "DT NN"), (0.3, "NP.short PP.noun")],
    "NP.short": [(1.0, "DT NN")],
    "VP": [(0.2, "VB"), (0.4, "VB NP"), (0.4, "VB NP PP.verb")],
    "PP.noun": [(1.0, "IN.noun NP")],
    "PP.verb": [(1.0, "IN.verb NP")],
}
WORDS = {
    "DT": "the a every",
    "NN": "cat dog farmer child river village garden door",
    "VB": "saw found followed carried",
    "IN.noun": "of beside without",
    "IN.verb": "into towards through",
}


def draw(rng, symbol="S", depth=0):
    """A tree of the symbol; deep ones take the first rule, which is the shortest."""
    label = symbol.partition(".")[0]
    if symbol in WORDS:
        return et.Tree(label, [rng.choice(WORDS[symbol].split())])
    weights, rights = zip(*RULES[symbol][: 1 if depth > 7 else None])
    right = rng.choices(rights, weights)[0]
    return et.Tree(label, [draw(rng, part, depth + 1) for part in right.split()])


rng = random.Random(0)
train, test = ([draw(rng) for _ in range(n)] for n in (1000, 200))
print(train[0])

# %%
# In a notebook, a tree draws itself.

sentence = "the farmer carried the cat of the child into the garden"
plain = et.PCFG().fit(train)
plain.parse(sentence)

# %%
# Counting rules is not enough
# ----------------------------
# That is what rules alone make of it: *of the child into the garden* goes with the verb. With a few
# states for each label, learned from what is inside and outside of its nodes, it comes right.

model = et.LatentPCFG(4, method="spectral+em").fit(train)
model.parse(sentence)

# %%
# How good?
# ---------
# By EVALB's rules, on trees that were not learned.

models = {
    "PCFG": plain,
    "spectral": et.LatentPCFG(4).fit(train),
    "pivot": et.LatentPCFG(2, method="pivot").fit(train),
    "spectral+em": model,
}
for name, one in models.items():
    score = et.evaluate.brackets(test, one.parse_many([tree.leaves() for tree in test]))
    print(f"{name:12} F1 {score.f1:7.2%}   exact {score.exact:7.2%}")

# %%
# What the states are seen by
# ---------------------------
# Each label's nodes are described by what is inside and outside of them; the singular values of
# these counts say how many states the treebank supports.

models["spectral"].plot()

# %%
# EM from there climbs in a few steps.

model.plot()

# %%
# More than one tree
# ------------------

for tree, log_probability in model.k_best(sentence, 2):
    print(f"{log_probability:.1f}  {tree}")
