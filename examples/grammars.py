"""Grammars: trees with hidden states
==================================

A treebank says NP and PP, but not everything that matters: only the words say whether a phrase
belongs to a noun or to a verb. A grammar with hidden states finds this out. The trees here are
drawn from a small grammar whose states we know but do not show to the model. The mathematics is
on the page *Grammars*.
"""

import random

import eigentext as et

# %%
# A treebank with a secret
# ------------------------
# The part after a dot is a state. It is never written into a tree.

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
    """Draw a tree of the symbol; at great depth take the first rule, which is the shortest."""
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
# A tree draws itself in a notebook.

sentence = "the farmer carried the cat of the child into the garden"
plain = et.PCFG().fit(train)
plain.parse(sentence)

# %%
# Counting rules is not enough
# ----------------------------
# With rules alone, *of the child into the garden* goes with the verb, which is wrong. A few
# states for each label, learned from the inside and outside of its nodes, give the right tree.

model = et.LatentPCFG(4, method="spectral+em").fit(train)
model.parse(sentence)

# %%
# How good?
# ---------
# By the rules of EVALB, on trees that were not learned from.

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
# Each node is described by what is inside and outside of it. The singular values of these counts
# say how many states of a label the treebank supports.

models["spectral"].plot()

# %%
# EM improves the likelihood from there in a few steps.

model.plot()

# %%
# More than one tree
# ------------------

for tree, log_probability in model.k_best(sentence, 2):
    print(f"{log_probability:.1f}  {tree}")
